package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ragd/internal/admin"
	"ragd/internal/fault"
	"ragd/internal/wire"
)

// raw sends a request over the socket and returns status, header and error body.
func (r *rig) raw(method, target, body string, header ...string) (int, http.Header, wire.ErrorBody) {
	r.t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", r.socket)
	}}
	return exchange(r.t, tr, method, "http://ragd"+target, body, header...)
}

func exchange(t *testing.T, tr http.RoundTripper, method, url, body string, header ...string) (int, http.Header, wire.ErrorBody) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	must(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := tr.RoundTrip(req)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	var we wire.Error
	if resp.StatusCode >= 400 && method != http.MethodHead {
		if err := json.Unmarshal(data, &we); err != nil || we.Error.Code == "" || we.Error.Message == "" {
			t.Errorf("%s %s: status %d with %q, which is not the error shape", method, url, resp.StatusCode, data)
		}
	}
	return resp.StatusCode, resp.Header, we.Error
}

func TestBadRequestsGetTheirStatusAndOneShape(t *testing.T) {
	r := newRig(t)
	r.start()
	const docs = "/admin/kbs/notes/documents"
	j := []string{"Content-Type", "application/json"}
	for name, c := range map[string]struct {
		method, target, body string
		header               []string
		status               int
		code                 string
	}{
		"not JSON":              {"POST", docs, `{`, j, 400, "bad_json"},
		"empty body":            {"POST", docs, ``, j, 400, "bad_json"},
		"array":                 {"POST", docs, `[]`, j, 400, "bad_json"},
		"null":                  {"POST", docs, `null`, j, 400, "bad_json"},
		"two values":            {"POST", docs, `{"path":"a.md","content":""}{}`, j, 400, "bad_json"},
		"unknown field":         {"POST", docs, `{"path":"a.md","content":"","mode":1}`, j, 400, "bad_json"},
		"wrong type":            {"POST", docs, `{"path":1,"content":""}`, j, 400, "bad_json"},
		"no content":            {"POST", docs, `{"path":"a.md"}`, j, 400, "bad_json"},
		"no path":               {"POST", docs, `{"content":"x"}`, j, 400, "bad_json"},
		"not UTF-8":             {"POST", docs, "{\"path\":\"a.md\",\"content\":\"\xff\"}", j, 400, "bad_json"},
		"deep nesting":          {"POST", docs, `{"path":` + strings.Repeat("[", 20000), j, 400, "bad_json"},
		"no content type":       {"POST", docs, `{"path":"a.md","content":""}`, nil, 415, "bad_content_type"},
		"form":                  {"POST", docs, `path=a.md`, []string{"Content-Type", "text/plain"}, 415, "bad_content_type"},
		"too large":             {"POST", docs, `{"path":"a.md","content":"` + strings.Repeat("x", 4*maxDoc) + `"}`, j, 413, "too_large"},
		"traversal in body":     {"POST", docs, `{"path":"../a.md","content":""}`, j, 400, "bad_path"},
		"traversal":             {"DELETE", docs + "/../../x", "", nil, 400, "bad_path"},
		"escaped traversal":     {"DELETE", docs + "/%2e%2e/x", "", nil, 400, "bad_path"},
		"escaped slash":         {"DELETE", docs + "/a%2f..%2f..%2fb", "", nil, 400, "bad_path"},
		"double escaped is not": {"DELETE", docs + "/%252e%252e", "", nil, 200, ""},
		"NUL":                   {"DELETE", docs + "/a%00b", "", nil, 400, "bad_path"},
		"no path to delete":     {"DELETE", docs + "/", "", nil, 400, "bad_path"},
		"KB of dots":            {"DELETE", "/admin/kbs/%2e%2e", "", nil, 400, "bad_kb_name"},
		"unknown KB":            {"GET", "/admin/kbs/none/documents", "", nil, 404, "kb_not_found"},
		"unknown document":      {"GET", "/document?kb=notes&path=zz.md", "", nil, 404, "document_not_found"},
		"document without path": {"GET", "/document?kb=notes", "", nil, 400, "bad_parameter"},
		"unknown job":           {"POST", "/admin/jobs/77/retry", "", nil, 404, "job_not_found"},
		"job in another state":  {"POST", "/admin/jobs/2/retry", "", nil, 409, "job_not_failed"},
		"job id":                {"POST", "/admin/jobs/x/retry", "", nil, 400, "bad_parameter"},
		"unknown route":         {"GET", "/nowhere", "", nil, 404, "no_such_route"},
		"root":                  {"GET", "/", "", nil, 404, "no_such_route"},
		"trailing slash":        {"GET", "/health/", "", nil, 404, "no_such_route"},
		"double slash":          {"GET", "//health", "", nil, 404, "no_such_route"},
		"wrong method":          {"PUT", "/admin/status", "", nil, 405, "method_not_allowed"},
		"unknown parameter":     {"GET", "/search?query=a&top=3", "", nil, 400, "bad_parameter"},
		"repeated parameter":    {"GET", "/search?query=a&query=b", "", nil, 400, "bad_parameter"},
		"broken query string":   {"GET", "/search?query=%zz", "", nil, 400, "bad_parameter"},
		"top_k 0":               {"GET", "/search?query=a&top_k=0", "", nil, 400, "bad_parameter"},
		"top_k 101":             {"GET", "/search?query=a&top_k=101", "", nil, 400, "bad_parameter"},
		"mode":                  {"GET", "/search?query=a&mode=magic", "", nil, 400, "bad_parameter"},
		"alpha NaN":             {"GET", "/search?query=a&alpha=NaN", "", nil, 400, "bad_parameter"},
		"limit":                 {"GET", docs + "?limit=5000", "", nil, 400, "bad_parameter"},
		"cursor":                {"GET", docs + "?cursor=%2A", "", nil, 400, "bad_parameter"},
		"state":                 {"GET", "/admin/jobs?state=lost", "", nil, 400, "bad_parameter"},
		"no query":              {"GET", "/search", "", nil, 400, "query_required"},
		"query not UTF-8":       {"GET", "/search?query=%ff", "", nil, 400, "bad_parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			status, h, body := r.raw(c.method, c.target, c.body, c.header...)
			if status != c.status || body.Code != c.code {
				t.Errorf("%d %q (%s), want %d %q", status, body.Code, body.Message, c.status, c.code)
			}
			if h.Get(wire.APIHeader) != "1" {
				t.Error("the version header is missing")
			}
			if c.status == 405 && h.Get("Allow") != "GET" {
				t.Errorf("Allow is %q", h.Get("Allow"))
			}
		})
	}
}

