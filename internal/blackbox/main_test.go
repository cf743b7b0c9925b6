package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// The programs under test and the daemon that most tests share; set once by
// TestMain before any test runs.
var (
	binDir string
	shared sharedHome
)

// sharedHome is the one daemon of all tests that need no more than a KB of
// their own.
type sharedHome struct {
	once sync.Once
	home *home
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rb-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binDir = dir
	code := m.Run()
	measured.table()
	if h := shared.home; h != nil {
		if err := h.shut(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared daemon:", err)
			code = 1
		}
		_ = os.RemoveAll(h.dir)
	}
	return code
}

// build makes the programs as `make build` does, with the race detector where
// the tests themselves run with it.
func build(dir string) error {
	args := []string{"build", "-tags", "sqlite_fts5", "-buildvcs=false", "-ldflags", "-s -w -X main.version=v0.0.0-blackbox"}
	if raceBuild {
		args = append(args, "-race")
	}
	cmd := exec.Command(filepath.Join(runtime.GOROOT(), "bin", "go"), append(args, "-o", dir+"/", "./cmd/ragd", "./cmd/ragtui")...)
	if _, err := os.Stat(cmd.Path); err != nil {
		cmd.Path, _ = exec.LookPath("go")
	}
	cmd.Dir = "../.."
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the programs: %w", err)
	}
	return nil
}

func ragdFile() string { return filepath.Join(binDir, "ragd") }
