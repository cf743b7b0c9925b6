package blackbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ragd/internal/embed/embedtest"
	"ragd/internal/wire"
)

// secret must never be printed, logged or stored.
const secret = "sk-very-secret-0123456789"

// serverEnv are the settings of a world that embeds by a server.
func serverEnv(url, model string, more ...string) []string {
	return append([]string{
		"EMBEDDINGS_ENABLED=true", "EMBEDDINGS_BASE_URL=" + url, "EMBEDDINGS_MODEL=" + model,
		"EMBEDDINGS_API_KEY=" + secret, "EMBEDDINGS_TIMEOUT_MS=2000",
	}, more...)
}

// setEnv replaces variables for the next start of the daemon.
func (h *home) setEnv(vars ...string) {
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		kept := h.env[:0:0]
		for _, old := range h.env {
			if !strings.HasPrefix(old, name+"=") {
				kept = append(kept, old)
			}
		}
		h.env = append(kept, v)
	}
}

// embedded waits until n chunks have vectors of the configured model and none
// waits, and searches use it.
func (h *home) embedded(t testing.TB, n int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d chunks are embedded", n), func() string {
		st := h.status(t)
		if e := st.Embedder; e.State != "ready" || e.Backlog != 0 || e.Embedded+e.Failed < n || e.Total != n || e.Serving != "" ||
			st.Queue.Pending+st.Queue.Processing > 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
}

// meaning searches by meaning only and returns the paths found, best first.
func (h *home) meaning(t testing.TB, query string) (wire.SearchResult, []string) {
	t.Helper()
	return h.byMode(t, "meaning", query)
}

func (h *home) byMode(t testing.TB, mode, query string) (wire.SearchResult, []string) {
	t.Helper()
	res, err := h.admin().Search(context.Background(), query, "", mode, 10, false)
	must(t, err)
	var out []string
	for _, hit := range res.Results {
		out = append(out, hit.Path)
	}
	return res, out
}

// keepsSecret looks for the key everywhere it could have been put.
func (h *home) keepsSecret(t testing.TB) {
	t.Helper()
	seen := map[string]string{"the log": h.log()}
	for _, args := range [][]string{{"config"}, {"config", "--json"}, {"status"}, {"status", "--json"}, {"jobs", "--failed"}, {"model"}, {"doctor"}} {
		_, out, errOut := h.ragd(args...)
		seen["ragd "+strings.Join(args, " ")] = out + errOut
	}
	r, err := h.client(t).call("rag_status", args{})
	must(t, err)
	seen["rag_status"] = string(r.Data) + fmt.Sprint(r.Content)
	must(t, filepath.WalkDir(h.data(), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		seen[path] = string(data)
		return err
	}))
	for where, text := range seen {
		if strings.Contains(text, secret) {
			t.Errorf("the key is in %s", where)
		}
	}
}

func TestAServerEmbedsWhatItIsAskedTo(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	s.Fault = func(w http.ResponseWriter, r embedtest.Request) bool {
		for _, in := range r.Input {
			if strings.Contains(in, "cursed") {
				http.Error(w, `{"error":{"message":"cannot embed this for `+secret+`"}}`, http.StatusBadRequest)
				return true
			}
		}
		return false
	}
	h := newHome(t, serverEnv(s.URL, "model-a")...)
	for i := range 12 {
		h.write(t, fmt.Sprintf("notes/n%02d.md", i), fmt.Sprintf("# Note %d\n\nThe walrus number%d sleeps on ice.\n", i, i))
	}
	h.write(t, "notes/bad.md", "This cursed text is refused.\n")
	h.write(t, "notes/faces.md", "🎉 🎉\n")
	h.serve(t)
	h.embedded(t, 14)
	res, paths := h.meaning(t, "walrus number7")
	if res.Fallback != "" || len(paths) == 0 || paths[0] != "n07.md" || res.Results[0].Match == "keyword" {
		t.Errorf("by meaning: %v %q", paths, res.Fallback)
	}
	jobs, err := h.admin().Jobs(context.Background(), "failed", 10)
	must(t, err)
	if len(jobs.Jobs) != 1 || jobs.Jobs[0].Path != "bad.md" || jobs.Jobs[0].Stage != "embed" || !strings.Contains(jobs.Jobs[0].Message, "cannot embed this") {
		t.Errorf("parked: %+v", jobs.Jobs)
	}
	h.finds(t, "notes", "cursed", "bad.md")
	for _, r := range s.Seen() {
		if r.Model != "model-a" || r.Authorization != "Bearer "+secret || r.Dimensions != nil {
			t.Fatalf("asked for %+v", r)
		}
	}
	if st := h.status(t).Embedder; st.Model != "model-a" || st.Dimension != 48 || st.Failed != 1 {
		t.Errorf("%+v", st)
	}
	if out := h.ok(t, "model"); !strings.Contains(out, "model-a") || !strings.Contains(out, "48") {
		t.Errorf("ragd model says %s", out)
	}
	h.keepsSecret(t)
}

