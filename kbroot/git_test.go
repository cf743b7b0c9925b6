package kbroot

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// gitAnswer is what `git check-ignore -v -n` says of one path: the pattern
// that decides, empty where none does.
type gitAnswer struct{ source, line, pattern string }

// gitRepo runs git away from every configuration but the repository's own.
func gitRepo(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.Stdin = bytes.NewReader(stdin)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil && errOut.Len() > 0 {
		t.Fatalf("git %v: %v: %s", args, err, errOut.String())
	}
	return out
}

func askGit(t *testing.T, dir string, paths []string) []gitAnswer {
	t.Helper()
	out := gitRepo(t, dir, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields) != 4*len(paths) {
		t.Fatalf("git answered %d fields for %d paths", len(fields), len(paths))
	}
	answers := make([]gitAnswer, len(paths))
	for i := range paths {
		f := fields[4*i : 4*i+4]
		if f[3] != paths[i] {
			t.Fatalf("git answered about %q, asked was %q", f[3], paths[i])
		}
		answers[i] = gitAnswer{f[0], f[1], f[2]}
	}
	return answers
}

// ourAnswer decides like the walk does: from the top, folder by folder.
func ourAnswer(t *testing.T, ses *session, path string) gitAnswer {
	t.Helper()
	d := ses.topDir()
	elems := splitPath(path)
	for i, name := range elems {
		f := found{path: join(d.path, name)}
		fi, err := d.r.Lstat(name)
		must(t, err)
		f.fi = fi
		p, file := d.rules.decide(f.path, name, fi.IsDir())
		last := i == len(elems)-1
		if p != nil && (last || !p.negate) {
			d.close()
			return gitAnswer{file.name, strconv.Itoa(p.line), p.text}
		}
		if last {
			break
		}
		c, _, err := d.openFound(f, name)
		must(t, err)
		c.loadRules(nil)
		d.close()
		d = c
	}
	d.close()
	return gitAnswer{}
}

func TestIgnoreRulesMeanWhatGitSays(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	pairs, wrong := 0, 0
	for seed := range uint64(40) {
		g := &ruleGen{rand.New(rand.NewPCG(seed, 7))}
		dir := t.TempDir()
		gitRepo(t, dir, nil, "init", "-q")
		paths, patterns := g.populate(t, dir)
		s, err := New(Options{Mounts: []MountSpec{{Name: "m", Dir: dir}}, Hidden: true})
		must(t, err)
		st := s.state.Load()
		ses, err := st.open(st.tops[0])
		must(t, err)
		for i, want := range askGit(t, dir, paths) {
			got := ourAnswer(t, ses, paths[i])
			pairs += patterns
			if got != want {
				if wrong++; wrong <= 20 {
					t.Errorf("seed %d: %q\n git %q\n own %q", seed, paths[i], want, got)
				}
			}
		}
		ses.close()
	}
	t.Logf("%d pattern/path pairs compared, %d paths answered otherwise", pairs, wrong)
	if pairs < 50000 {
		t.Errorf("only %d pairs were generated", pairs)
	}
}

// ruleGen generates trees and patterns that meet each other often.
type ruleGen struct{ *rand.Rand }

func (g *ruleGen) pick(list []string) string { return list[g.IntN(len(list))] }

var genNames = []string{
	"a", "b", "ab", "abc", "foo", "foo.log", "bar", "bar.txt", "a b", "trail ", "#hash", "!bang", "x.tar.gz", "[ab]", "a*b", "a?c",
	`back\slash`, "ä", "tab\t", ".hidden", "..foo", "A", "foobar", "debug.log", "1", "a-b", "a]b", "build", "é.md", "\xff.bin", "foox", "cr\r", "v\v", "f\f",
}

func (g *ruleGen) populate(t *testing.T, dir string) (paths []string, patterns int) {
	dirs := []string{""}
	for len(dirs) < 14 {
		d := join(dirs[g.IntN(len(dirs))], g.pick(genNames))
		if strings.Count(d, "/") > 3 || slices.Contains(dirs, d) {
			continue
		}
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
		dirs = append(dirs, d)
		paths = append(paths, d)
	}
	for _, d := range dirs {
		for range 6 {
			p := join(d, g.pick(genNames))
			if _, err := os.Lstat(filepath.Join(dir, p)); err == nil {
				continue
			}
			if g.IntN(12) == 0 {
				must(t, os.Symlink(g.pick(genNames), filepath.Join(dir, p)))
			} else {
				must(t, os.WriteFile(filepath.Join(dir, p), nil, 0o644))
			}
			paths = append(paths, p)
		}
	}
	for i, d := range dirs {
		if i != 0 && g.IntN(3) != 0 {
			continue
		}
		var b strings.Builder
		if g.IntN(6) == 0 {
			b.WriteString("\xef\xbb\xbf")
		}
		for n := 3 + g.IntN(12); n > 0; n-- {
			b.WriteString(g.pattern())
			b.WriteString(g.pick([]string{"\n", "\n", "\n", "\n", "\r\n"}))
			patterns++
		}
		if g.IntN(3) == 0 {
			b.WriteString(g.pattern())
		}
		must(t, os.WriteFile(filepath.Join(dir, d, ".gitignore"), []byte(b.String()), 0o644))
	}
	return paths, patterns
}

