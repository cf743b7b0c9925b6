package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

// guard stands before the API on TCP, where browsers and other users can
// knock. The Unix socket needs none of this: its mode and the peer's
// credentials have decided already.
type guard struct {
	keyHash [sha256.Size]byte
	keyed   bool
	bound   netip.AddrPort
	misses  *bucket // wrong keys
}

func newGuard(addr net.Addr, key string) (*guard, error) {
	bound, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return nil, fault.New(fault.Invalid, "admin_address", "%s is not a TCP address", addr).Because(err)
	}
	if key == "" && !bound.Addr().Unmap().IsLoopback() {
		return nil, fault.New(fault.Invalid, "admin_key_required", "the admin API may not listen on %s without a key: others can reach that address", bound).
			WithHint("set admin.key (RAGD_ADMIN_KEY), or admin.address to 127.0.0.1")
	}
	return &guard{keyHash: sha256.Sum256([]byte(key)), keyed: key != "", bound: bound, misses: newBucket(1, 10)}, nil
}

func (g *guard) wrap(s *Server, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.check(r); err != nil {
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) check(r *http.Request) error {
	// A page that points its own name at this address (DNS rebinding) is
	// given away by the Host, any other page by the Origin.
	if !g.ownHost(r.Host) {
		return fault.New(fault.Denied, "bad_host", "the Host %.100q is not this daemon's", r.Host).
			WithHint("call it by the address it listens on, %s", g.bound)
	}
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" || !strings.EqualFold(u.Host, r.Host) {
			return fault.New(fault.Denied, "bad_origin", "web pages of %.100q may not call this daemon", o)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return fault.New(fault.Denied, "bad_origin", "other web pages may not call this daemon")
	}
	if !g.keyed {
		return nil
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	hash := sha256.Sum256([]byte(key))
	if subtle.ConstantTimeCompare(hash[:], g.keyHash[:]) == 1 {
		return nil
	}
	if !g.misses.take(time.Now()) {
		return tooMany("too many wrong keys")
	}
	return &statusError{http.StatusUnauthorized, map[string]string{"WWW-Authenticate": "Bearer"},
		fault.New(fault.Denied, "no_key", "the key is missing or wrong").WithHint("send \"Authorization: Bearer KEY\" with the value of admin.key")}
}

// ownHost reports whether a Host header names this listener: its address, a
// loopback name where it can be reached by one, and for a listener on all
// addresses any numeric one.
func (g *guard) ownHost(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), "80"
	}
	if p, err := netip.ParseAddrPort("0.0.0.0:" + port); err != nil || p.Port() != g.bound.Port() {
		return false
	}
	own := g.bound.Addr().Unmap()
	local := own.IsLoopback() || own.IsUnspecified()
	if strings.EqualFold(host, "localhost") {
		return local
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	return ip == own || own.IsUnspecified() || own.IsLoopback() && ip.IsLoopback()
}

// limited answers 429 to what comes faster than the rate.
func (s *Server) limited(next http.Handler) http.Handler {
	b := newBucket(s.opt.Rate, s.opt.Burst)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !b.take(time.Now()) {
			s.refuse(w, r, tooMany("more calls than the daemon answers"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func tooMany(what string) error {
	return &statusError{http.StatusTooManyRequests, map[string]string{"Retry-After": "1"},
		fault.New(fault.Transient, "rate_limited", "%s", what).WithHint("wait a second and try again")}
}

// refuse answers a request that does not reach the handler.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set(wire.APIHeader, apiVersion)
	writeWithin(w, bodyTime)
	readWithin(w, bodyTime)
	cw := &countingWriter{ResponseWriter: w}
	s.writeError(cw, r, err)
	s.counts.add(cw.status())
}

// bucket is a token bucket.
type bucket struct {
	mu     sync.Mutex
	rate   float64 // tokens a second
	burst  float64
	tokens float64
	last   time.Time
}

func newBucket(rate float64, burst int) *bucket {
	b := float64(max(burst, 1))
	return &bucket{rate: rate, burst: b, tokens: b}
}

func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.last.IsZero() {
		b.tokens = min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds())
	}
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
