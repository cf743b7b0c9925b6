package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// conn reads one connection and runs its calls.
type conn struct {
	srv  *Server
	sess *session
	run  chan struct{}       // one slot per running call
	room *semaphore.Weighted // bytes of requests taken in and not answered
	wg   sync.WaitGroup      // calls

	mu    sync.Mutex
	calls map[string]*inflight // by the id as the client wrote it
}

type inflight struct {
	cancel    context.CancelFunc
	cancelled bool // the client withdrew it; no reply is sent
}

const maxBatch = 100

func (s *Server) serveConn(parent context.Context, nc net.Conn) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	defer func() { _ = nc.Close() }()
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("MCP connection panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()

	sess := newSession("s"+strconv.FormatInt(s.nextSession.Add(1), 10), s.opts.Agent.Name, nc, s.opts.Limits.WriteTimeout, cancel)
	if !s.enter(sess) {
		_ = sess.write(errorReply(nil, &rpcError{Code: codeBusy, Message: fmt.Sprintf(
			"too many connections: %d are open, which is the most this server takes", s.opts.Limits.Connections)}))
		return
	}
	defer s.leave(sess)
	if err := s.mcp.RegisterSession(ctx, sess); err != nil {
		s.log.Error("registering an MCP session failed", "error", err)
		return
	}
	defer s.mcp.UnregisterSession(context.WithoutCancel(ctx), sess.id)

	c := &conn{
		srv: s, sess: sess, calls: make(map[string]*inflight),
		run: make(chan struct{}, s.opts.Limits.CallsPerConnection), room: semaphore.NewWeighted(connQueueBytes),
	}
	ctx = s.mcp.WithContext(ctx, sess)
	var pump sync.WaitGroup
	pump.Go(func() { c.pump(ctx) })
	c.read(ctx)
	// The client may have closed only its half, and wait for its answers.
	waitFor(&c.wg, halfOpenTime)
	cancel()
	c.wg.Wait()
	pump.Wait()
}

// pump writes what the library wants to tell the client.
func (c *conn) pump(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.sess.notify:
			msg, err := encode(n)
			if err == nil {
				err = c.sess.write(msg)
			}
			if err != nil {
				c.srv.log.Debug("MCP notification not sent", "error", err)
			}
		}
	}
}

