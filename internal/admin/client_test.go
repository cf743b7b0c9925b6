package admin_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/fault"
	"ragd/internal/search"
	"ragd/internal/wire"
)

func TestStatusCarriesTheIndexsCounters(t *testing.T) {
	r := newRig(t)
	r.start()
	st, err := r.client.Status(t.Context())
	must(t, err)
	if st.PID != 42 || st.KBCount != 3 || st.Documents != 6 || st.Chunks != 15 || st.Queue != (wire.Queue{Pending: 3, Failed: 3}) || st.ETASeconds != 2 {
		t.Errorf("%+v", st)
	}
	if st.Watchers == nil || st.Agents == nil {
		t.Error("lists must not be null")
	}
}

func TestHealthNamesThePartThatIsDegraded(t *testing.T) {
	r := newRig(t)
	r.start()
	h, err := r.client.Health(t.Context())
	must(t, err)
	if h.Status != "ok" || h.APIVersion != wire.APIVersion || h.PID != 42 {
		t.Errorf("%+v", h)
	}
	r.index.probeErr = errors.New("SELECT secret FROM t: disk I/O error")
	h, err = r.client.Health(t.Context())
	must(t, err)
	if h.Status != "degraded" || h.Degraded["index"] == "" || strings.Contains(h.Degraded["index"], "SELECT") {
		t.Errorf("%+v", h)
	}
}

func TestKBsAreListedWithTheirState(t *testing.T) {
	r := newRig(t)
	r.start()
	must(t, os.RemoveAll(r.mount))
	kbs, err := r.client.KBs(t.Context())
	must(t, err)
	if len(kbs) != 3 || kbs[0].Name != "mounted" || kbs[0].Available || kbs[0].Reason == "" || !kbs[1].Available || !kbs[2].Paused {
		t.Errorf("%+v", kbs)
	}
}

