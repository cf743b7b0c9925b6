package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"ragd/internal/config"
	"ragd/internal/usock"
	"ragd/internal/wire"
)

func TestWithoutADaemonEveryCommandSaysHowToStartOne(t *testing.T) {
	b := newBox(t)
	for _, args := range [][]string{
		{"search", "boiler"}, {"status"}, {"jobs"}, {"retry", "1"}, {"retry", "--all"}, {"reindex"}, {"pause"}, {"resume", "notes"}, {"ignored", "/x"}, {"reload"}, {"mcp"}, {"status", "--json"},
	} {
		b.fails(exitNoDaemon, "ragd serve", args...)
	}
}

func TestACommandLineThatIsWrongIsRefusedByName(t *testing.T) {
	b := newBox(t)
	for want, args := range map[string][]string{
		`"serch"`:                 {"serch"},
		"--nope":                  {"status", "--nope"},
		"--top is 0":              {"search", "x", "--top", "0"},
		`--mode is "fast"`:        {"search", "x", "--mode", "fast"},
		"needs a query":           {"search", "  "},
		"--limit is 5000":         {"jobs", "--limit", "5000"},
		`"abc"`:                   {"retry", "abc"},
		"ids of failed":           {"retry"},
		"or --all":                {"retry", "1", "--all"},
		"one folder":              {"add"},
		"one name":                {"remove", "a", "b"},
		"takes no argument":       {"status", "x"},
		"contradict":              {"jobs", "--failed", "--state", "pending"},
		"SCAN_INTERVAL":           {"status", "--log-level", "loud", "--config", "/none"},
		"two different questions": {"config", "--keys", "--path"},
	} {
		if want == "SCAN_INTERVAL" {
			continue
		}
		b.fails(exitUsage, want, args...)
	}
	t.Setenv("SCAN_INTERVAL", "often")
	b.fails(exitUsage, `SCAN_INTERVAL is "often"; allowed: 0 (off)`, "status")
	b.fails(exitUsage, "SCAN_INTERVAL", "serve")
}

func TestHelpAndVersionGoToStandardOutput(t *testing.T) {
	b := newBox(t)
	if out := b.ok("--help"); !strings.Contains(out, "Exit codes:") || strings.Contains(out, "extract-worker") {
		t.Error(out)
	}
	if out := b.ok("version"); !strings.HasPrefix(out, "ragd ") || len(out) < 7 {
		t.Errorf("%q", out)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out := b.ok("completion", shell); len(out) < 100 {
			t.Errorf("%s: %q", shell, out)
		}
	}
}

func TestSearchShowsCitationsAndNothingThatATerminalActsOn(t *testing.T) {
	b := newBox(t)
	d := b.daemon()
	d.answers["GET /search"] = wire.SearchResult{
		Results: []wire.Hit{{
			KB: "notes", Path: "a\x1b[31m.md", Title: "House", Headings: []string{"House", "Heating"}, Lines: wire.Lines{First: 3, Last: 5},
			Page: 2, Score: .834, Match: "keyword", Content: "The boiler\n is\tserviced \x07 by \u202eNordheim.",
		}, {KB: "n", Path: "�", PathBytes: []byte("\xff"), Headings: []string{}}},
		Freshness: wire.Freshness{Pending: 1234, Failed: 1, Degraded: []string{"kbs: polled"}},
	}
	out := b.ok("search", "who", "services", "--", "--error-on-warnings")
	if !d.was("GET /search?query=who+services+--error-on-warnings&top_k=10") {
		t.Errorf("asked %q", d.asked)
	}
	for _, want := range []string{
		`1. notes/a\x1b[31m.md:3-5 p.2  (0.83 keyword)`, "House › Heating", `The boiler is serviced \a by \u202eNordheim.`, `2. n/\xff  (`,
		"not in yet: 1,234 pending, 1 failed", "may be out of date: kbs: polled",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\x07\u202e") {
		t.Errorf("%q", out)
	}
	if out := b.ok("search", "x", "--full", "--kb", "a,b", "-n", "3", "--mode", "keyword", "--explain"); !strings.Contains(out, "| ") || !d.was("GET /search?explain=true&kb=a%2Cb&mode=keyword&query=x&top_k=3") {
		t.Errorf("asked %q\n%s", d.asked, out)
	}
	var res wire.SearchResult
	if err := json.Unmarshal([]byte(b.ok("search", "x", "--json")), &res); err != nil || len(res.Results) != 2 {
		t.Errorf("%v %+v", err, res)
	}
	d.answers["GET /search"] = wire.SearchResult{Reason: "nothing is indexed yet; 3 pending"}
	if out := b.ok("search", "x"); out != "nothing is indexed yet; 3 pending\n" {
		t.Errorf("%q", out)
	}
}