func TestAPanicAnswersItsOwnCallAlone(t *testing.T) {
	r := newRig(t)
	r.start()
	r.index.panicOn = "KBStats"
	status, _, body := r.raw("GET", "/admin/status", "")
	if status != 500 || body.Code != "internal" || strings.Contains(body.Message, "secret") {
		t.Errorf("%d %+v", status, body)
	}
	if status, _, _ := r.raw("GET", "/health", ""); status != 200 {
		t.Errorf("the next call got %d", status)
	}
	if lines := r.rec.Lines(0); len(lines) == 0 || !strings.Contains(lines[len(lines)-1].Attrs, "secret detail") {
		t.Errorf("the panic is not in the log: %+v", lines)
	}
}

func TestErrorsAreTranslatedOnceAndNothingLeaks(t *testing.T) {
	r := newRig(t)
	r.start()
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{errors.New("SELECT x FROM y"), 500, "internal"},
		{fmt.Errorf("op: %w", fault.New(fault.Unavailable, "disk_full", "the disk is full")), 503, "disk_full"},
		{fault.New(fault.Transient, "busy", "busy"), 503, "busy"},
		{fault.New(fault.Denied, "read_only", "no"), 403, "read_only"},
		{fault.New(fault.Permanent, "corrupt", "no"), 422, "corrupt"},
		{fault.New(fault.Internal, "odd", "SELECT z"), 500, "internal"},
		{context.DeadlineExceeded, 503, "cancelled"},
	} {
		r.index.err = c.err
		status, _, body := r.raw("GET", "/admin/status", "")
		if status != c.status || body.Code != c.code || strings.Contains(body.Message, "SELECT") {
			t.Errorf("%v: %d %+v", c.err, status, body)
		}
	}
}

func TestTooManyCallsGet429(t *testing.T) {
	r := newRig(t)
	r.srv = admin.New(admin.Options{
		Services: admin.Services{Index: r.index, Daemon: r.daemon}, Hub: r.hub, Recorder: r.rec, Logger: discard(), Rate: 0.001, Burst: 3,
	})
	r.start()
	var got []int
	for range 5 {
		status, h, body := r.raw("GET", "/health", "")
		got = append(got, status)
		if status == 429 && (body.Code != "rate_limited" || h.Get("Retry-After") == "") {
			t.Errorf("%+v", body)
		}
	}
	if fmt.Sprint(got) != "[200 200 200 429 429]" {
		t.Errorf("%v", got)
	}
}

func TestTCPWithoutAKeyIsForLoopbackOnly(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	must(t, err)
	err = r.srv.ServeTCP(t.Context(), l, "")
	wantCode(t, err, fault.Invalid, "admin_key_required")
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it listens in spite of that")
	}
}

