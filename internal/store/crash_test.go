package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scenario is a store's life in small: new, changed, unchanged, excluded,
// failed, deleted and revived documents, parts, retention, a KB deleted.
// Every step can be repeated; stop ends it early with the first error.
func scenario(s *Store) error {
	ctx := context.Background()
	kb, err := s.EnsureKB(ctx, "notes", "root", "/notes", false)
	if err != nil {
		return err
	}
	other, err := s.EnsureKB(ctx, "other", "root", "/other", false)
	if err != nil {
		return err
	}
	big := strings.Repeat("A paragraph about ferrets.\n\n", 6)
	mail := doc("mail.eml", "Mail", "see the attachment")
	mail.Parts = []Indexed{*doc("mail.eml › one.txt", "One", "first part"), *doc("mail.eml › two.txt", "Two", "second part")}
	shorter := doc("mail.eml", "Mail", "see the attachment, one is gone")
	shorter.Parts = mail.Parts[:1]
	steps := []func() error{
		func() error { return tryPut(s, kb, doc("a.md", "A", big), doc("b.md", "B", "bees"), mail) },
		func() error { return tryPut(s, other, doc("x.md", "X", "other words\n\nmore"), doc("y.md", "Y", big)) },
		func() error { return tryPut(s, kb, doc("a.md", "A", "ants instead"), shorter) },
		func() error { return tryPut(s, kb, doc("a.md", "A", big)) },
		func() error {
			_, err := s.ApplyPlans(ctx, kb.ID, []Plan{{Path: "b.md", Op: PlanExclude, Code: "ignored", Why: "a rule"}, {Path: "c.md", Op: PlanIndex}})
			return err
		},
		func() error {
			jobs, err := s.Claim(ctx, 10)
			if err != nil {
				return err
			}
			outs := make([]Outcome, len(jobs))
			for i, j := range jobs {
				outs[i] = Outcome{Job: j, Failed: &Failure{Stage: "extract", Code: "bad", Message: "no", Parked: true}}
			}
			return s.Commit(ctx, outs)
		},
		func() error {
			_, err := s.ApplyPlans(ctx, kb.ID, []Plan{{Path: "a.md", Op: PlanDelete}, {Path: "mail.eml", Op: PlanDelete}})
			return err
		},
		func() error { return tryPut(s, kb, doc("a.md", "A", big)) },
		func() error { _, err := s.RetryJobs(ctx, JobFilter{}); return err },
		func() error { _, err := s.DeleteKB(ctx, other.ID, false); return err },
		func() error { _, err := s.Prune(ctx); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return s.Maintain(ctx)
}

func keepLittle(o *Options) { o.Retention = Retention{Revisions: 1, DeletedKept: -time.Hour} }

// copyIndex copies the files as a crash at this moment would leave them.
func copyIndex(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(from + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestCrashAtAnyStatementLeavesASoundIndex(t *testing.T) {
	t.Parallel()
	path, n := "", 0
	s := open(t, keepLittle, func(o *Options) {
		path = o.Path
		o.Hook = func(point string) error {
			n++
			if point == "BEGIN IMMEDIATE" {
				return nil
			}
			c, rep, err := Open(context.Background(), Options{Path: copyIndex(t, path), Reanalyse: reanalyse})
			if err != nil {
				t.Fatalf("statement %d, %s: %v", n, point, err)
			}
			if rep.Quarantined != "" {
				t.Errorf("statement %d, %s: set aside", n, point)
			}
			sound(t, c)
			if t.Failed() {
				t.Fatalf("statement %d, %s", n, point)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			return nil
		}
	})
	if err := scenario(s); err != nil {
		t.Fatal(err)
	}
	if n < 100 {
		t.Fatalf("only %d statements", n)
	}
}

func TestFailureAtAnyStatementLeavesASoundIndex(t *testing.T) {
	t.Parallel()
	for name, stride := range map[string]int{"once": 3, "from then on": 10} {
		forever := stride == 10
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at += stride {
				n, broken := 0, true
				failure := errors.New("injected")
				s := open(t, keepLittle, func(o *Options) {
					o.Hook = func(string) error {
						n++
						if broken && (n == at || forever && n > at) {
							return failure
						}
						return nil
					}
				})
				err := scenario(s)
				broken = false
				if n < at {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if at%3 == 0 || err == nil {
					sound(t, s)
				}
				if err == nil && forever {
					t.Fatalf("statement %d failed for good, and nobody noticed", at)
				}
				if _, err := s.RescueStale(context.Background(), 0, 0); err != nil {
					t.Fatal(err)
				}
				if err := scenario(s); err != nil {
					t.Fatalf("after failure at %d: %v", at, err)
				}
				sound(t, s)
				if got := found(t, s, query("ferrets")); len(got) != 6 {
					t.Fatalf("after failure at %d: %q", at, got)
				}
				if t.Failed() {
					t.Fatalf("failure at %d", at)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

const crashEnv = "RAGD_STORE_CRASH"

// crashChild is the life of the process that gets killed; false in the test
// itself.
func crashChild() bool {
	path := os.Getenv(crashEnv)
	if path == "" {
		return false
	}
	s, rep, err := Open(context.Background(), Options{Path: path, Reanalyse: reanalyse, Retention: Retention{Revisions: 2, DeletedKept: time.Second}})
	if err != nil || rep.Quarantined != "" {
		fmt.Println("open:", rep, err)
		return true
	}
	fmt.Println("ready")
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	work := crashWork
	if os.Getenv(crashEnv+"_WORK") == "checkpoint" {
		work = crashCheckpoint
	}
	for {
		if err := work(s, rng); err != nil {
			fmt.Println("work:", err)
			return true
		}
	}
}

func crashWork(s *Store, rng *rand.Rand) error {
	ctx := context.Background()
	kb, err := s.EnsureKB(ctx, fmt.Sprintf("kb%d", rng.IntN(3)), "root", "/", false)
	if err != nil {
		return err
	}
	switch rng.IntN(12) {
	case 0:
		_, err = s.DeleteKB(ctx, kb.ID, rng.IntN(2) == 0)
	case 1:
		_, err = s.Prune(ctx)
	case 2:
		err = s.Maintain(ctx)
	case 3:
		err = s.maintenance(ctx, "checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)")
	case 4:
		_, err = s.RescueStale(ctx, 0, 3)
	case 5:
		_, err = s.ApplyPlans(ctx, kb.ID, []Plan{{Path: fmt.Sprintf("d%d.md", rng.IntN(40)), Op: PlanDelete}})
	default:
		var docs []*Indexed
		for range 1 + rng.IntN(8) {
			docs = append(docs, doc(fmt.Sprintf("d%d.md", rng.IntN(40)), "Title", strings.Repeat(fmt.Sprintf("Words %d and %d.\n\n", rng.IntN(500), rng.IntN(500)), 1+rng.IntN(40))))
		}
		err = tryPut(s, kb, docs...)
	}
	return err
}

// crashCheckpoint spends most of its time moving what it wrote into the index.
func crashCheckpoint(s *Store, rng *rand.Rand) error {
	ctx := context.Background()
	kb, err := s.EnsureKB(ctx, "kb", "root", "/", false)
	if err != nil {
		return err
	}
	d := doc(fmt.Sprintf("d%d.md", rng.IntN(20)), "Title", strings.Repeat(fmt.Sprintf("Words %d.\n\n", rng.IntN(500)), 200))
	return errors.Join(tryPut(s, kb, d), s.maintenance(ctx, "checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)"))
}

func TestKilledProcessLeavesASoundIndex(t *testing.T) {
	t.Parallel()
	killed(t, 20, 150, "")
}

func TestProcessKilledInACheckpointLeavesASoundIndex(t *testing.T) {
	t.Parallel()
	killed(t, 50, 30, "checkpoint")
}

// killed kills a process that works on an index, again and again.
func killed(t *testing.T, rounds, most int, work string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "index.db")
	rng := rand.New(rand.NewPCG(11, 11))
	for round := range rounds {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), crashEnv+"="+path, crashEnv+"_WORK="+work)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 200)
		n, _ := out.Read(first)
		if !strings.HasPrefix(string(first[:n]), "ready") {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("round %d: %s", round, first[:n])
		}
		time.Sleep(time.Duration(5+rng.IntN(most)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if n, _ := out.Read(first); n > 0 {
			t.Fatalf("round %d: %s", round, first[:n])
		}
		_ = cmd.Wait() // it was killed
		s, rep, err := Open(context.Background(), Options{Path: path, Reanalyse: reanalyse})
		if err != nil || rep.Quarantined != "" {
			t.Fatalf("round %d: %+v %v", round, rep, err)
		}
		sound(t, s)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