func TestStatusIsATableAPersonCanRead(t *testing.T) {
	b := newBox(t)
	d := b.daemon()
	d.answers["GET /admin/status"] = wire.Status{
		Version: "1.2", PID: 7, UptimeSeconds: 90061, Phase: "warming_up", Documents: 1, Chunks: 12345, Queue: wire.Queue{Pending: 3},
		ETASeconds: 75, Embedder: wire.Embedder{State: "off"}, Index: wire.Index{Path: "/i.db", Bytes: 5 << 20},
		Watchers: []wire.Watcher{{Dir: "/kbs", Mode: "degraded", Watches: 9, Reason: "limit", Advice: "raise it"}}, Warnings: []string{"w1"},
	}
	d.answers["GET /admin/kbs"] = wire.KBs{KBs: []wire.KB{
		{Name: "日本", Documents: 1, Available: true, Paused: true}, {Name: "notes", Documents: 1234567, Reason: "not mounted"},
	}}
	out := b.ok("status")
	for _, want := range []string{"ragd 1.2 (pid 7), up 1d 1h, warming up", "3 pending", "about 1m 15s left", "12,345 chunks in 1 document, 5.0 MiB", "warning    w1", "1,234,567", "unavailable: not mounted", "paused", "raise it"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// Columns line up, wide characters included.
	col := -1
	for line := range strings.Lines(out) {
		for _, word := range []string{"DOCUMENTS", "paused", "1,234,567"} {
			if i := strings.Index(line, word); i >= 0 && word != "paused" {
				end := cellWidth(line[:i+len(word)])
				if col >= 0 && end != col {
					t.Errorf("column ends at %d and %d in\n%s", col, end, out)
				}
				col = end
			}
		}
	}
	var st statusJSON
	if err := json.Unmarshal([]byte(b.ok("status", "--json")), &st); err != nil || st.PID != 7 || len(st.List) != 2 {
		t.Errorf("%v %+v", err, st)
	}
	d.answers["GET /admin/kbs"] = wire.KBs{}
	if out := b.ok("status"); !strings.Contains(out, "ragd add FOLDER") {
		t.Error(out)
	}
}

func TestJobsAndRetry(t *testing.T) {
	b := newBox(t)
	d := b.daemon()
	d.answers["GET /admin/jobs"] = wire.Jobs{Queue: wire.Queue{Failed: 2}, Total: 9, Jobs: []wire.Job{
		{ID: 5, KB: "notes", Path: "x.pdf", State: "failed", Stage: "extract", Message: "the file\nis encrypted", Hint: "remove the password", Attempts: 3},
		{ID: 6, KB: "notes", Path: "y.md", State: "pending", Reason: "new", NextTry: time.Now().Add(90 * time.Second)},
	}}
	out := b.ok("jobs", "--failed")
	for _, want := range []string{"queue: 0 pending, 0 in work, 2 failed", "notes/x.pdf", "the file is encrypted (remove the password)", "and 7 more", "ragd retry ID", "in 1m"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !d.was("GET /admin/jobs?limit=100&state=failed") {
		t.Errorf("%q", d.asked)
	}
	if out := b.ok("retry", "5", "6"); out != "2 files queued again\n" || !d.was("POST /admin/jobs/6/retry") {
		t.Errorf("%q %q", out, d.asked)
	}
	d.answers["POST /admin/jobs/retry"] = wire.Retried{Retried: 1}
	if out := b.ok("retry", "--all"); out != "1 file queued again\n" {
		t.Errorf("%q", out)
	}
	d.fail("POST /admin/jobs/7/retry", 404, "job_not_found", "there is no job 7", "list them")
	b.fails(exitNotFound, "ragd: there is no job 7 (job_not_found)\n  list them\n", "retry", "7")
	d.fail("POST /admin/jobs/8/retry", 409, "job_not_failed", "job 8 is \x1b[2Jpending", "")
	b.fails(exitFailed, `job 8 is \x1b[2Jpending (job_not_failed)`, "retry", "8")
}

func TestReindexPauseResumeReloadIgnored(t *testing.T) {
	b := newBox(t)
	d := b.daemon()
	d.answers["POST /admin/reindex"] = wire.ReindexCounts{Added: 1, Enqueued: 1}
	if out := b.ok("reindex", "--force", "--kb", "a b"); !strings.HasPrefix(out, "1 new, 0 changed") || !d.was("POST /admin/reindex?force=true&kb=a+b") {
		t.Errorf("%q %q", out, d.asked)
	}
	if out := b.ok("pause"); out != "indexing is paused\n" || !d.was("POST /admin/pause") {
		t.Errorf("%q", out)
	}
	if out := b.ok("resume", "notes"); out != "indexing of notes is resumed\n" || !d.was("POST /admin/resume?kb=notes") {
		t.Errorf("%q", out)
	}
	d.answers["POST /admin/reload"] = wire.Reloaded{Applied: []string{"exclude"}, NeedRestart: []string{"db_path"}}
	if out := b.ok("reload"); out != "in force: exclude\nneeds a restart: db_path\n" {
		t.Errorf("%q", out)
	}
	d.answers["GET /admin/ignored"] = wire.Verdict{Path: "/k/a.log", Code: "ignored_rule", Reason: "an ignore rule says so", Rule: "docs/.gitignore:3: *.log"}
	if out := b.ok("ignored", "/k/a.log"); out != "/k/a.log: not indexed (ignored_rule): an ignore rule says so [docs/.gitignore:3: *.log]\n" {
		t.Errorf("%q", out)
	}
	for _, args := range [][]string{{"reindex"}, {"pause"}, {"resume"}, {"reload"}, {"ignored", "/x"}, {"jobs"}, {"retry", "--all"}, {"version"}, {"config"}, {"config", "--keys"}, {"config", "--path"}, {"doctor"}} {
		d.answers["GET /admin/check"] = wire.Check{OK: true}
		if out := b.ok(append(args, "--json")...); !json.Valid([]byte(out)) {
			t.Errorf("%q: %q", args, out)
		}
	}
}

func TestAddAndRemoveEditTheFileAndTellTheDaemon(t *testing.T) {
	b := newBox(t)
	notes := b.path("my notes")
	must(t, os.Mkdir(notes, 0o700))
	out := b.ok("add", notes)
	if !strings.Contains(out, "knowledge base my notes") || !strings.Contains(out, "next start") {
		t.Errorf("%q", out)
	}
	file := b.path(".config/ragd/config.toml")
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), `dir = "`+notes+`"`) {
		t.Errorf("%s %v", data, err)
	}
	b.fails(exitUsage, "my notes", "add", notes)
	b.fails(exitNotFound, "folder_not_found", "add", b.path("nowhere"))
	b.fails(exitUsage, "not a folder", "add", file)
	b.fails(exitUsage, `mount.name is "a/b"`, "add", b.home, "--name", "a/b")

	d := b.daemon()
	d.answers["POST /admin/reload"] = wire.Reloaded{Applied: []string{"mount"}}
	var e edited
	if err := json.Unmarshal([]byte(b.ok("remove", "my notes", "--json")), &e); err != nil || !e.Applied || e.File != file {
		t.Errorf("%+v %v", e, err)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Errorf("the folder is gone: %v", err)
	}
	b.fails(exitNotFound, "mount_not_found", "remove", "my notes")
	d.fail("POST /admin/reload", 400, "config_invalid", "scan_interval is wrong", "")
	b.fails(exitUsage, "the running daemon did not take it up: scan_interval is wrong", "add", notes)
}

