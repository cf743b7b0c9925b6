package kbroot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltinExcludesAtAnyDepth(t *testing.T) {
	t.Parallel()
	excluded := []string{
		".git/config", "sub/.git/HEAD", "node_modules/x/readme.md", "deep/er/__pycache__/a.md", ".DS_Store", "Thumbs.db", "THUMBS.DB",
		".env", ".env.local", "server.pem", "deep/private.KEY", "id_rsa", "id_rsa.pub", "id_ed25519", "a.md~", ".#a.md", "#a.md#", ".a.md.swp", "a.swo",
		"4913", ".~lock.a.docx#", "~$a.docx", "x.tmp", "x.pdf.crdownload", "x.part", "x.partial", ".ragd-tmp-1", "lost+found/x.md", ".ssh/config", "a.bak",
	}
	kept := []string{
		"..foo.md", ".env.example", "git.md", "keys.md", "monkey.md", "part.md", "4913.md", "idea.md", "~a.md", "a#b.md", "swp", "env.md", "build/x.md", "vendor/y.md",
		"target/z.md", "cvs/a.md", ".dockerignore", ".note.md", "a.tmp.md", "temp/x.md", "#a.md", "tmp",
	}
	s, dir := rootSet(t, func(o *Options) { o.Hidden = true })
	for _, n := range append(excluded, kept...) {
		put(t, dir, map[string]string{"k/" + n: "*"})
	}
	for _, n := range excluded {
		if v := verdict(t, s, "k", n); v.Code != IgnoredBuiltin || v.Rule == "" || v.Reason == "" {
			t.Errorf("%s: %+v", n, v)
		}
	}
	for _, n := range kept {
		if v := verdict(t, s, "k", n); v.Code != OK {
			t.Errorf("%s: %+v", n, v)
		}
	}
	if got := walked(t, s, "k", ""); len(got) != len(kept) {
		t.Errorf("the walk met %q", got)
	}
}

func TestHiddenIsJudgedBelowTheKBOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".hidden", "kbs")
	put(t, dir, map[string]string{"k/a.md": "", "k/.h/b.md": "", "k/.c.md": "", "k/..foo": "", ".no/x.md": ""})
	s, err := New(Options{Roots: []RootSpec{{Dir: dir}}, Mounts: []MountSpec{{Name: "dot", Dir: filepath.Join(filepath.Dir(dir), ".m")}}})
	must(t, err)
	put(t, filepath.Dir(dir), map[string]string{".m/n.md": ""})
	same(t, "walk", walked(t, s, "k", ""), []string{"a.md"})
	same(t, "mount under a hidden folder", walked(t, s, "dot", ""), []string{"n.md"})
	if v := verdict(t, s, "k", ".h/b.md"); v.Code != IgnoredHidden || v.Rule != "hidden = false" {
		t.Errorf("%+v", v)
	}
	kbs, err := s.KBs()
	must(t, err)
	if len(kbs) != 2 {
		t.Errorf("%+v", kbs)
	}
	must(t, s.Reconfigure(Options{Roots: []RootSpec{{Dir: dir}}, Hidden: true}))
	same(t, "walk with hidden files", walked(t, s, "k", ""), []string{"..foo", ".c.md", ".h/b.md", "a.md"})
}

func TestIgnoreFilesOfThreeKindsAndTheConfiguration(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t, func(o *Options) { o.Exclude = []string{"drafts/", "!keep.log", "/top.md"} })
	put(t, dir, map[string]string{
		".gitignore": "secret.md\n", ".dockerignore": "*\n",
		"k/.gitignore": "*.log\na.txt\n", "k/.ignore": "!a.txt\nb.txt\n", "k/.ragdignore": "!b.txt\nc.txt\n", "k/.dockerignore": "*\n",
		"k/x.log": "", "k/keep.log": "", "k/a.txt": "", "k/b.txt": "", "k/c.txt": "", "k/secret.md": "", "k/drafts/d.md": "", "k/s/drafts/e.md": "",
		"k/top.md": "", "k/s/top.md": "", "k/s/.gitignore": "!x.log\n", "k/s/x.log": "",
	})
	same(t, "walk", walked(t, s, "k", ""), []string{"a.txt", "b.txt", "keep.log", "s/top.md", "s/x.log"})
	for path, rule := range map[string]string{
		"x.log": "k/.gitignore:1: *.log", "c.txt": "k/.ragdignore:2: c.txt", "secret.md": ".gitignore:1: secret.md",
		"s/drafts/e.md": "exclude: drafts/", "top.md": "exclude: /top.md",
	} {
		if v := verdict(t, s, "k", path); v.Code != IgnoredRule || v.Rule != rule {
			t.Errorf("%s: %+v, want rule %q", path, v, rule)
		}
	}
	e, v, err := s.Explain(filepath.Join(dir, "k/x.log"))
	must(t, err)
	if e.Path != "x.log" || v.Rule != "k/.gitignore:1: *.log" {
		t.Errorf("explained: %+v %+v", e, v)
	}
}

