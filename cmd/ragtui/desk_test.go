package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ragd/internal/config"
)

func TestEditorsAreToldTheLineInTheirOwnWay(t *testing.T) {
	for _, c := range []struct{ editor, want string }{
		{"vim", "+7 /a b.md"}, {"/usr/bin/nano", "+7 /a b.md"}, {"code", "--wait --goto /a b.md:7"}, {"hx", "/a b.md:7"}, {"gedit-like", "/a b.md"},
	} {
		if got := strings.Join(editorLine(c.editor, "/a b.md", 7), " "); got != c.want {
			t.Errorf("%s gets %q, not %q", c.editor, got, c.want)
		}
	}
}

func TestEditorFollowsTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	file, bin := filepath.Join(dir, "x.md"), filepath.Join(dir, "myedit")
	write(t, file, "x", 0o644)
	write(t, bin, "#!/bin/sh\n", 0o755)
	d := &desk{sources: config.Sources{Env: map[string]string{"EDITOR": bin + " --flag"}}}
	argv, err := d.Editor(file, 3)
	if err != nil || !slices.Equal(argv, []string{bin, "--flag", file}) {
		t.Errorf("%v %v", argv, err)
	}
	d.sources.Env["VISUAL"] = "/nowhere/editor"
	if _, err := d.Editor(file, 3); err == nil || !strings.Contains(err.Error(), "/nowhere/editor") {
		t.Errorf("an editor that is not there: %v", err)
	}
	if _, err := d.Editor(filepath.Join(dir, "gone"), 1); err == nil {
		t.Error("a file that is gone can be edited")
	}
}

func TestHeadReadsRegularFilesOnlyAndWaitsForNone(t *testing.T) {
	dir := t.TempDir()
	long, fifo := filepath.Join(dir, "long"), filepath.Join(dir, "fifo")
	write(t, long, strings.Repeat("x", 10_000), 0o644)
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	d := &desk{}
	if b, n, err := d.Head(long, 100); err != nil || len(b) != 100 || n != 10_000 {
		t.Errorf("%d of %d bytes, %v", len(b), n, err)
	}
	done := make(chan error, 1)
	go func() { _, _, err := d.Head(fifo, 100); done <- err }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a pipe has a head")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("a pipe is waited for")
	}
	for _, path := range []string{dir, filepath.Join(dir, "gone")} {
		if _, _, err := d.Head(path, 100); err == nil {
			t.Errorf("%s has a head", path)
		}
	}
}

func TestQueriesAreKeptOnceAndForTheOwnerOnly(t *testing.T) {
	d := &desk{sources: config.Sources{Env: map[string]string{"XDG_STATE_HOME": t.TempDir()}}}
	for _, q := range []string{"one", "two", "one", "three\nlines"} {
		if err := d.Remember(q); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.History()
	if err != nil || !slices.Equal(got, []string{"two", "one", "three lines"}) {
		t.Errorf("%q %v", got, err)
	}
	path, err := d.historyFile()
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	for i := range keepQueries + 20 {
		if err := d.Remember(strings.Repeat("q", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := d.History(); len(got) != keepQueries {
		t.Errorf("%d queries are kept", len(got))
	}
}

func TestCopyUsesTheTerminalAndHasABound(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{screen: &screen{File: w}}
	if err := d.Copy(t.Context(), "a\x1bb"); err != nil {
		t.Fatal(err)
	}
	if err := d.Copy(t.Context(), strings.Repeat("x", maxCopy+1)); err == nil {
		t.Error("there is no bound")
	}
	_ = w.Close()
	if got, _ := io.ReadAll(r); string(got) != "\x1b]52;c;YRti\x07" {
		t.Errorf("the terminal gets %q", got)
	}
}

func TestLocaleDecidesOnUTF8(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, true}, {map[string]string{"LANG": "C.utf8"}, true}, {map[string]string{"LANG": "C"}, false}, {nil, false},
		{map[string]string{"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, false}, {map[string]string{"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, true},
	} {
		if got := utf8Locale(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

// called runs the program with its outputs in files.
func called(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	dir := t.TempDir()
	files := [2]*os.File{}
	for i, name := range []string{"out", "err"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		files[i] = f
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	code = run(t.Context(), args, in, files[0], files[1])
	text := func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return code, text(files[0]), text(files[1])
}

func TestCalledWronglyItSaysWhatIsAllowed(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "none.sock")
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string
		err  string
	}{
		{"no daemon", []string{"--snapshot", "80x24"}, 1, "", "ragd serve"},
		{"no daemon, frame wanted", []string{"--snapshot", "80x24", "--offline"}, 0, "The daemon is not running.", ""},
		{"a wrong size", []string{"--snapshot", "80"}, 2, "", "80x24"},
		{"a wrong page", []string{"--snapshot", "80x24", "--page", "serach"}, 2, "", "overview, queue"},
		{"a wrong colour", []string{"--color", "pink"}, 2, "", "auto, none, mono"},
		{"a wrong theme", []string{"--theme", "pink"}, 2, "", "auto, dark, light"},
		{"an unknown flag", []string{"--nope"}, 2, "", "nope"},
		{"an argument", []string{"search"}, 2, "", "search"},
		{"no terminal", nil, 2, "", "needs a terminal"},
		{"version", []string{"--version"}, 0, "ragtui ", ""},
		{"help", []string{"--help"}, 0, "", "--snapshot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errOut := called(t, append([]string{"--admin-socket", sock}, c.args...)...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errOut, c.err) || c.code != 0 && out != "" {
				t.Errorf("code %d\nout %q\nerr %q", code, out, errOut)
			}
		})
	}
}

func TestSnapshotOfARunningDaemonInTextAndColour(t *testing.T) {
	p, _ := newPlace(t)
	startDaemon(t, p.socket, p.dir)
	t.Setenv("LC_ALL", "C.UTF-8")
	code, out, errOut := called(t, "--admin-socket", p.socket, "--snapshot", "80x24", "--page", "failed")
	if code != 0 || !strings.Contains(out, "asks for a password") || strings.Contains(out, "\x1b") {
		t.Errorf("code %d %s\n%s", code, errOut, out)
	}
	if n := strings.Count(out, "\n"); n != 24 {
		t.Errorf("%d lines", n)
	}
	code, out, _ = called(t, "--admin-socket", p.socket, "--snapshot", "80x24", "--query", "harbour", "--color", "true")
	if code != 0 || !strings.Contains(out, "\x1b[") || !strings.Contains(out, "plan.md:3-4") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
