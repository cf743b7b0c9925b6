package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// call is a request with what the route's pattern took out of its path.
type call struct {
	*http.Request
	kb   string
	id   string
	path string

	stopping <-chan struct{} // closed when the daemon stops: streams end
}

// handle answers a call: with a value that is written as JSON, or an error.
// A handler that writes itself returns written.
type handle func(w http.ResponseWriter, c *call) (any, error)

// written says that the handler has answered already.
type written struct{}

type route struct {
	method  string
	pattern []string // elements; ":kb" and ":id" match one, "*" the rest
	params  []string // query parameters that are allowed
	slow    bool     // may take longer than callTime
	stream  bool     // has no end
	do      handle
}

const (
	callTime = 30 * time.Second
	slowTime = 10 * time.Minute
)

func (s *Server) table() []route {
	r := func(method, pattern, params string, do handle) route {
		return route{method: method, pattern: strings.Split(pattern[1:], "/"), params: strings.Fields(params), do: do}
	}
	slow := func(r route) route { r.slow = true; return r }
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		r(get, "/health", "", s.health),
		r(get, "/metrics", "", s.metrics),
		r(get, "/search", "query kb top_k mode alpha explain", s.search),
		r(get, "/document", "kb path offset limit", s.document),
		r(get, "/admin/status", "", s.status),
		r(get, "/admin/kbs", "", s.kbs),
		slow(r(del, "/admin/kbs/:kb", "confirm", s.deleteKB)),
		r(get, "/admin/kbs/:kb/documents", "cursor limit state", s.documents),
		r(post, "/admin/kbs/:kb/documents", "", s.addDocument),
		slow(r(del, "/admin/kbs/:kb/documents/*", "", s.deleteDocument)),
		r(get, "/admin/jobs", "state kb limit after", s.jobs),
		slow(r(post, "/admin/jobs/retry", "", s.retryAll)),
		r(post, "/admin/jobs/bump", "", s.bump),
		r(post, "/admin/jobs/:id/retry", "", s.retryJob),
		r(post, "/admin/jobs/:id/ignore", "", s.ignoreJob),
		slow(r(post, "/admin/reindex", "kb force", s.reindex)),
		r(post, "/admin/pause", "kb", s.pause),
		r(post, "/admin/resume", "kb", s.resume),
		r(post, "/admin/reload", "", s.reload),
		r(get, "/admin/ignored", "path", s.ignored),
		r(get, "/admin/log", "limit", s.logLines),
		slow(r(get, "/admin/check", "deep", s.check)),
		slow(r(post, "/admin/repair", "", s.repair)),
		{method: get, pattern: []string{"admin", "events"}, stream: true, do: s.events},
	}
}

// find returns the route of a request. It works on the path as it was sent:
// net/http's own router would tidy ".." away where it has to be refused.
func (s *Server) find(r *http.Request) (*route, *call, error) {
	c := &call{Request: r}
	elems := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	var methods []string
	for i := range s.routes {
		rt := &s.routes[i]
		if !rt.matches(elems) {
			continue
		}
		if rt.method != r.Method && (r.Method != http.MethodHead || rt.method != http.MethodGet) {
			methods = append(methods, rt.method)
			continue
		}
		return rt, c, c.take(rt, elems)
	}
	if methods != nil {
		slices.Sort(methods)
		list := strings.Join(methods, ", ")
		return nil, c, &statusError{http.StatusMethodNotAllowed, map[string]string{"Allow": list},
			fault.New(fault.Invalid, "method_not_allowed", "%q is not allowed on %.200q; allowed: %s", r.Method, r.URL.Path, list)}
	}
	return nil, c, fault.New(fault.NotFound, "no_such_route", "there is nothing at %.200q", r.URL.Path).
		WithHint("is the daemon of the same release as the caller? GET /health tells its version")
}

func (rt *route) matches(elems []string) bool {
	for i, p := range rt.pattern {
		switch {
		case p == "*":
			return len(elems) > i
		case i >= len(elems), p[0] != ':' && p != elems[i]:
			return false
		}
	}
	return len(elems) == len(rt.pattern)
}

// take unescapes what the pattern leaves open.
func (c *call) take(rt *route, elems []string) error {
	for i, p := range rt.pattern {
		if p != "*" && p[0] != ':' {
			continue
		}
		raw := elems[i]
		if p == "*" {
			raw = strings.Join(elems[i:], "/")
		}
		v, err := url.PathUnescape(raw)
		if err != nil {
			return fault.New(fault.Invalid, "bad_path", "the address holds a broken escape: %.200q", raw)
		}
		switch p {
		case ":kb":
			c.kb = v
		case ":id":
			c.id = v
		case "*":
			c.path = v
		}
	}
	return nil
}

// handler answers every request; no panic and no error leaves it.
func (s *Server) handler(stopping <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(wire.APIHeader, apiVersion)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		cw := &countingWriter{ResponseWriter: w}
		writeWithin(w, bodyTime) // the deadline of the connection's call before may be over
		if r.ContentLength != 0 {
			readWithin(w, bodyTime)
		}
		defer func() { s.counts.add(cw.status()) }()
		defer s.recoverPanic(cw, r)
		v, err := s.answer(cw, r, stopping)
		switch _, done := v.(written); {
		case err != nil:
			s.writeError(cw, r, err)
		case !done:
			s.writeJSON(cw, r, http.StatusOK, v)
		}
	})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, stopping <-chan struct{}) (any, error) {
	rt, c, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if err := checkParams(r, rt.params); err != nil {
		return nil, err
	}
	limit := callTime
	if rt.slow {
		limit = slowTime
	}
	c.stopping = stopping
	if !rt.stream {
		ctx, cancel := deadline(r, limit)
		defer cancel()
		c.Request = r.WithContext(ctx)
		writeWithin(w, limit+bodyTime)
	}
	return rt.do(w, c)
}
