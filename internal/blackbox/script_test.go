package blackbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ragd/internal/wire"
)

// TestCommandLine runs the scripts of testdata/script, each in a world of its
// own. `exec ragd serve &daemon&` starts a daemon; `up` waits for it.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(2 * patience),
		Setup: func(e *testscript.Env) error {
			h, err := makeHome()
			if err != nil {
				return err
			}
			e.Defer(func() { _ = os.RemoveAll(h.dir) })
			for _, kv := range h.env {
				e.Vars = append(e.Vars, kv)
			}
			e.Setenv("PATH", binDir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			e.Setenv("ROOT", h.root)
			e.Setenv("CONFIG", h.config())
			e.Setenv("CONFIGDIR", filepath.Dir(h.config()))
			e.Setenv("DATA", h.data())
			e.Setenv("RUN", filepath.Join(h.dir, "run", "ragd"))
			e.Values["home"] = h
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// up waits until the daemon has made its first scan.
			"up": func(ts *testscript.TestScript, _ bool, _ []string) {
				poll(ts, func() bool {
					health, err := homeOf(ts).admin().Health(context.Background())
					return err == nil && health.Status != "warming_up"
				})
			},
			// found QUERY KB/PATH waits until a search finds it, ! found until it does not.
			"found": func(ts *testscript.TestScript, neg bool, args []string) {
				poll(ts, func() bool {
					res, err := homeOf(ts).admin().Search(context.Background(), args[0], "", "keyword", 10, false)
					in := slices.ContainsFunc(res.Results, func(h wire.Hit) bool { return h.KB+"/"+h.Path == args[1] })
					return err == nil && in != neg
				})
			},
		},
	})
}

func homeOf(ts *testscript.TestScript) *home { return ts.Value("home").(*home) }

func poll(ts *testscript.TestScript, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("not within %s\n%s", patience, homeOf(ts).logTail(20))
		}
	}
}