func TestConfigTellsWhereEachValueComesFrom(t *testing.T) {
	b := newBox(t)
	t.Setenv("SCAN_INTERVAL", "60")
	out := b.ok("config", "--log-level", "warn")
	for _, want := range []string{"env SCAN_INTERVAL", "flag --log-level", "no settings file", "note: no root is configured"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	keys := b.ok("config", "--keys")
	for _, k := range config.Keys() {
		if !strings.Contains(keys, k.Name) || !strings.Contains(keys, k.Env) {
			t.Errorf("%s is not told", k.Name)
		}
	}
	if out := b.ok("config", "--path"); out != b.path(".config/ragd/config.toml")+"\n" {
		t.Errorf("%q", out)
	}
}

func TestDoctorWorksWithAndWithoutADaemon(t *testing.T) {
	b := newBox(t)
	if out := b.ok("doctor"); !strings.Contains(out, "there is no index yet") || !strings.Contains(out, "all is well") {
		t.Errorf("%s", out)
	}
	cfg, err := config.Load(config.FromOS("", nil))
	must(t, err)
	lock, err := usock.Lock(cfg.LockPath(), "the index")
	must(t, err)
	b.fails(exitFailed, "already has the index "+cfg.DBPath, "doctor")
	must(t, lock.Close())

	d := b.daemon()
	d.answers["GET /admin/check"] = wire.Check{Problems: []wire.Problem{{Part: "index", Code: "fts_mismatch", Detail: "3 chunks are not in the index", Repairable: true}}}
	code, out, errOut := b.ragd("doctor")
	if code != exitFoundFault || errOut != "" || !strings.Contains(out, "problem  index: 3 chunks are not in the index (fts_mismatch)\n         ragd doctor --repair mends it") {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	if !d.was("GET /admin/check?deep=true") {
		t.Errorf("%q", d.asked)
	}
	d.answers["POST /admin/repair"] = wire.Check{OK: true, Problems: []wire.Problem{{Part: "index", Code: "fts_mismatch", Detail: "x", Repaired: true}}}
	if out := b.ok("doctor", "--repair"); !strings.Contains(out, "mended") || !strings.Contains(out, "all is well") {
		t.Errorf("%s", out)
	}
	must(t, os.Chmod(b.adminSocket(), 0o666))
	if code, out, _ := b.ragd("doctor", "--repair"); code != exitFoundFault || !strings.Contains(out, "socket_open") {
		t.Errorf("%d %s", code, out)
	}
}

func TestCompletionOffersNames(t *testing.T) {
	b := newBox(t)
	if out, code := completeArgs(b, "search", "--kb", ""); code != 0 || !strings.HasPrefix(out, ":4") {
		t.Errorf("without a daemon: %d %q", code, out)
	}
	d := b.daemon()
	d.answers["GET /admin/kbs"] = wire.KBs{KBs: []wire.KB{{Name: "notes"}, {Name: "work"}}}
	if out, _ := completeArgs(b, "search", "--kb", ""); !strings.HasPrefix(out, "notes\nwork\n") {
		t.Errorf("%q", out)
	}
	if out, _ := completeArgs(b, "pause", ""); !strings.HasPrefix(out, "notes\nwork\n") {
		t.Errorf("%q", out)
	}
}

func completeArgs(b *box, args ...string) (string, int) {
	code, out, _ := b.ragd(append([]string{"__complete"}, args...)...)
	return out, code
}

func TestTextForPeople(t *testing.T) {
	for in, want := range map[string]string{"plain ü 日本": "plain ü 日本", "a\nb": `a\nb`, "\xffx": `\xffx`, "\u200f": `\u200f`, "\u009b31m": `\u009b31m`, "'": "'", "\x7f": `\x7f`} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 1023 << 20: "1.0 GiB", 1 << 50: "1024.0 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := countText(n); got != want {
			t.Errorf("countText(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 59 * time.Second: "59s", time.Hour: "1h", 25 * time.Hour: "1d 1h", 61 * time.Second: "1m 1s", 86401 * time.Second: "1d"} {
		if got := durationText(d); got != want {
			t.Errorf("durationText(%s) = %q, want %q", d, got, want)
		}
	}
	if got := oneLine(strings.Repeat("é ", 300), 10); got != "é é é é é…" {
		t.Errorf("%q", got)
	}
}
