package config_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ragd/internal/config"
	"ragd/internal/fault"
)

// world is a machine with a home folder and nothing else.
type world struct {
	t *testing.T
	config.Sources
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	return &world{t, config.Sources{Env: map[string]string{}, Home: home, WorkDir: mkdir(t, home, "work"), UID: 1000}}
}

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (w *world) defaultFile() string { return filepath.Join(w.Home, ".config/ragd/config.toml") }

// write puts a settings file in the default place.
func (w *world) write(text string) {
	w.t.Helper()
	mkdir(w.t, filepath.Dir(w.defaultFile()))
	if err := os.WriteFile(w.defaultFile(), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() *config.Config {
	w.t.Helper()
	c, err := config.Load(w.Sources)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// refused loads and expects an error with this code that holds all words.
func (w *world) refused(code string, words ...string) {
	w.t.Helper()
	_, err := config.Load(w.Sources)
	wantFault(w.t, err, code, words...)
}

func wantFault(t *testing.T, err error, code string, words ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code {
		t.Fatalf("error is %v, want code %s", err, code)
	}
	for _, word := range words {
		if !strings.Contains(f.Message+" "+f.Hint, word) {
			t.Errorf("%q (hint %q) does not name %q", f.Message, f.Hint, word)
		}
	}
}

func TestWithoutAnythingTheDefaultsHold(t *testing.T) {
	w := newWorld(t)
	c := w.load()
	if c.ScanInterval != 300*time.Second || c.ChunkMaxChars != 3200 || c.SnippetMaxChars != 1000 ||
		c.Indexer.RetryMax != 3 || c.Indexer.StaleTimeout != 300*time.Second || c.LogLevel != slog.LevelInfo ||
		c.MaxFileBytes != 50<<20 || c.Retention.Revisions != 10 || c.Retention.Deleted != 30*24*time.Hour ||
		c.MCP.Surface != "full" || !c.Knowledge.Enabled || c.Watch.Quiet != 100*time.Millisecond || c.Watch.MaxDelay != 2*time.Second {
		t.Errorf("defaults: %+v", c)
	}
	if want := filepath.Join(w.Home, ".local/share/ragd/index.db"); c.DBPath != want {
		t.Errorf("index at %s, want %s", c.DBPath, want)
	}
	if c.Sockets.Admin != "/tmp/ragd-1000/admin.sock" || c.Sockets.MCP != "/tmp/ragd-1000/mcp.sock" {
		t.Errorf("sockets %+v", c.Sockets)
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".local")); err == nil {
		t.Error("Load made a folder")
	}
}

func TestZeroConfigurationFindsARootAndSaysSo(t *testing.T) {
	w := newWorld(t)
	inData := filepath.Join(w.Home, ".local/share/ragd/kbs")
	check := func(want string) *config.Config {
		t.Helper()
		c := w.load()
		if len(c.Roots) != 1 || c.Roots[0].Dir != want {
			t.Fatalf("roots %+v, want %s", c.Roots, want)
		}
		return c
	}
	c := check(inData)
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], inData) {
		t.Errorf("notes %q", c.Notes)
	}
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(inData); err != nil || !info.IsDir() {
		t.Errorf("the default root was not made: %v", err)
	}
	here := mkdir(t, w.WorkDir, "kbs")
	if c := check(here); len(c.Notes) != 1 || !strings.Contains(c.Notes[0], here) {
		t.Errorf("notes %q", c.Notes)
	}
	w.write("[[mount]]\ndir = \"~/notes\"\n") // mounting a folder must not lose the root
	check(here)
	w.Env["KB_ROOT"] = mkdir(t, w.Home, "mine")
	if c := check(w.Env["KB_ROOT"]); len(c.Notes) != 0 {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestXDGFoldersAreHonouredAndRelativeOnesIgnored(t *testing.T) {
	w := newWorld(t)
	w.Env["XDG_DATA_HOME"], w.Env["XDG_RUNTIME_DIR"], w.Env["XDG_CONFIG_HOME"] = "/data", "/run/user/7", "relative"
	c := w.load()
	if c.DBPath != "/data/ragd/index.db" || c.Sockets.MCP != "/run/user/7/ragd/mcp.sock" {
		t.Errorf("%s %s", c.DBPath, c.Sockets.MCP)
	}
	if p, named, err := w.FilePath(); err != nil || named || p != w.defaultFile() {
		t.Errorf("file %s %v %v", p, named, err)
	}
	w.Home = ""
	w.refused("no_home", "HOME", "XDG_CONFIG_HOME")
}

func TestStrongerSourcesWinAndAreNamed(t *testing.T) {
	w := newWorld(t)
	w.write("# settings\nscan_interval = 60\nlog_level = \"warn\"\n\n[watch]\nquiet_ms = 50\n[embeddings]\n# the model\nmodel_dir = \"~/model\"\n")
	w.Env["SCAN_INTERVAL"] = "90"
	w.Env["LOG_LEVEL"] = ""
	w.Flags = map[string][]string{"log_level": {"debug"}}
	c := w.load()
	if c.ScanInterval != 90*time.Second || c.LogLevel != slog.LevelDebug || c.Watch.Quiet != 50*time.Millisecond {
		t.Errorf("%+v", c)
	}
	if c.Embeddings.ModelDir != filepath.Join(w.Home, "model") {
		t.Errorf("model_dir %s", c.Embeddings.ModelDir)
	}
	want := map[string]string{
		"scan_interval":        "90 from env SCAN_INTERVAL",
		"log_level":            "debug from flag --log-level",
		"watch.quiet_ms":       "50 from " + w.defaultFile() + ":6",
		"embeddings.model_dir": filepath.Join(w.Home, "model") + " from " + w.defaultFile() + ":9",
		"chunk_max_chars":      "3200 from default",
	}
	for _, v := range c.Values() {
		if w, ok := want[v.Name]; ok && w != fmt.Sprintf("%s from %s", v.Value, v.Source) {
			t.Errorf("%s is %s from %s, want %s", v.Name, v.Value, v.Source, w)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

func TestAWrongValueNamesKeyValueAndWhatIsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		env, file string
		words     []string
	}{
		"word for a number":     {env: "SCAN_INTERVAL=often", words: []string{"SCAN_INTERVAL", `"often"`, "0 (off)", "5 to 604800", "seconds"}},
		"below the range":       {env: "SCAN_INTERVAL=4", words: []string{"SCAN_INTERVAL", `"4"`}},
		"negative":              {env: "SCAN_INTERVAL=-1", words: []string{"SCAN_INTERVAL", `"-1"`}},
		"overflow":              {env: "CHUNK_MAX_CHARS=99999999999999999999", words: []string{"CHUNK_MAX_CHARS", "200 to 100000"}},
		"fraction":              {env: "CHUNK_MAX_CHARS=3200.5", words: []string{"CHUNK_MAX_CHARS"}},
		"no attempts":           {env: "INDEXER_RETRY_MAX=0", words: []string{"INDEXER_RETRY_MAX", "1 to 100"}},
		"level":                 {env: "LOG_LEVEL=loud", words: []string{"LOG_LEVEL", `"loud"`, "debug, info, warn, error"}},
		"bool":                  {env: "RAGD_HIDDEN=maybe", words: []string{"RAGD_HIDDEN", "true or false"}},
		"size":                  {env: "RAGD_MAX_FILE_BYTES=5TB", words: []string{"RAGD_MAX_FILE_BYTES", "1 GiB"}},
		"extension":             {env: "TEXT_EXTENSIONS=adoc,*.x", words: []string{"TEXT_EXTENSIONS", "*.x"}},
		"surface":               {env: "RAGD_MCP_SURFACE=tiny", words: []string{"RAGD_MCP_SURFACE", "full, core"}},
		"url":                   {env: "EMBEDDINGS_BASE_URL=localhost:11434", words: []string{"EMBEDDINGS_BASE_URL", "http://"}},
		"url with password":     {env: "EMBEDDINGS_BASE_URL=http://me:pw@host/v1", words: []string{"EMBEDDINGS_BASE_URL", "password"}},
		"other user's home":     {env: "KB_ROOT=~bob/kbs", words: []string{"KB_ROOT", "~bob/kbs"}},
		"port":                  {env: "RAGD_ADMIN_ADDRESS=127.0.0.1:0", words: []string{"RAGD_ADMIN_ADDRESS"}},
		"open without key":      {env: "RAGD_ADMIN_ADDRESS=0.0.0.0:80", words: []string{"RAGD_ADMIN_ADDRESS", "admin.key", "loopback"}},
		"string in the file":    {file: "\nscan_interval = \"300\"", words: []string{"scan_interval", "config.toml:2", `"300"`, "seconds"}},
		"float in the file":     {file: "chunk_max_chars = 3e3", words: []string{"chunk_max_chars", "config.toml:1", "3000"}},
		"number for a bool":     {file: "hidden = 1", words: []string{"hidden", "config.toml:1", "true or false"}},
		"list of numbers":       {file: "text_extensions = [1]", words: []string{"text_extensions"}},
		"relative path":         {file: "db_path = \"index.db\"", words: []string{"db_path", "absolute"}},
		"mount without dir":     {file: "[[mount]]\nname = \"n\"", words: []string{"mount", "dir", "config.toml:1"}},
		"second mount is wrong": {file: "[[mount]]\nname = \"a\"\ndir = \"/a\"\n[[mount]]\ndir = \"/b\"\nname = \"a/b\"\n", words: []string{"mount.name", "config.toml:6", "a/b"}},
		"mount's bool":          {file: "[[mount]]\ndir = \"/a\"\npoll = \"yes\"", words: []string{"mount.poll", "config.toml:3"}},
		"quiet over delay":      {file: "[watch]\nquiet_ms = 3000", words: []string{"watch.max_delay_ms", "watch.quiet_ms"}},
		"one socket twice":      {file: "[sockets]\nmcp = \"/tmp/a\"\nadmin = \"/tmp/a\"", words: []string{"sockets.mcp", "sockets.admin", "/tmp/a"}},
		"section as a value":    {file: "watch = 3", words: []string{"watch", "section"}},
		"mount as a value":      {file: "mount = \"x\"", words: []string{"[[mount]]"}},
		"server without model":  {env: "EMBEDDINGS_BASE_URL=http://h/v1", words: []string{"embeddings.model"}},
		"context without model": {env: "CONTEXTUAL_CHUNKING_ENABLED=true", words: []string{"contextual_chunking.base_url"}},
		"roots twice":           {file: "kb_root = \"/a\"\n[[root]]\ndir = \"/b\"", words: []string{"kb_root", "[[root]]"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if k, v, ok := strings.Cut(c.env, "="); ok {
				w.Env[k] = v
			}
			if c.file != "" {
				w.write(c.file)
			}
			w.refused("config_invalid", c.words...)
		})
	}
}

func TestAPathOutsideOfTheFileMayBeRelativeToTheWorkingFolder(t *testing.T) {
	w := newWorld(t)
	w.Env["KB_ROOT"], w.Env["DB_PATH"] = "kbs:./more/../other", "data/index.db"
	c := w.load()
	if got := c.KBRoot().Roots; len(got) != 2 || got[0].Dir != filepath.Join(w.WorkDir, "kbs") || got[1].Dir != filepath.Join(w.WorkDir, "other") {
		t.Errorf("%+v", got)
	}
	if c.DBPath != filepath.Join(w.WorkDir, "data/index.db") {
		t.Error(c.DBPath)
	}
}

func TestASecretIsNeverShown(t *testing.T) {
	w := newWorld(t)
	w.Env["RAGD_ADMIN_KEY"] = "short-secret"
	_, err := config.Load(w.Sources)
	wantFault(t, err, "config_invalid", "RAGD_ADMIN_KEY", "16")
	if strings.Contains(err.Error(), "short-secret") {
		t.Errorf("the key is in the message: %v", err)
	}
	w.Env["RAGD_ADMIN_KEY"] = "long-enough-secret"
	for _, v := range w.load().Values() {
		if strings.Contains(v.Value, "secret") {
			t.Errorf("%s shows %q", v.Name, v.Value)
		}
	}
	delete(w.Env, "RAGD_ADMIN_KEY")
	w.write("[admin]\nkey = \"long-enough-secret\"\n")
	if err := os.Chmod(w.defaultFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := w.load().Warnings; len(got) != 1 || !strings.Contains(got[0], "chmod 600") {
		t.Errorf("warnings %q", got)
	}
}

func TestUnknownKeysAreRefusedByNameAndLine(t *testing.T) {
	for name, c := range map[string]struct{ file, word, line, near string }{
		"top":          {"log_level = \"info\"\nscan_intervall = 3\n", "scan_intervall", ":2", "scan_interval"},
		"section":      {"[watch]\n\n# ms\nquiet = 3\n", "watch.quiet", ":4", "watch.quiet_ms"},
		"whole":        {"\n\n[wtach]\nquiet_ms = 3\n", "wtach", ":3", ""},
		"mount":        {"[[mount]]\ndir=\"/a\"\n[[mount]]\ndir=\"/b\"\nwriteable = true\n", "mount.writeable", ":5", "mount.writable"},
		"after string": {"exclude = [\"\"\"\n[a]\nb = 1\n\"\"\"]\nfoo = 1\n", "foo", ":5", ""},
		"quoted":       {"\"sc an\" = 1\n", "sc an", ":1", ""},
		"dotted":       {"watch.quite_ms = 1\n", "watch.quite_ms", ":1", "watch.quiet_ms"},
		"env spelling": {"indexer_concurency = 1\n", "indexer_concurency", ":1", "indexer_concurrency"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(c.file)
			w.refused("config_unknown_key", c.word, w.defaultFile()+c.line, c.near)
		})
	}
}

func TestAFileThatIsNoTOMLIsRefusedWithTheLine(t *testing.T) {
	w := newWorld(t)
	w.write("log_level = \"info\"\nscan_interval 300\n")
	w.refused("config_syntax", w.defaultFile()+":2")
	w.write(strings.Repeat("[", 100_000))
	w.refused("config_syntax", "nested")
	w.write("exclude = " + strings.Repeat("[", 50) + strings.Repeat("]", 50))
	w.refused("config_syntax", "nested")
	w.write(strings.Repeat("# long\n", 60_000))
	w.refused("config_too_large")
}

func TestAFileThatCannotBeReadIsAnErrorAndAMissingOneOnlyWhenNamed(t *testing.T) {
	w := newWorld(t)
	w.load()
	w.Env["RAGD_CONFIG"] = "~/none.toml"
	w.refused("config_missing", filepath.Join(w.Home, "none.toml"))
	w.File = mkdir(t, w.Home, "folder")
	w.refused("config_unreadable", w.File, "not a regular file")
}

func TestRootsAndMounts(t *testing.T) {
	w := newWorld(t)
	notes, other := mkdir(t, w.Home, "notes"), mkdir(t, w.Home, "x/notes")
	w.write("[[root]]\ndir = \"~/x\"\n[[mount]]\nname = \"work notes\"\ndir = \"~/notes\"\nwritable = true\npoll = true\n")
	c := w.load()
	if len(c.Roots) != 1 || c.Roots[0].Name != "x" || c.Roots[0].Dir != filepath.Dir(other) {
		t.Errorf("roots %+v", c.Roots)
	}
	if m := c.Mounts[0]; m.Name != "work notes" || m.Dir != notes || !m.Writable || !m.Poll || m.Source.Line != 5 {
		t.Errorf("mount %+v", m)
	}
	// Several in KB_ROOT replace the file's; names stay unique.
	w.Env["KB_ROOT"] = strings.Join([]string{other, "/srv/notes", other}, string(filepath.ListSeparator))
	c = w.load()
	var names []string
	for _, r := range c.Roots {
		names = append(names, r.Name)
	}
	if !slices.Equal(names, []string{"notes", "notes-2"}) {
		t.Errorf("roots %+v", c.Roots)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "/srv/notes") {
		t.Errorf("a missing folder is to be warned of: %q", c.Warnings)
	}
	if got := c.KBRoot(); len(got.Roots) != 2 || got.Mounts[0].Dir != notes || !got.Mounts[0].Poll {
		t.Errorf("for kbroot: %+v", got)
	}
	w.Env["KB_ROOT"] = "/a,/b"
	if c := w.load(); len(c.Warnings) == 0 || !strings.Contains(c.Warnings[0], "not by a comma") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestWhatWouldMatchNothingIsWarnedOf(t *testing.T) {
	w := newWorld(t)
	w.Env["KB_ROOT"] = "/srv/*"
	w.write("exclude = [\"*.tmp,*.bak\", \"notes, old.md\"]\n")
	c := w.load()
	if len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0], "no pattern stands for several") || !strings.Contains(c.Warnings[1], "*.tmp,*.bak") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestFoldersThatContradictOneAnotherAreRefused(t *testing.T) {
	w := newWorld(t)
	notes := mkdir(t, w.Home, "notes/deep")
	if err := os.WriteFile(filepath.Join(w.Home, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, code, word string }{
		"one name":   {"[[mount]]\nname=\"a\"\ndir=\"/x\"\n[[mount]]\nname=\"a\"\ndir=\"/y\"", "config_invalid", ":6"},
		"one folder": {"[[mount]]\nname=\"a\"\ndir=\"~/notes\"\n[[mount]]\nname=\"b\"\ndir=\"~/notes/\"", "config_invalid", "both"},
		"nested":     {"[[mount]]\ndir=\"~/notes\"\n[[mount]]\ndir=\"~/notes/deep\"", "nested_root", notes},
		"a file":     {"[[mount]]\ndir=\"~/file\"", "config_invalid", "is a file"},
		"pattern":    {"exclude = [\"a\\u0000b\"]", "config_invalid", "exclude"},
	} {
		t.Run(name, func(t *testing.T) {
			w.write(c.file)
			w.refused(c.code, c.word)
		})
	}
}

func TestSettingsAreNeverTakenFromAFolderAgentsMayWriteIn(t *testing.T) {
	w := newWorld(t)
	root := mkdir(t, w.Home, "kbs/notes")
	for _, name := range []string{".ragd", "ragd.toml", "config.toml", ".ragd.toml", ".ragd/config.toml"} {
		for _, dir := range []string{root, w.WorkDir, filepath.Join(w.Home, "kbs")} {
			p := filepath.Join(dir, name+".d", name)
			mkdir(t, filepath.Dir(p))
			if err := os.WriteFile(p, []byte("log_level = \"error\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Env["KB_ROOT"] = filepath.Join(w.Home, "kbs")
	if c := w.load(); c.File != "" || c.LogLevel != slog.LevelInfo {
		t.Errorf("read %q", c.File)
	}
	w.File = filepath.Join(root, "ragd.toml.d", "ragd.toml")
	w.refused("config_watched", w.File)
	link := filepath.Join(w.Home, "link.toml")
	if err := os.Symlink(w.File, link); err != nil {
		t.Fatal(err)
	}
	w.File = link
	w.refused("config_watched", link)
}

func TestAMisspeltVariableIsWarnedOf(t *testing.T) {
	w := newWorld(t)
	w.Env["RAGD_SURFACE"] = "core"
	if got := w.load().Warnings; len(got) != 1 || !strings.Contains(got[0], "RAGD_SURFACE") {
		t.Errorf("warnings %q", got)
	}
}

func TestDiffTellsWhatTakesEffectAtOnce(t *testing.T) {
	w := newWorld(t)
	before := w.load()
	if live, restart := config.Diff(before, w.load()); len(live)+len(restart) != 0 {
		t.Errorf("nothing changed: %v %v", live, restart)
	}
	w.write("scan_interval = 60\nchunk_max_chars = 1000\n[[mount]]\ndir=\"/n\"\n")
	live, restart := config.Diff(before, w.load())
	if !slices.Equal(live, []string{"scan_interval", "mount"}) || !slices.Equal(restart, []string{"chunk_max_chars"}) {
		t.Errorf("live %v restart %v", live, restart)
	}
}

func TestEveryKeyIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		if k.Name == "" || k.Env == "" || k.Allowed == "" || k.Doc == "" {
			t.Errorf("incomplete: %+v", k)
		}
		for _, name := range []string{k.Name, k.Env} {
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
	}
	for _, name := range []string{"KB_ROOT", "DB_PATH", "SCAN_INTERVAL", "CHUNK_MAX_CHARS", "SEARCH_SNIPPET_MAX_CHARS", "INDEXER_CONCURRENCY", "INDEXER_RETRY_MAX", "INDEXER_STALE_TIMEOUT", "TEXT_EXTENSIONS", "LOG_LEVEL"} {
		if !seen[name] || !seen[strings.ToLower(name)] {
			t.Errorf("%s is missing as variable or as key", name)
		}
	}
}

func TestTheReferencePageIsUpToDate(t *testing.T) {
	got, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != config.Reference() {
		t.Error("docs/settings.md is not what the table says; make it again: ragd config --keys --markdown > docs/settings.md")
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"", "log_level = \"info\"", "[[mount]]\ndir = '''/a'''\n[mount.x]\ny=1", "a.b.\"c\".d = [1,\n#x\n2]", "\"\"\"\"=1", "x=\"\"\"\\", "[[root]]\n[[root.x]]", "x={a=[{b=1}]}", "\ufeffhidden=true", "\ufeff", "\xff\xfe", "\ufeff\ufeff"} {
		f.Add([]byte(s))
	}
	home := f.TempDir()
	file := filepath.Join(home, "config.toml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := config.Sources{File: file, Home: home, WorkDir: home}
		c, err := config.Load(s)
		if err != nil {
			if e, ok := fault.As(err); !ok || e.Kind == fault.Internal || e.Code == "" || e.Message == "" {
				t.Fatalf("not for people: %v", err)
			}
			return
		}
		// What loads can be edited, and the edit undone leaves the same settings.
		if _, err := config.AddMount(s, config.NewMount{Name: "fuzz-added", Dir: "/fuzz added"}); err != nil {
			return
		}
		if _, err := config.RemoveMount(s, "fuzz-added"); err != nil {
			t.Fatalf("cannot remove what was added: %v", err)
		}
		again, err := config.Load(s)
		if err != nil {
			t.Fatalf("the edited file does not load: %v", err)
		}
		if live, restart := config.Diff(c, again); len(live)+len(restart) != 0 {
			t.Fatalf("the edit changed %v %v", live, restart)
		}
	})
}