func TestADaemonStartsWithoutItsServerAndGoesOnByItself(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	must(t, l.Close())
	h := newHome(t, serverEnv("http://"+address+"/v1", "m")...)
	for i := range 5 {
		h.write(t, fmt.Sprintf("notes/n%d.md", i), fmt.Sprintf("The walrus of day%d.\n", i))
	}
	h.serve(t)
	h.finds(t, "notes", "walrus", "n0.md", "n1.md", "n2.md", "n3.md", "n4.md")
	eventually(t, "the status says what is wrong", func() string {
		if e := h.status(t).Embedder; e.State != "paused" || e.Backlog != 5 || e.ETASeconds != 0 || !strings.Contains(e.Reason, "cannot be reached") {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	type fresh struct {
		Freshness struct {
			Vectors int `json:"pending_vectors"`
		}
		Fallback string
	}
	f, err := get[fresh](h.client(t), "rag_search", args{"query": "walrus"})
	must(t, err)
	if f.Freshness.Vectors != 5 || f.Fallback == "" {
		t.Errorf("rag_search says %+v", f)
	}
	if out := h.ok(t, "search", "walrus"); !strings.Contains(out, "found by keyword only so far: 5 chunks") {
		t.Errorf("ragd search says %s", out)
	}
	if out := h.ok(t, "status"); !strings.Contains(out, "0 of 5 chunks embedded, 5 waiting") {
		t.Errorf("ragd status says %s", out)
	}
	r, err := h.client(t).call("rag_status", args{})
	must(t, err)
	if !strings.Contains(r.Content[0].Text, "backlog 5 of 5 chunks") && !strings.Contains(r.Content[0].Text, "5 of 5") {
		t.Errorf("rag_status says %s", r.Content[0].Text)
	}
	if _, out, _ := h.ragd("doctor"); !strings.Contains(out, "search is by keyword for what has no vectors") {
		t.Errorf("ragd doctor says %s", out)
	}
	embedtest.NewServerAt(t, address, 48)
	h.embedded(t, 5)
	if _, paths := h.meaning(t, "day3"); len(paths) == 0 || paths[0] != "n3.md" {
		t.Errorf("by meaning: %v", paths)
	}
	if q := h.status(t).Queue; q.Failed != 0 {
		t.Errorf("the outage parked %d jobs", q.Failed)
	}
	h.keepsSecret(t)
}

func TestAServerThatHangsHoldsUpNoSearch(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	release := make(chan struct{})
	var hangs atomic.Bool
	s.Fault = func(http.ResponseWriter, embedtest.Request) bool {
		if hangs.Load() {
			<-release
		}
		return false
	}
	defer close(release)
	h := newHome(t, serverEnv(s.URL, "m", "EMBEDDINGS_TIMEOUT_MS=600000")...)
	h.write(t, "notes/a.md", "The walrus sleeps.\n")
	h.serve(t)
	h.embedded(t, 1)
	hangs.Store(true)
	h.write(t, "notes/b.md", "A second walrus.\n")
	h.finds(t, "notes", "walrus", "a.md", "b.md") // each search would wait ten minutes
	res, _ := h.meaning(t, "walrus")
	if !strings.Contains(res.Fallback, "has not answered") || len(res.Results) != 2 {
		t.Errorf("%q, %d hits", res.Fallback, len(res.Results))
	}
	if e := h.status(t).Embedder; e.Backlog != 1 {
		t.Errorf("%+v", e)
	}
}

func TestARenameOfAThousandFilesEmbedsNothing(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	h := newHome(t, serverEnv(s.URL, "m")...)
	const n = 1000
	paths := h.many(t, "old", n, func(i int) string { return fmt.Sprintf("# Title %d\n\nThe text of file%d.\n", i, i) })
	h.serve(t)
	h.embedded(t, n)
	before := len(s.Inputs())
	must(t, os.MkdirAll(h.path("new"), 0o755))
	for i, p := range paths {
		must(t, os.Rename(h.path("old/"+p), h.path(fmt.Sprintf("new/renamed-%04d.md", i))))
	}
	eventually(t, "all are in under their new names", func() string {
		if got := len(h.indexed(t, "new")); got != n {
			return fmt.Sprintf("%d", got)
		}
		return ""
	})
	h.embedded(t, n)
	if after := s.Inputs(); len(after) != before {
		t.Errorf("%d texts were embedded, such as %q", len(after)-before, after[before])
	}
	if _, paths := h.meaning(t, "file77 Title"); len(paths) == 0 || paths[0] != "renamed-0077.md" {
		t.Errorf("by meaning: %v", paths)
	}
}
