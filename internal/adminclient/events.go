package adminclient

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

const (
	firstRetry  = 250 * time.Millisecond
	longRetry   = 5 * time.Second
	silenceLong = 30 * time.Second // the daemon sends a heartbeat every 10 s
)

// Events follows the daemon's events until ctx ends, then closes the channel.
//
// The stream reconnects by itself. Events of type "link" tell its state: each
// "live" is followed by a "hello" with the whole Status. A "hello" may also
// come in the middle of a stream: the daemon sends one when it had to leave
// events out. Whoever keeps a picture of the daemon replaces it at each hello.
// The caller must read the channel or end ctx.
func (c *Client) Events(ctx context.Context) <-chan wire.Event {
	out := make(chan wire.Event, 64)
	go func() {
		defer close(out)
		c.follow(ctx, out)
	}()
	return out
}

func (c *Client) follow(ctx context.Context, out chan<- wire.Event) {
	wait := firstRetry
	for {
		if !emit(ctx, out, linkEvent(wire.Link{State: wire.LinkConnecting})) {
			return
		}
		lived, err := c.stream(ctx, out)
		if ctx.Err() != nil {
			return
		}
		if lived {
			wait = firstRetry
		}
		pause := wait/2 + rand.N(wait/2+1)
		if !emit(ctx, out, linkEvent(downLink(err, pause))) {
			return
		}
		wait = min(wait*2, longRetry)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// stream follows one connection to its end; lived says that a hello came.
func (c *Client) stream(ctx context.Context, out chan<- wire.Event) (lived bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silenceLong, func() {
		cancel(fault.New(fault.Unavailable, "daemon_silent", "nothing came from the daemon for %s", silenceLong))
	})
	defer silent.Stop()

	resp, err := c.send(ctx, http.MethodGet, "/admin/events", nil, nil)
	if err != nil {
		return false, whyEnded(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	rd := newEventReader(resp.Body, func() { silent.Reset(silenceLong) })
	for {
		ev, err := rd.next()
		if err != nil {
			return lived, whyEnded(ctx, err)
		}
		if !lived {
			if ev.Type != "hello" || ev.Status == nil {
				return false, badAnswer("an event stream that does not begin with a hello")
			}
			lived = true
			if !emit(ctx, out, linkEvent(wire.Link{State: wire.LinkLive})) {
				return lived, ctx.Err()
			}
		}
		silent.Stop() // a slow reader of out is not a silent daemon
		if !emit(ctx, out, ev) {
			return lived, ctx.Err()
		}
		silent.Reset(silenceLong)
	}
}

func whyEnded(ctx context.Context, err error) error {
	if f, ok := fault.As(context.Cause(ctx)); ok {
		return f
	}
	return err
}

func emit(ctx context.Context, out chan<- wire.Event, ev wire.Event) bool {
	select {
	case out <- ev:
		return true
	case <-ctx.Done():
		return false
	}
}

func linkEvent(l wire.Link) wire.Event {
	return wire.Event{Type: "link", At: time.Now(), Link: &l}
}

func downLink(err error, pause time.Duration) wire.Link {
	l := wire.Link{State: wire.LinkDown, Code: "daemon_gone", Reason: "the daemon ended the event stream", RetryMS: pause.Milliseconds()}
	if f, ok := fault.As(err); ok {
		l.Code, l.Reason = f.Code, f.Message
	}
	return l
}