func (c *conn) read(ctx context.Context) {
	lines := newLineReader(c.sess.conn, c.srv.opts.Limits.LineBytes)
	lines.grow = func() error {
		select {
		case c.srv.large <- struct{}{}:
			err := c.sess.conn.SetReadDeadline(time.Now().Add(largeLineTime))
			if err != nil {
				<-c.srv.large
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	lines.done = func() {
		<-c.srv.large
		_ = c.sess.conn.SetReadDeadline(time.Time{}) // fails only on a closed connection
	}
	for ctx.Err() == nil {
		line, err := lines.next()
		var long *tooLong
		switch {
		case errors.As(err, &long):
			err = c.sess.write(errorReply(salvageID(long), &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf(
				"the request of %d bytes is over the limit of %d bytes; it was not read", long.Size, c.srv.opts.Limits.LineBytes)}))
		case err == nil:
			err = c.take(ctx, line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				c.srv.log.Debug("MCP connection ended", "session", c.sess.id, "error", err)
			}
			return
		}
	}
}

// take handles one line. An error ends the connection.
func (c *conn) take(ctx context.Context, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if isBatch(line) {
		return c.takeBatch(ctx, line)
	}
	env, bad := parseEnvelope(line)
	switch {
	case bad != nil:
		return c.sess.write(errorReply(env.ID, bad))
	case env.method == "":
		return nil
	case env.notification():
		c.note(ctx, &env)
		return nil
	case inOrder(env.method):
		return c.sess.write(c.answer(ctx, &env))
	}
	return c.start(ctx, len(line), []envelope{env}, func(replies [][]byte) []byte { return replies[0] })
}

// inOrder names the methods that are answered before the next line is read:
// they are quick, and what follows may depend on them.
func inOrder(method string) bool {
	return method == "initialize" || method == "ping" || method == "logging/setLevel"
}

func (c *conn) takeBatch(ctx context.Context, line []byte) error {
	refuse := func(format string, args ...any) error {
		return c.sess.write(errorReply(nil, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf(format, args...)}))
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return c.sess.write(errorReply(nil, &rpcError{Code: codeParse, Message: "the line is not valid JSON"}))
	}
	if v := c.sess.ProtocolVersion(); v != "2025-03-26" && v != "2024-11-05" {
		return refuse("batches are not part of this protocol version; send one JSON object per line")
	}
	if len(parts) == 0 || len(parts) > maxBatch {
		return refuse("a batch must hold 1 to %d messages, this one holds %d", maxBatch, len(parts))
	}
	var envs []envelope
	var replies [][]byte // to those that cannot be run
	for _, part := range parts {
		env, bad := parseEnvelope(part)
		switch {
		case bad != nil:
			replies = append(replies, errorReply(env.ID, bad))
		case env.method == "":
		case env.notification():
			c.note(ctx, &env)
		default:
			envs = append(envs, env)
		}
	}
	if len(envs) == 0 && len(replies) == 0 {
		return nil
	}
	return c.start(ctx, len(line), envs, func(more [][]byte) []byte {
		all := append(replies, more...)
		if len(all) == 0 {
			return nil
		}
		return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
	})
}

// start runs requests one after the other on their own goroutine and writes
// what join makes of their replies. It blocks, and with it the reading, while
// the client has too much under way.
func (c *conn) start(ctx context.Context, size int, envs []envelope, join func([][]byte) []byte) error {
	cost := int64(min(size+requestCost, connQueueBytes))
	if err := c.room.Acquire(ctx, cost); err != nil {
		return err
	}
	if err := c.srv.queued.Acquire(ctx, cost); err != nil {
		c.room.Release(cost)
		return err
	}
	free := func() { c.srv.queued.Release(cost); c.room.Release(cost) }

	type started struct {
		ctx  context.Context
		call *inflight
	}
	calls := make([]started, len(envs))
	for i := range envs {
		callCtx, call, ok := c.begin(ctx, envs[i].ID)
		if !ok {
			for j := range i {
				c.end(envs[j].ID, calls[j].call)
			}
			free()
			return c.sess.write(errorReply(envs[i].ID, &rpcError{Code: codeInvalidRequest, Message: "a request with this id is still under way"}))
		}
		calls[i] = started{callCtx, call}
	}
	c.wg.Go(func() {
		defer free()
		var replies [][]byte
		for i := range envs {
			reply := c.inSlot(calls[i].ctx, &envs[i])
			if !c.end(envs[i].ID, calls[i].call) {
				replies = append(replies, reply)
			}
		}
		if len(replies) == 0 && len(envs) > 0 {
			return
		}
		if msg := join(replies); msg != nil {
			if err := c.sess.write(msg); err != nil {
				c.srv.log.Debug("MCP reply not sent", "session", c.sess.id, "error", err)
			}
		}
	})
	return nil
}

func (c *conn) inSlot(ctx context.Context, env *envelope) []byte {
	select {
	case c.run <- struct{}{}:
		defer func() { <-c.run }()
		return c.answer(ctx, env)
	case <-ctx.Done():
		return errorReply(env.ID, &rpcError{Code: codeInternal, Message: "cancelled"})
	}
}

func (c *conn) begin(ctx context.Context, id json.RawMessage) (context.Context, *inflight, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.calls[string(id)]; taken {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	call := &inflight{cancel: cancel}
	c.calls[string(id)] = call
	return ctx, call, true
}

// end closes a call and reports whether the client withdrew it.
func (c *conn) end(id json.RawMessage, call *inflight) (withdrawn bool) {
	call.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, string(id))
	return call.cancelled
}

// note handles a notification.
func (c *conn) note(ctx context.Context, env *envelope) {
	if env.method != "notifications/cancelled" {
		c.answer(ctx, env)
		return
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(env.Params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call, ok := c.calls[string(p.RequestID)]; ok {
		call.cancelled = true
		call.cancel()
	}
}