func TestTCPChecksHostOriginAndKey(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	keyed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	const key = "0123456789abcdef"
	r.serve(func(ctx context.Context) error { return r.srv.ServeTCP(ctx, l, "") })
	r.serve(func(ctx context.Context) error { return r.srv.ServeTCP(ctx, keyed, key) })
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	tr := &http.Transport{DisableKeepAlives: true}
	for name, c := range map[string]struct {
		url    string
		header []string
		status int
		code   string
	}{
		"plain":             {"http://" + l.Addr().String(), nil, 200, ""},
		"localhost":         {"http://localhost:" + port, nil, 200, ""},
		"own origin":        {"http://localhost:" + port, []string{"Origin", "http://localhost:" + port}, 200, ""},
		"rebound name":      {"http://" + l.Addr().String(), []string{"Host", "evil.example:" + port}, 403, "bad_host"},
		"other port":        {"http://" + l.Addr().String(), []string{"Host", "localhost:1"}, 403, "bad_host"},
		"no port":           {"http://" + l.Addr().String(), []string{"Host", "localhost"}, 403, "bad_host"},
		"foreign origin":    {"http://" + l.Addr().String(), []string{"Origin", "http://evil.example"}, 403, "bad_origin"},
		"null origin":       {"http://" + l.Addr().String(), []string{"Origin", "null"}, 403, "bad_origin"},
		"cross-site fetch":  {"http://" + l.Addr().String(), []string{"Sec-Fetch-Site", "cross-site"}, 403, "bad_origin"},
		"key missing":       {"http://" + keyed.Addr().String(), nil, 401, "no_key"},
		"key wrong":         {"http://" + keyed.Addr().String(), []string{"Authorization", "Bearer 0123456789abcdeF"}, 401, "no_key"},
		"key right":         {"http://" + keyed.Addr().String(), []string{"Authorization", "Bearer " + key}, 200, ""},
		"key and evil host": {"http://" + keyed.Addr().String(), []string{"Authorization", "Bearer " + key, "Host", "evil.example"}, 403, "bad_host"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := exchange(t, tr, "GET", c.url+"/health", "", c.header...)
			if status != c.status || body.Code != c.code {
				t.Errorf("%d %+v", status, body)
			}
		})
	}
	var last int
	for range 30 { // guessing ends soon
		last, _, _ = exchange(t, tr, "GET", "http://"+keyed.Addr().String()+"/health", "", "Authorization", "Bearer guess")
	}
	if last != 429 {
		t.Errorf("after 30 wrong keys the answer is %d", last)
	}
}

func TestMetricsAreWellFormed(t *testing.T) {
	r := newRig(t)
	r.index.kbs[0].Name = "a\"b\\c\nd"
	r.start()
	r.raw("GET", "/nowhere", "")
	resp := httpGet(t, r, "/metrics")
	for _, want := range []string{
		`ragd_documents{kb="a\"b\\c\nd"} 2`, `ragd_jobs{kb="work",state="failed"} 1`,
		`ragd_admin_requests_total{code="404"} 1`, "# TYPE ragd_documents gauge",
	} {
		if !strings.Contains(resp, want+"\n") {
			t.Errorf("no line %q in\n%s", want, resp)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(resp) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			if seen[name] {
				t.Errorf("%q stands twice", name)
			}
			seen[name] = true
		}
	}
}

func httpGet(t *testing.T, r *rig, path string) string {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", r.socket)
	}}
	resp, err := (&http.Client{Transport: tr}).Get("http://ragd" + path)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return string(data)
}

// FuzzRequests throws requests at the whole handler: whatever comes, there is
// one answer, of the right shape, and it is never "internal".
func FuzzRequests(f *testing.F) {
	f.Add("POST", "/admin/kbs/notes/documents", `{"path":"a.md","content":"x"}`)
	f.Add("POST", "/admin/jobs/bump", `{"kb":"notes","path_bytes":"////"}`)
	f.Add("DELETE", "/admin/kbs/notes/documents/%2e%2e/x", "")
	f.Add("GET", "/search?query=a&top_k=3&kb=,", "")
	f.Add("GET", "/document?kb=notes&path=a.md&offset=9", "")
	f.Add("POST", "/admin/jobs/1/ignore", "")
	f.Fuzz(func(t *testing.T, method, target, body string) {
		req, err := http.NewRequest(method, "http://ragd/", strings.NewReader(body))
		if err != nil || strings.Contains(target, "events") {
			return
		}
		u, err := req.URL.Parse(target)
		if err != nil || u.Host != "ragd" || !strings.HasPrefix(target, "/") {
			return
		}
		req.URL = u
		req.Header.Set("Content-Type", "application/json")
		r := newRig(t)
		w := httptest.NewRecorder()
		r.srv.HandlerForTest().ServeHTTP(w, req)
		if w.Code == 500 || w.Code < 200 {
			t.Fatalf("%s %s %q: %d %s", method, target, body, w.Code, w.Body)
		}
		if w.Code >= 400 && w.Code != 503 && method != "HEAD" {
			var we wire.Error
			if err := json.Unmarshal(w.Body.Bytes(), &we); err != nil || we.Error.Code == "" {
				t.Fatalf("%s %s: %d %q", method, target, w.Code, w.Body)
			}
		}
	})
}
