package archtest

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "ragd"

// floors of docs/architecture.md; imports point down only. Packages below a
// listed one belong to it.
var floors = map[string]int{
	"kbroot": 0, "internal/analysis": 0, "internal/chunk": 0, "internal/config": 0,
	"internal/fault": 0, "internal/wire": 0, "internal/archtest": 0,
	"watcher": 1, "internal/extract": 1, "internal/embed": 1, "internal/store": 1, "internal/usock": 1,
	"indexer": 2, "internal/search": 2, "internal/adminclient": 2,
	"mcpserver": 3, "internal/admin": 3, "internal/tui": 3,
	"cmd/ragd": 4, "cmd/ragtui": 4, "internal/blackbox": 4,
}

// thirdParty says which packages may import what outside the standard library.
var thirdParty = map[string][]string{
	"github.com/fsnotify/fsnotify":        {"watcher"},
	"github.com/mattn/go-sqlite3":         {"internal/store"},
	"github.com/mark3labs/mcp-go":         {"mcpserver"},
	"github.com/charmbracelet/":           {"internal/tui", "cmd/ragtui"},
	"github.com/sahilm/fuzzy":             {"internal/tui"},
	"github.com/yuin/goldmark":            {"internal/chunk"},
	"github.com/BurntSushi/toml":          {"internal/config"},
	"github.com/caarlos0/env":             {"internal/config"},
	"github.com/spf13/cobra":              {"cmd/ragd", "cmd/ragtui"},
	"golang.org/x/sys":                    {"internal/usock", "internal/extract"},
	"github.com/klippa-app/go-pdfium":     {"internal/extract"},
	"github.com/xuri/excelize":            {"internal/extract"},
	"github.com/jhillyerd/enmime":         {"internal/extract"},
	"github.com/emersion/go-message":      {"internal/extract"},
	"github.com/JohannesKaufmann/":        {"internal/extract"},
	"codeberg.org/readeck/go-readability": {"internal/extract"},
	"github.com/richardlehane/mscfb":      {"internal/extract"},
	"github.com/blevesearch/snowballstem": {"internal/analysis"},
	"github.com/kljensen/snowball":        {"internal/analysis"},
}

type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	Deps       []string
	GoFiles    []string
	CgoFiles   []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,Deps,GoFiles,CgoFiles", module+"/...")
	cmd.Dir = repoRoot(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func repoRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// home is the listed package that an import path belongs to.
func home(path string) (string, bool) {
	rel := strings.TrimPrefix(path, module+"/")
	for rel != "." && rel != "" {
		if _, ok := floors[rel]; ok {
			return rel, true
		}
		rel = filepath.Dir(rel)
	}
	return "", false
}

func TestImportsPointDownOnly(t *testing.T) {
	for _, p := range list(t) {
		from, ok := home(p.ImportPath)
		if !ok {
			t.Errorf("%s stands on no floor: add it to docs/architecture.md and to this table", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module+"/") {
				continue
			}
			to, ok := home(imp)
			if !ok || to == from || to == "internal/fault" || from == "internal/config" && to == "kbroot" {
				continue
			}
			if floors[to] >= floors[from] {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports point down only", from, floors[from], to, floors[to])
			}
		}
	}
}

func TestThirdPartyCodeStaysInItsPackage(t *testing.T) {
	for _, p := range list(t) {
		from, _ := home(p.ImportPath)
		for _, imp := range p.Imports {
			for prefix, allowed := range thirdParty {
				if strings.HasPrefix(imp, prefix) && !slices.Contains(allowed, from) {
					t.Errorf("%s imports %s, which only %s may", from, imp, strings.Join(allowed, ", "))
				}
			}
			if from == "internal/wire" && strings.Contains(imp, ".") {
				t.Errorf("internal/wire imports %s: it is standard library only", imp)
			}
		}
	}
}

func TestDashboardLinksNoEngine(t *testing.T) {
	for _, p := range list(t) {
		if p.ImportPath != module+"/cmd/ragtui" {
			continue
		}
		for _, dep := range p.Deps {
			for _, bad := range []string{"go-sqlite3", "mcp-go", module + "/internal/store", module + "/internal/embed", module + "/mcpserver", module + "/internal/search"} {
				if strings.Contains(dep, bad) {
					t.Errorf("ragtui links %s", dep)
				}
			}
		}
	}
}

func TestTopLevelHoldsOnlyTheNamedFolders(t *testing.T) {
	entries, err := os.ReadDir(repoRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"cmd", "kbroot", "watcher", "indexer", "mcpserver", "internal", "docs", "bin", "kbs"}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("folder %q at the top level is not in docs/architecture.md", e.Name())
		}
	}
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	for _, p := range list(t) {
		doc := ""
		for _, f := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if file.Doc != nil {
				doc += file.Doc.Text()
			}
		}
		if len(doc) < 60 {
			t.Errorf("%s has no package comment that says what it owns (found %q)", p.ImportPath, doc)
		}
	}
}
