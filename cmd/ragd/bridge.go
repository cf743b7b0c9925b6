package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ragd/internal/adminclient"
	"ragd/internal/fault"
	"ragd/internal/usock"
)

func (a *app) mcpCommand() *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "The bridge that MCP hosts start: standard input and output to the daemon's socket",
		Long: `Pass MCP messages between standard input and output and the running daemon. MCP hosts
start this; it starts nothing, keeps nothing, and ends with its host.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("agent") {
				return a.bridge(cmd.Context(), c.Sockets.MCP)
			}
			g, err := c.Agent(agent)
			if err != nil {
				return err
			}
			return a.bridge(cmd.Context(), g.Socket)
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "connect as this agent, with its scope (ragd agent list)")
	return cmd
}

const (
	// lastAnswers is how long the daemon may take to answer what was asked
	// before the client closed its end.
	lastAnswers = 4 * time.Second
	orphanCheck = time.Second
)

// bridge copies bytes both ways until one side ends. Nothing but the daemon's
// bytes is written to standard output.
func (a *app) bridge(ctx context.Context, socket string) error {
	parent := os.Getppid() // before anything that takes time: it may be gone after
	conn, err := usock.Dial(ctx, socket)
	if err != nil {
		return bridgeError(socket, err)
	}
	defer func() { _ = conn.Close() }() // whatever is left unread is nobody's

	asked := make(chan struct{})
	go func() { // ends with standard input, or with the process
		_, _ = io.Copy(conn, a.in)
		close(asked) // before the daemon can answer to its end by closing its own
		_ = conn.CloseWrite()
	}()
	answered := make(chan error, 1)
	go func() {
		_, err := io.Copy(a.out, conn)
		answered <- err
	}()

	orphan := time.NewTicker(orphanCheck)
	defer orphan.Stop()
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-orphan.C:
			// A killed host may leave its end of our input open in another child.
			if os.Getppid() != parent {
				return nil
			}
		case <-asked:
			asked = nil
			late = time.After(lastAnswers)
		case <-late:
			return nil
		case err := <-answered:
			switch {
			case late != nil, closed(asked), errors.Is(err, syscall.EPIPE):
				return nil // the client is gone
			case err != nil:
				return fault.New(fault.Unavailable, "bridge_broken", "the connection to the daemon broke").Because(err)
			}
			return fault.New(fault.Unavailable, "daemon_gone", "the daemon closed the connection").
				WithHint("if it was stopped, start it again with: ragd serve")
		}
	}
}

// closed tells whether c is closed; nil, one that was seen to be, is not.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func bridgeError(socket string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fault.New(fault.Unavailable, adminclient.CodeNotRunning, "no daemon is running (nothing listens on %s)", socket).
			WithHint("start it with: ragd serve")
	case errors.Is(err, context.Canceled):
		return err
	}
	if f, ok := fault.As(err); ok {
		return f
	}
	return fault.New(fault.Unavailable, "daemon_unreachable", "the daemon cannot be reached on %s", socket).Because(err)
}
