package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options configure a Server. Services, Hub, Recorder and Logger are required.
type Options struct {
	Services     Services
	Hub          *Hub
	Recorder     *Recorder
	Logger       *slog.Logger
	MaxFileBytes int64 // largest document that may be added; 0 = 50 MiB
	// Requests a second and burst of one listener, beyond which the answer is
	// 429; 0 = 2000 and 4000.
	Rate  float64
	Burst int
}

// Server answers the admin API. New starts nothing.
type Server struct {
	sv     Services
	hub    *Hub
	rec    *Recorder
	log    *slog.Logger
	opt    Options
	routes []route
	counts requestCounts
}

// New returns a server.
func New(o Options) *Server {
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = 50 << 20
	}
	if o.Rate <= 0 {
		o.Rate, o.Burst = 2000, 4000
	}
	s := &Server{sv: o.Services, hub: o.Hub, rec: o.Recorder, log: o.Logger, opt: o}
	s.routes = s.table()
	return s
}

const (
	headerTime  = 5 * time.Second
	bodyTime    = time.Minute
	idleTime    = 2 * time.Minute
	drainTime   = 2 * time.Second
	maxHeader   = 64 << 10
	queuePeriod = 250 * time.Millisecond
)

// ServeOwner answers on a listener that lets only the owner in (a Unix
// socket) until ctx ends. Calls under way get two seconds, streams none.
func (s *Server) ServeOwner(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.limited)
}

// ServeTCP answers on a TCP listener. Without a key the address must be
// loopback; otherwise the error says so and nothing is served.
func (s *Server) ServeTCP(ctx context.Context, l net.Listener, key string) error {
	g, err := newGuard(l.Addr(), key)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return s.serve(ctx, l, func(next http.Handler) http.Handler { return s.limited(g.wrap(s, next)) })
}

func (s *Server) serve(ctx context.Context, l net.Listener, outer func(http.Handler) http.Handler) error {
	// Calls under way may end by themselves when ctx does, so their context is another; streams watch ctx.
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	srv := &http.Server{
		Handler:           outer(s.handler(ctx.Done())),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.publishQueue(base) })
	stopped := make(chan error, 1)
	unhook := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		err := srv.Shutdown(late)
		if err != nil {
			stop()
			err = srv.Close()
		}
		stopped <- err
	})
	err := srv.Serve(l)
	if unhook() { // the listener failed, nobody asked to stop
		stop()
		_ = srv.Close() // err is what matters
		wg.Wait()
		return err
	}
	err = <-stopped
	stop()
	wg.Wait()
	return err
}

// publishQueue tells streams the queue's counters whenever something happened
// to a document, but not more often than they can be looked at.
func (s *Server) publishQueue(ctx context.Context) {
	tick := time.NewTicker(queuePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.hub.stirred():
		}
		ev, err := s.queueEvent(ctx)
		if err == nil {
			s.hub.Publish(ev)
		} else if ctx.Err() == nil {
			s.log.Debug("queue counters for event streams", "error", err)
		}
		tick.Reset(queuePeriod)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
