// Package adminclient speaks to the daemon over its admin socket: dial,
// version check, timeouts, typed errors, and an event stream that reconnects
// by itself. It knows the wire values and nothing of the daemon's insides;
// it starts no daemon and keeps no state between calls.
package adminclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ragd/internal/fault"
	"ragd/internal/usock"
	"ragd/internal/wire"
)

const (
	dialTimeout = 3 * time.Second
	callTimeout = 10 * time.Second // for a call whose context has no deadline
	slowTimeout = 10 * time.Minute // for calls that do work: reindex, check, repair, deletes
	maxAnswer   = 64 << 20         // bytes of one answer
)

// Client speaks to one daemon. It is safe for use by many goroutines.
type Client struct {
	socket string
	http   *http.Client
}

// New returns a client of the admin socket at socketPath. It connects when it
// is used; a daemon that is not running is an error of the call.
func New(socketPath string) *Client {
	return newClient(socketPath, func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return usock.Dial(ctx, socketPath)
	})
}

func newClient(socketPath string, dial func(ctx context.Context) (net.Conn, error)) *Client {
	tr := &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConns:           4,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}
	return &Client{socket: socketPath, http: &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// SocketPath returns the path the client dials.
func (c *Client) SocketPath() string { return c.socket }

// Close drops idle connections. Calls in flight go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call sends one request and decodes the answer into out (nil = throw away).
func (c *Client) call(ctx context.Context, timeout time.Duration, method, path string, query url.Values, body, out any) error {
	if _, has := ctx.Deadline(); !has && timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	resp, err := c.send(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	defer closeBody(resp.Body)
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.transportError(ctx, err)
	}
	if len(data) > maxAnswer {
		return badAnswer("an answer of more than %d bytes", maxAnswer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return badAnswer("an answer to %s %s that is not the expected JSON", method, path).Because(err)
	}
	return nil
}

// send returns the response of a successful request with its body open.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body any) (*http.Response, error) {
	var rd io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fault.New(fault.Invalid, "request_invalid", "the request cannot be written as JSON").Because(err)
		}
		rd = bytes.NewReader(data)
	}
	target := "http://ragd" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, rd)
	if err != nil {
		return nil, fault.New(fault.Invalid, "request_invalid", "the request to %q cannot be made", path).Because(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, err)
	}
	if err := c.checkResponse(resp); err != nil {
		closeBody(resp.Body)
		return nil, err
	}
	return resp, nil
}

// checkResponse refuses answers that are not from a daemon of this API version, and turns error answers into faults.
func (c *Client) checkResponse(resp *http.Response) error {
	got := resp.Header.Get(wire.APIHeader)
	if got == "" {
		return fault.New(fault.Conflict, "not_ragd", "what answers on %s is not ragd", c.socket).
			WithHint("another program listens there; set the admin socket to another path")
	}
	if got != strconv.Itoa(wire.APIVersion) {
		return fault.New(fault.Conflict, "api_version",
			"the daemon speaks version %.20q of the admin API, this program version %d", got, wire.APIVersion).
			WithHint("restart the daemon with the same release as this program")
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	return errorFrom(resp)
}

func closeBody(body io.ReadCloser) {
	// Draining a little lets the connection be used again; what is left is not worth reading.
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}

// transportError says what a failed exchange means to a person.
func (c *Client) transportError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "daemon_timeout", "the daemon did not answer in time").
			WithHint("see what it does with: ragd status").Because(err)
	}
	return dialError(c.socket, err)
}
