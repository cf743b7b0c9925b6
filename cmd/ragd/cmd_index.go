package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"ragd/internal/adminclient"
	"ragd/internal/wire"
)

func (a *app) reindexCommand() *cobra.Command {
	var kb string
	var force bool
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "Compare the disk with the index now",
		Long: `Compare the disk with the index now and queue what differs. With --force every
document is indexed again; what is there stays searchable until its replacement is in.
The command returns when the queue is filled, before it is worked off.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			n, err := c.Reindex(cmd.Context(), kb, force)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(n)
			}
			p := a.page()
			p.line("%d new, %d changed, %d deleted, %d unchanged, %d excluded; %d queued", n.Added, n.Modified, n.Deleted, n.Skipped, n.Excluded, n.Enqueued)
			return p.end()
		},
	}
	cmd.Flags().StringVar(&kb, "kb", "", "only this knowledge base")
	cmd.Flags().BoolVar(&force, "force", false, "index everything again")
	a.completeKB(cmd, "kb")
	return a.jsonFlag(cmd)
}

func (a *app) pauseCommand() *cobra.Command {
	return a.pauseOrResume("pause [KB]", "Stop indexing for a while; searches go on", "paused", true, (*adminclient.Client).Pause)
}

func (a *app) resumeCommand() *cobra.Command {
	return a.pauseOrResume("resume [KB]", "Go on indexing after a pause", "resumed", false, (*adminclient.Client).Resume)
}

func (a *app) pauseOrResume(use, short, done string, paused bool, do func(*adminclient.Client, context.Context, string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, ValidArgsFunction: a.kbArg,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("%s takes one knowledge base, or none for all; %d were given", cmd.Name(), len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			kb := ""
			if len(args) == 1 {
				kb = args[0]
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			if err := do(c, cmd.Context(), kb); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(wire.Paused{KB: kb, Paused: paused})
			}
			p := a.page()
			if kb == "" {
				p.line("indexing is %s", done)
			} else {
				p.line("indexing of %s is %s", visible(kb), done)
			}
			return p.end()
		},
	}
	return a.jsonFlag(cmd)
}
