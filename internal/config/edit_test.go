package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/config"
)

func (w *world) text() string {
	w.t.Helper()
	data, err := os.ReadFile(w.defaultFile())
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func TestAddingAndRemovingKeepsEverythingElse(t *testing.T) {
	w := newWorld(t)
	before := "# mine\nscan_interval = 60 # often\r\n\n[[mount]] # first\nname = \"a\"\ndir = \"/a\"\n\n# about b\n[[mount]]\nname = \"b\"\ndir = \"/b\" # there\n# end"
	w.write(before)
	if err := os.Chmod(w.defaultFile(), 0o640); err != nil {
		t.Fatal(err)
	}
	path, err := config.AddMount(w.Sources, config.NewMount{Name: `c "q"`, Dir: "/c\\d\n", Writable: true, Poll: true})
	if err != nil || path != w.defaultFile() {
		t.Fatal(path, err)
	}
	if got := w.text(); !strings.HasPrefix(got, before+"\n\n") {
		t.Errorf("the file was changed elsewhere:\n%s", got)
	}
	if m := w.load().Mounts[2]; m.Name != `c "q"` || m.Dir != "/c\\d\n" || !m.Writable || !m.Poll {
		t.Errorf("mount %+v", m)
	}
	if info, err := os.Stat(w.defaultFile()); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	for _, name := range []string{`c "q"`, "a"} {
		if _, err := config.RemoveMount(w.Sources, name); err != nil {
			t.Fatal(err)
		}
	}
	want := "# mine\nscan_interval = 60 # often\r\n\n# about b\n[[mount]]\nname = \"b\"\ndir = \"/b\" # there\n# end\n\n"
	if got := w.text(); got != want {
		t.Errorf("left:\n%q\nwant:\n%q", got, want)
	}
	_, err = config.RemoveMount(w.Sources, "a")
	wantFault(t, err, "mount_not_found", `"a"`, "b")
}

func TestAddingMakesTheFile(t *testing.T) {
	w := newWorld(t)
	if _, err := config.AddMount(w.Sources, config.NewMount{Name: "n", Dir: "/n"}); err != nil {
		t.Fatal(err)
	}
	if c := w.load(); len(c.Mounts) != 1 || c.Mounts[0].Dir != "/n" {
		t.Errorf("%+v", c.Mounts)
	}
	if info, err := os.Stat(w.defaultFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestAnEditThatWouldNotLoadIsNotMade(t *testing.T) {
	w := newWorld(t)
	w.write("[[mount]]\nname = \"a\"\ndir = \"/a\"\n")
	before := w.text()
	for name, m := range map[string]config.NewMount{
		"name taken":    {Name: "a", Dir: "/b"},
		"folder taken":  {Name: "b", Dir: "/a"},
		"bad name":      {Name: "a/b", Dir: "/b"},
		"hidden name":   {Name: ".b", Dir: "/b"},
		"relative":      {Name: "b", Dir: "b"},
		"not UTF-8":     {Name: "b", Dir: "/b\xff"},
		"name no UTF-8": {Name: "b\xff", Dir: "/b"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.AddMount(w.Sources, m)
			wantFault(t, err, "config_invalid")
		})
	}
	if w.text() != before {
		t.Errorf("the file was changed:\n%s", w.text())
	}
	w.write("scan_interval = 1\n")
	_, err := config.AddMount(w.Sources, config.NewMount{Name: "b", Dir: "/b"})
	wantFault(t, err, "config_invalid", "scan_interval")
	entries, err := os.ReadDir(filepath.Dir(w.defaultFile()))
	if err != nil || len(entries) != 1 {
		t.Errorf("files left behind: %v %v", entries, err)
	}
}

func TestOtherFormsAreNotEdited(t *testing.T) {
	w := newWorld(t)
	w.write("mount = [{name = \"a\", dir = \"/a\"}]\n")
	if c := w.load(); len(c.Mounts) != 1 || c.Mounts[0].Name != "a" {
		t.Fatalf("%+v", c.Mounts)
	}
	_, err := config.AddMount(w.Sources, config.NewMount{Name: "b", Dir: "/b"})
	wantFault(t, err, "config_form", "[[mount]]")
	_, err = config.RemoveMount(w.Sources, "a")
	wantFault(t, err, "config_form", "by hand")
}

func TestALinkedFileIsEditedWhereItIs(t *testing.T) {
	w := newWorld(t)
	real := filepath.Join(mkdir(t, w.Home, "dotfiles"), "ragd.toml")
	if err := os.WriteFile(real, []byte("# dot\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Dir(w.defaultFile()))
	if err := os.Symlink(real, w.defaultFile()); err != nil {
		t.Fatal(err)
	}
	if _, err := config.AddMount(w.Sources, config.NewMount{Name: "n", Dir: "/n"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(w.defaultFile()); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if data, _ := os.ReadFile(real); !strings.Contains(string(data), "[[mount]]") {
		t.Errorf("%s", data)
	}
}