func TestAChangedRuleActsAtOnce(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "", "k/b.md": "", "k/sub/a.md": ""})
	rules := filepath.Join(dir, "k/.gitignore")
	for i := range 20 { // rewritten faster than clocks tick, same length
		want, not := "a.md", "b.md"
		if i%2 == 1 {
			want, not = not, want
		}
		must(t, os.WriteFile(rules, []byte("/"+not+"\n"), 0o644))
		if verdict(t, s, "k", want).Code != OK || verdict(t, s, "k", not).Code != IgnoredRule {
			t.Fatalf("round %d: %s %+v, %s %+v", i, want, verdict(t, s, "k", want), not, verdict(t, s, "k", not))
		}
	}
	must(t, os.Remove(rules))
	same(t, "walk without rules", walked(t, s, "k", ""), []string{"a.md", "b.md", "sub/a.md"})
	must(t, os.WriteFile(filepath.Join(dir, ".ragdignore"), []byte("k\n"), 0o644))
	if _, ok := s.KB("k"); ok {
		t.Error("an ignored folder is still a KB")
	}
	if n := s.Roots()[0].Notes; len(n) != 2 || !strings.Contains(n[1], ".ragdignore:1: k") {
		t.Errorf("notes %q", n)
	}
}

func TestTheDaemonsOwnDataIsNeverIndexed(t *testing.T) {
	t.Parallel()
	s, dir := rootSet(t)
	put(t, dir, map[string]string{"k/a.md": "", "k/data/x.md": "", "k/data/y/z.md": "", "own/b.md": "", "k/i.db.corrupt-2": "", "k/i.db.md": ""})
	must(t, os.Symlink("data", filepath.Join(dir, "k/link")))
	must(t, os.Symlink("i.db.corrupt-2", filepath.Join(dir, "k/kept.md")))
	o := Options{Roots: []RootSpec{{Dir: dir}}, OwnDirs: []string{filepath.Join(dir, "k/data"), filepath.Join(dir, "own"), filepath.Join(dir, "k/i.db.corrupt-*"), filepath.Dir(dir), dir}}
	must(t, s.Reconfigure(o))
	same(t, "walk", walked(t, s, "k", ""), []string{"a.md", "i.db.md"})
	if _, ok := s.KB("own"); ok {
		t.Error("the daemon's own folder is a KB")
	}
	if v := verdict(t, s, "k", "data/y/z.md"); v.Code != IgnoredBuiltin {
		t.Errorf("%+v", v)
	}
}

// FuzzGlob holds the two matchers and their bound against each other.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"a*b", "**/x", "a/**/b", "[a-z]*", `\*`, "foo**bar", "[[:alpha:]-]", "*[!/]**"} {
		f.Add(p, "a/x/b")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 200 || len(text) > 300 {
			return
		}
		g := compileGlob(pattern, true)
		if got, want := g.match(text), !g.never && g.matchLong(text); got != want {
			t.Errorf("pattern %q, text %q: match says %v, matchLong %v", pattern, text, got, want)
		}
		if p, ok := parsePattern(pattern, 1); ok {
			p.matches(text, text, true)
		}
	})
}

func TestPatternThatBlowsUpBacktrackingMatchersIsQuick(t *testing.T) {
	t.Parallel()
	for _, p := range []string{strings.Repeat("*a", 30) + "b", strings.Repeat("**/a*", 20) + "b", "*" + strings.Repeat("a*", 300) + "c"} {
		pat, ok := parsePattern(p, 1)
		if !ok {
			t.Fatalf("%q is not a pattern", p)
		}
		text := strings.Repeat("a/", 1000) + strings.Repeat("a", 200)
		for range 20 {
			if pat.matches(text, strings.Repeat("a", 250), false) {
				t.Errorf("%.20q… matches", p)
			}
		}
	}
}