func (g *ruleGen) pattern() string {
	var b strings.Builder
	if g.IntN(3) == 0 {
		b.WriteString("!")
	}
	if g.IntN(5) == 0 {
		b.WriteString("/")
	}
	for n := 1 + g.IntN(3)*g.IntN(2); n > 0; n-- {
		b.WriteString(g.element())
		if n > 1 {
			b.WriteString(g.pick([]string{"/", "/", "/", "/**/", "//", `\/`}))
		}
	}
	b.WriteString(g.pick([]string{"", "", "", "", "/", "/", "/*", "/**", "**", " ", `\ `, "  ", "\t", "/ ", "//", `\`}))
	if g.IntN(40) == 0 {
		return g.pick([]string{"", "#", "!", "/", "*", "**", "***", "!*", "/*", "/**", "**/", "!/", "//", "*/", `\`, `\#hash`, `\!bang`, "?", "[", "[]", "[!]", " ", "   ", "/**/", "!*/", "\r"})
	}
	return b.String()
}

func (g *ruleGen) element() string {
	name := g.pick(genNames)
	switch g.IntN(14) {
	case 0, 1, 2:
		return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`, `\`, `\\`).Replace(name)
	case 3:
		return name
	case 4:
		return "*" + name[g.IntN(len(name)):]
	case 5:
		return name[:1+g.IntN(len(name))] + "*"
	case 6:
		return "**"
	case 7:
		return name[:1] + "**" + name[len(name)-1:]
	case 8:
		i := g.IntN(len(name))
		return name[:i] + "?" + name[i+1:]
	case 9:
		i := g.IntN(len(name))
		return name[:i] + g.class() + name[i+1:]
	case 10:
		return "*"
	case 11:
		return "*" + g.class() + "*"
	case 12:
		return g.pick([]string{"*.*", "***", "**.log", "*.l?g", "?*", "*o*", "**o**", "foo**", "a*b*c", "*[!a]*"})
	}
	return g.pick([]string{"foo", "bar", "a", "b", "build"})
}

func (g *ruleGen) class() string {
	return g.pick([]string{
		"[a-c]", "[!a-c]", "[^a]", "[]]", "[]-a]", "[!]a]", "[a-]", "[-a]", "[[:alpha:]]", "[[:space:]]", "[[:punct:]]", "[![:alnum:]]",
		"[[:bogus:]]", "[[:alpha:]-z]", `[\]]`, `[a\-z]`, `[\\]`, "[a", "[", "[[a]", "[[:a]", "[0-9]", "[c-a]", "[[:upper:][:digit:]]", "[/]", "[*]", "[?]", "[[:cntrl:]]", "[[:graph:]]", "[[:print:]]", "[[:blank:]]", "[[:xdigit:]]", "[[:lower:]]",
		"[a-c-e]", `[\a-\c]`, "[!-a]", "[[:]", "[[:]]", "[[::]]", "[a-[:digit:]]",
	})
}

func TestEveryClassMeansWhatGitSays(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	gitRepo(t, dir, nil, "init", "-q")
	var rules strings.Builder
	var paths []string
	classes := []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"}
	for i, c := range classes {
		fmt.Fprintf(&rules, "/p%02d[[:%s:]]\n", i, c)
		for b := 1; b < 256; b++ {
			if b == '/' {
				continue
			}
			p := fmt.Sprintf("p%02d%c", i, 'x')[:3] + string([]byte{byte(b)})
			must(t, os.WriteFile(filepath.Join(dir, p), nil, 0o644))
			paths = append(paths, p)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules.String()), 0o644))
	f := parseIgnore(".gitignore", rules.String())
	for i, want := range askGit(t, dir, paths) {
		got := f.last(paths[i], paths[i], false) != nil
		if got != (want.pattern != "") {
			t.Errorf("%q: git %q, own %v", paths[i], want.pattern, got)
		}
	}
}
