package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/sync/semaphore"

	"ragd/internal/fault"
)

// Server answers the clients of one agent's socket.
type Server struct {
	opts  Options
	deps  Deps
	log   *slog.Logger
	scope scope
	tools []*tool // registered, in the order of the catalogue
	mcp   *server.MCPServer

	nextSession atomic.Int64
	nextCall    atomic.Int64
	large       chan struct{}       // one slot per long line being read
	queued      *semaphore.Weighted // bytes of requests taken in and not answered

	successor atomic.Pointer[Server] // has the options in force, when they are no longer these

	mu       sync.Mutex
	sessions map[string]*session
}

const (
	largeLines     = 8 // long lines read at once, over all connections
	largeLineTime  = time.Minute
	queueBytes     = 256 << 20 // of all connections
	connQueueBytes = 32 << 20  // of one
	requestCost    = 32 << 10  // what a request counts for beyond its bytes
	halfOpenTime   = 30 * time.Second
)

// New makes a Server; it starts nothing. One Server may serve several
// listeners.
func New(o Options, d Deps) *Server {
	if o.Name == "" {
		o.Name = "ragd"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.withDefaults()
	if _, ok := d.Store.(noneMeansNone); !ok {
		d.Store = noneMeansNone{d.Store}
	}
	s := &Server{
		opts: o, deps: d, log: o.Logger, scope: scope{globs: o.Agent.KBs, root: o.Agent.Root},
		large: make(chan struct{}, largeLines), queued: semaphore.NewWeighted(queueBytes),
		sessions: make(map[string]*session),
	}
	s.mcp = s.build()
	return s
}

// Sessions lists the connected clients, oldest first.
func (s *Server) Sessions() []SessionInfo {
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, x := range s.sessions {
		all = append(all, x)
	}
	s.mu.Unlock()
	infos := make([]SessionInfo, len(all))
	for i, x := range all {
		infos[i] = x.info()
	}
	slices.SortFunc(infos, func(a, b SessionInfo) int { return a.Connected.Compare(b.Connected) })
	return infos
}

// Serve accepts clients on l until ctx ends, then closes l and every
// connection, waits Limits.Drain for calls to end, and returns nil. An error
// means that the listener broke.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			s.log.Warn("closing the MCP listener failed", "error", err)
		}
	})
	defer stop()

	var conns sync.WaitGroup
	err := s.accept(ctx, l, &conns)
	cancel()
	if !waitFor(&conns, s.opts.Limits.Drain) {
		s.log.Warn("some MCP calls did not end in time")
	}
	return err
}

func (s *Server) accept(ctx context.Context, l net.Listener, conns *sync.WaitGroup) error {
	var delay time.Duration
	for {
		nc, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = nc.Close()
			}
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept MCP client: %w", err)
		}
		if err != nil { // out of descriptors, a client gone already: it passes
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			s.log.Warn("accepting an MCP client failed, trying again", "error", err)
			if !sleep(ctx, delay) {
				return nil
			}
			continue
		}
		delay = 0
		conns.Go(func() { s.serveConn(ctx, nc) })
	}
}

// enter registers a session; false when there are too many.
func (s *Server) enter(x *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= s.opts.Limits.Connections {
		return false
	}
	s.sessions[x.id] = x
	return true
}

func (s *Server) leave(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// waitFor waits for wg at most d; the waiting goroutine ends with the last of
// the group's.
func waitFor(wg *sync.WaitGroup, d time.Duration) bool {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// internal logs an error nobody foresaw and returns what the client may know.
func (s *Server) internal(where string, err error) *fault.Error {
	n := s.nextCall.Add(1)
	s.log.Error("MCP call failed", "where", where, "ref", n, "error", err)
	return fault.New(fault.Internal, "internal_error", "internal error in %s (reference %d)", where, n).
		WithHint("Try again; if it goes on, look for the reference in the daemon's log.")
}