func TestDocumentsArePagedInPathOrderWhateverTheirBytes(t *testing.T) {
	r := newRig(t)
	r.start()
	var paths []string
	cursor := ""
	for {
		page, err := r.client.Documents(t.Context(), "notes", cursor, 1)
		must(t, err)
		if page.Total != 3 || len(page.Documents) != 1 {
			t.Fatalf("%+v", page)
		}
		d := page.Documents[0]
		if len(d.PathBytes) > 0 {
			paths = append(paths, string(d.PathBytes))
		} else {
			paths = append(paths, d.Path)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if strings.Join(paths, "|") != "a.md|b\xff.md|c ü?#%.md" {
		t.Errorf("%q", paths)
	}
	// Each of these names arrives as it was sent.
	for _, p := range paths {
		v, err := r.client.Document(t.Context(), "notes", p, 0, 0)
		must(t, err)
		if v.PathBytes != nil && string(v.PathBytes) != p || v.PathBytes == nil && v.Path != p {
			t.Errorf("asked for %q, got %q", p, v.Path)
		}
		_, err = r.client.DeleteDocument(t.Context(), "notes", p)
		must(t, err)
		if !r.work.has("forget notes/" + p) {
			t.Errorf("%q did not arrive as it was sent: %q", p, r.work.calls)
		}
	}
}

func TestPagesOfADocumentGiveItsTextBack(t *testing.T) {
	r := newRig(t)
	r.start()
	var b strings.Builder
	for offset := 0; ; offset += 4 {
		v, err := r.client.Document(t.Context(), "notes", "a.md", offset, 4)
		must(t, err)
		b.WriteString(v.Content)
		if v.TotalChars != 10 || len(v.Borders) == 0 || len(v.Revisions) != 1 {
			t.Errorf("at %d: %+v", offset, v)
		}
		if !v.Truncated {
			break
		}
	}
	if b.String() != r.index.texts["a.md"] {
		t.Errorf("%q", b.String())
	}
	v, err := r.client.Document(t.Context(), "notes", "a.md", 0, 4)
	must(t, err)
	if !v.Stale || len(v.Borders) != 1 {
		t.Errorf("the file is not on disk, so the text is stale, and one chunk lies in the page: %+v", v)
	}
}

func TestAddedDocumentsAreOnDiskAndQueued(t *testing.T) {
	r := newRig(t)
	r.start()
	a, err := r.client.AddDocument(t.Context(), "notes", "deep/new.md", "# Hi\n")
	must(t, err)
	if !a.Queued || a.Replaced || !r.work.has("enqueue notes/deep/new.md") {
		t.Errorf("%+v %q", a, r.work.calls)
	}
	data, err := os.ReadFile(filepath.Join(r.root, "notes/deep/new.md"))
	if err != nil || string(data) != "# Hi\n" {
		t.Errorf("%q %v", data, err)
	}
	a, err = r.client.AddDocument(t.Context(), "notes", "deep/new.md", "")
	if err != nil || !a.Replaced {
		t.Errorf("%+v %v", a, err)
	}
	d, err := r.client.DeleteDocument(t.Context(), "notes", "deep/new.md")
	if err != nil || !d.Existed {
		t.Errorf("%+v %v", d, err)
	}
	d, err = r.client.DeleteDocument(t.Context(), "notes", "deep/new.md")
	if err != nil || d.Existed {
		t.Errorf("what is not there did not exist: %+v %v", d, err)
	}
	_, err = r.client.AddDocument(t.Context(), "notes", "big.md", strings.Repeat("x", maxDoc+1))
	wantCode(t, err, fault.Invalid, "too_large")
	_, err = r.client.AddDocument(t.Context(), "notes", "big.md", strings.Repeat("x", 3*maxDoc))
	wantCode(t, err, fault.Invalid, "too_large")
}

func TestPathsThatLeadOutAreRefusedAlike(t *testing.T) {
	r := newRig(t)
	r.start()
	must(t, os.Symlink("/etc", filepath.Join(r.root, "notes", "up")))
	for _, p := range []string{"../work/x.md", "a/../../x.md", "/etc/passwd", "..", "a//b.md", "./../x", "a/\x00b", "."} {
		var answers []string
		for _, err := range []error{
			second(r.client.AddDocument(t.Context(), "notes", p, "x")),
			second(r.client.DeleteDocument(t.Context(), "notes", p)),
			second(r.client.Document(t.Context(), "notes", p, 0, 0)),
			second(r.client.Bump(t.Context(), "notes", p)),
		} {
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.Invalid || strings.Contains(f.Message, r.root) {
				t.Errorf("%q: %v", p, err)
				continue
			}
			answers = append(answers, f.Code)
		}
		for _, a := range answers {
			if a != answers[0] {
				t.Errorf("%q gets different answers: %q", p, answers)
			}
		}
	}
	_, err := r.client.AddDocument(t.Context(), "notes", "up/x.md", "x")
	if err == nil {
		t.Error("a symlinked parent let a file out")
	}
	for _, kb := range []string{"..", "a/b", ".", ""} {
		if _, err := r.client.AddDocument(t.Context(), kb, "x.md", "x"); err == nil {
			t.Errorf("a document was added to %q", kb)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDeletingAKBSparesTheFilesOfAMount(t *testing.T) {
	r := newRig(t)
	r.start()
	file := filepath.Join(r.mount, "precious.md")
	must(t, os.WriteFile(file, []byte("x"), 0o600))
	d, err := r.client.DeleteKB(t.Context(), "mounted")
	must(t, err)
	if !d.Existed || d.Documents != 7 || !r.work.has("forget kb mounted") {
		t.Errorf("%+v", d)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a mounted file is gone: %v", err)
	}
	_, err = r.client.DeleteKB(t.Context(), "work")
	must(t, err)
	if _, err := os.Stat(filepath.Join(r.root, "work")); err == nil {
		t.Error("the folder is still there")
	}
	_, err = r.client.DeleteKB(t.Context(), "nowhere")
	wantCode(t, err, fault.NotFound, "kb_not_found")
}

func TestSearchPassesTheScopeAndSaysWhyItIsEmpty(t *testing.T) {
	r := newRig(t)
	r.start()
	r.index.kbs = append(r.index.kbs, r.index.kbs[0])
	r.index.kbs[3].ID, r.index.kbs[3].Name = 4, "a,b"
	for kb, want := range map[string][]int64{"": nil, "work": {2}, "notes, work,notes": {1, 2}, "a,b": {4}} {
		_, err := r.client.Search(t.Context(), "boiler", kb, "keyword", 3, true)
		must(t, err)
		req := r.search.request()
		if len(req.KBs) != len(want) || req.TopK != 3 || req.Mode != search.ModeKeyword || !req.Explain {
			t.Errorf("%q: %+v", kb, req)
		}
		for i, id := range want {
			if req.KBs[i] != id {
				t.Errorf("%q: %v", kb, req.KBs)
			}
		}
	}
	res, err := r.client.Search(t.Context(), "boiler", "", "", 0, false)
	must(t, err)
	if res.Reason == "" || res.Freshness.Pending != 2 || res.Freshness.Failed != 1 || res.Results == nil {
		t.Errorf("%+v", res)
	}
	r.search.hits = []search.Hit{{KB: "notes", Path: "a.md", FirstLine: 3, LastLine: 4, Score: .5, Match: "keyword", Content: "\x1b[31m"}}
	r.daemon.watchers = []wire.Watcher{{Root: "kbs", Mode: "degraded", Reason: "watch limit"}}
	res, err = r.client.Search(t.Context(), "boiler", "", "", 0, false)
	must(t, err)
	if len(res.Results) != 1 || res.Results[0].Lines != (wire.Lines{First: 3, Last: 4}) || res.Results[0].Content != "\x1b[31m" || len(res.Freshness.Degraded) != 1 {
		t.Errorf("%+v", res)
	}
	_, err = r.client.Search(t.Context(), "boiler", "work,nowhere", "", 0, false)
	wantCode(t, err, fault.NotFound, "kb_not_found")
	_, err = r.client.Search(t.Context(), " ", "", "", 0, false)
	wantCode(t, err, fault.Invalid, "query_required")
	_, err = r.client.Search(t.Context(), strings.Repeat("ü", 4097), "", "", 0, false)
	wantCode(t, err, fault.Invalid, "bad_parameter")
	_, err = r.client.Search(t.Context(), strings.Repeat("ü", 4096), "", "", 0, false)
	must(t, err)
}

func TestJobsAreListedRetriedAndIgnored(t *testing.T) {
	r := newRig(t)
	r.start()
	jobs, err := r.client.Jobs(t.Context(), "failed", 10)
	must(t, err)
	if len(jobs.Jobs) != 2 || jobs.Queue.Failed != 3 {
		t.Errorf("%+v", jobs)
	}
	first, err := r.client.JobsAfter(t.Context(), "failed", 0, 1)
	must(t, err)
	second, err := r.client.JobsAfter(t.Context(), "failed", first.Jobs[0].ID, 1)
	must(t, err)
	if first.Jobs[0].ID <= second.Jobs[0].ID || second.Total != 2 {
		t.Errorf("page by page there are %+v and %+v", first, second)
	}
	busy, err := r.client.Jobs(t.Context(), "processing", 10)
	must(t, err)
	if len(busy.Jobs) != 2 || busy.Jobs[1].Stage != "chunk" || busy.Jobs[0].Stage != "" {
		t.Errorf("jobs in work are in the stages %+v; their last failures are of an earlier attempt", busy.Jobs)
	}
	must(t, r.client.RetryJob(t.Context(), 1))
	wantCode(t, r.client.RetryJob(t.Context(), 2), fault.Conflict, "job_not_failed")
	wantCode(t, r.client.RetryJob(t.Context(), 99), fault.NotFound, "job_not_found")
	wantCode(t, r.client.RetryJob(t.Context(), -1), fault.Invalid, "bad_parameter")
	n, err := r.client.RetryAll(t.Context())
	if err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	ok, err := r.client.Bump(t.Context(), "notes", "b\xff.md")
	if err != nil || !ok || !r.work.has("bump notes/b\xff.md") {
		t.Errorf("%v %v %q", ok, err, r.work.calls)
	}

	ignore := filepath.Join(r.root, "notes", ".ragdignore")
	must(t, os.WriteFile(ignore, []byte("*.log"), 0o600))
	for range 2 { // the second time the rule is there already
		ig, err := r.client.IgnoreJob(t.Context(), 1)
		must(t, err)
		if ig.Rule != `/bad\*.md` {
			t.Errorf("%+v", ig)
		}
	}
	if data, _ := os.ReadFile(ignore); string(data) != "*.log\n/bad\\*.md\n" {
		t.Errorf("%q", data)
	}
	if !r.work.has("hint notes/.ragdignore") {
		t.Errorf("nobody was told: %q", r.work.calls)
	}
	must(t, os.WriteFile(filepath.Join(r.root, "notes", "bad*.md"), nil, 0o600))
	v, err := r.client.Ignored(t.Context(), filepath.Join(r.root, "notes", "bad*.md"))
	if err != nil || v.Code != "ignored_rule" || !strings.Contains(v.Rule, ".ragdignore:2") {
		t.Errorf("%+v %v", v, err)
	}
	_, err = r.client.IgnoreJob(t.Context(), 3)
	wantCode(t, err, fault.Conflict, "ignore_impossible")
	_, err = r.client.IgnoreJob(t.Context(), 99)
	wantCode(t, err, fault.NotFound, "job_not_found")
	must(t, os.Remove(ignore))
	must(t, os.Symlink("/etc/hosts", ignore))
	_, err = r.client.IgnoreJob(t.Context(), 1)
	wantCode(t, err, fault.Conflict, "ignore_not_a_file")
}

func TestTheOtherRequestsArrive(t *testing.T) {
	r := newRig(t)
	r.start()
	n, err := r.client.Reindex(t.Context(), "work", true)
	if err != nil || n.Added != 1 || !r.work.has("reindex work forced") {
		t.Errorf("%+v %v", n, err)
	}
	must(t, r.client.Pause(t.Context(), ""))
	must(t, r.client.Resume(t.Context(), "work"))
	if !r.work.has("pause ") || !r.work.has("resume work") {
		t.Errorf("%q", r.work.calls)
	}
	wantCode(t, r.client.Pause(t.Context(), "none"), fault.NotFound, "kb_not_found")
	re, err := r.client.Reload(t.Context())
	if err != nil || len(re.Applied) != 1 || re.NeedRestart == nil {
		t.Errorf("%+v %v", re, err)
	}
	r.daemon.reload = fault.New(fault.Invalid, "config_invalid", "scan_interval is 3").WithHint("see it")
	_, err = r.client.Reload(t.Context())
	wantCode(t, err, fault.Invalid, "config_invalid")
	if f, _ := fault.As(err); f.Hint != "see it" || f.Message != "scan_interval is 3" {
		t.Errorf("%+v", f)
	}
	c, err := r.client.Check(t.Context(), true)
	if err != nil || !c.OK || !c.Deep || c.Problems == nil {
		t.Errorf("%+v %v", c, err)
	}
	if _, err = r.client.Repair(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = r.client.Ignored(t.Context(), "relative")
	wantCode(t, err, fault.Invalid, "bad_path")
	_, err = r.client.Ignored(t.Context(), "/etc/passwd")
	wantCode(t, err, fault.NotFound, "outside_roots")
	v, err := r.client.Ignored(t.Context(), filepath.Join(r.root, "notes"))
	if err != nil || v.Code != "ok" {
		t.Errorf("%+v %v", v, err)
	}
}
