package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ragd/internal/fault"
)

func plan(t *testing.T, s *Store, kb KBInfo, plans ...Plan) int {
	t.Helper()
	n, err := s.ApplyPlans(context.Background(), kb.ID, plans)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func claim(t *testing.T, s *Store, limit int) []Job {
	t.Helper()
	jobs, err := s.Claim(context.Background(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func commit(t *testing.T, s *Store, outcomes ...Outcome) {
	t.Helper()
	if err := s.Commit(context.Background(), outcomes); err != nil {
		t.Fatal(err)
	}
}

func queue(t *testing.T, s *Store) Queue {
	t.Helper()
	q, err := s.Queue(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func stateOf(t *testing.T, s *Store, kb KBInfo, path string) DocState {
	t.Helper()
	d, _, err := s.DocState(context.Background(), kb.ID, path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func names(jobs []Job) (out []string) {
	for _, j := range jobs {
		out = append(out, j.KBName+"/"+j.Path)
	}
	return out
}

func index(path string, prio int, mtime int64) Plan {
	return Plan{Path: path, Op: PlanIndex, Reason: ReasonNew, Priority: prio, Stat: Stat{Size: 1, MTimeNS: mtime}}
}

func TestClaimTakesPriorityThenTurnsThenTheNewest(t *testing.T) {
	s := open(t)
	a, b := ensure(t, s, "a"), ensure(t, s, "b")
	plan(t, s, a, index("1", 0, 1), index("2", 0, 2), index("3", 0, 3), index("live", 10, 0))
	plan(t, s, b, index("1", 0, 1), index("2", 0, 9))
	same(t, names(claim(t, s, 4)), "a/live", "b/2", "a/3", "b/1")
	same(t, names(claim(t, s, 10)), "a/2", "a/1")
	same(t, names(claim(t, s, 10)))
	if q := queue(t, s); q != (Queue{Processing: 6}) {
		t.Fatalf("%+v", q)
	}
	sound(t, s)
}

func TestFileChangedWhileItRunsRunsAgain(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	plan(t, s, kb, index("x", 0, 1))
	j := claim(t, s, 1)[0]
	plan(t, s, kb, index("x", 10, 2))
	commit(t, s, Outcome{Job: j, Indexed: doc("x", "X", "first version")})
	same(t, found(t, s, query("first")), "x")
	if d := stateOf(t, s, kb, "x"); d.State != StatePending || !d.Revision {
		t.Fatalf("%+v", d)
	}
	again := claim(t, s, 1)
	if len(again) != 1 || again[0].Attempts != 1 || again[0].Stat.MTimeNS != 2 {
		t.Fatalf("%+v", again)
	}
	commit(t, s, Outcome{Job: again[0], Indexed: doc("x", "X", "second version")})
	same(t, found(t, s, query("first")))
	same(t, found(t, s, query("second")), "x")
	if q := queue(t, s); q != (Queue{}) {
		t.Fatalf("%+v", q)
	}
	sound(t, s)
}

func TestOutcomeOfADeletedDocumentIsDropped(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	plan(t, s, kb, index("x", 0, 1))
	j := claim(t, s, 1)[0]
	remove(t, s, kb, "x")
	commit(t, s, Outcome{Job: j, Indexed: doc("x", "X", "ghost")})
	same(t, found(t, s, query("ghost")))
	// Deleted and made anew while the old job runs: only the new one counts.
	plan(t, s, kb, index("x", 0, 1))
	old := claim(t, s, 1)[0]
	remove(t, s, kb, "x")
	plan(t, s, kb, index("x", 0, 2))
	commit(t, s, Outcome{Job: old, Indexed: doc("x", "X", "ghost")})
	same(t, found(t, s, query("ghost")))
	commit(t, s, Outcome{Job: claim(t, s, 1)[0], Indexed: doc("x", "X", "real")})
	same(t, found(t, s, query("real")), "x")
	sound(t, s)
}

func TestLateOutcomeOfAnEarlierClaimIsDropped(t *testing.T) {
	s := open(t)
	kb := ensure(t, s, "a")
	plan(t, s, kb, index("x", 0, 1))
	slow := claim(t, s, 1)[0]
	if n, err := s.RescueStale(context.Background(), 0, 3); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	second := claim(t, s, 1)[0]
	if second.Attempts != 2 {
		t.Fatalf("%+v", second)
	}
	commit(t, s, Outcome{Job: slow, Indexed: doc("x", "X", "old bytes")})
	same(t, found(t, s, query("old")))
	commit(t, s, Outcome{Job: second, Indexed: doc("x", "X", "new bytes")})
	same(t, found(t, s, query("new")), "x")
	sound(t, s)
}

func TestFailedJobsWaitParkAndAreRetried(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := open(t, func(o *Options) { o.Now = func() time.Time { return now } })
	kb := ensure(t, s, "a")
	plan(t, s, kb, index("x", 0, 1), index("y", 0, 2))
	jobs := claim(t, s, 2)
	due := now.Add(4 * time.Second)
	commit(t, s,
		Outcome{Job: jobs[0], Failed: &Failure{Stage: "extract", Class: fault.Transient, Code: "later", Message: "not now", NextTry: due}},
		Outcome{Job: jobs[1], Failed: &Failure{Stage: "chunk", Class: fault.Permanent, Code: "broken", Message: "bad file", Hint: "fix it", Parked: true, Stat: Stat{Size: 9}}})
	if len(claim(t, s, 2)) != 0 {
		t.Fatal("a job was claimed before it was due")
	}
	if at, ok, err := s.NextDue(ctx); err != nil || !ok || !at.Equal(due) {
		t.Fatal(at, ok, err)
	}
	if d := stateOf(t, s, kb, "x"); d.State != StateFailed || d.Code != "broken" || d.Stat.Size != 9 {
		t.Fatalf("%+v", d)
	}
	list, total, err := s.Jobs(ctx, JobFilter{State: JobFailed})
	if err != nil || total != 1 || list[0].Class != fault.Permanent || list[0].Stage != "chunk" || list[0].Hint != "fix it" || !list[0].NextTry.IsZero() {
		t.Fatalf("%+v %d %v", list, total, err)
	}
	now = due
	again := claim(t, s, 2)
	if len(again) != 1 || again[0].Path != "y" || again[0].Attempts != 2 {
		t.Fatalf("%+v", again)
	}
	commit(t, s, Outcome{Job: again[0], Released: true})
	if j := claim(t, s, 1)[0]; j.Attempts != 2 {
		t.Fatalf("a released job has burnt an attempt: %+v", j)
	}
	parked := list[0].ID
	for id, code := range map[int64]string{parked + 100: "job_not_found", again[0].ID: "job_not_failed"} {
		if f, ok := fault.As(s.RetryJob(ctx, id)); !ok || f.Code != code {
			t.Fatalf("%d: %v", id, f)
		}
	}
	if n, err := s.RetryJobs(ctx, JobFilter{Class: "transient"}); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if err := s.RetryJob(ctx, parked); err != nil {
		t.Fatal(err)
	}
	if j := claim(t, s, 1); len(j) != 1 || j[0].Attempts != 1 || j[0].Reason != ReasonRetry {
		t.Fatalf("%+v", j)
	}
	sound(t, s)
}

func TestJobThatKeepsKillingTheProcessIsParked(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	plan(t, s, kb, index("bomb", 0, 1))
	for n := 1; n <= 3; n++ {
		if j := claim(t, s, 1); len(j) != 1 || j[0].Attempts != n {
			t.Fatalf("%d: %+v", n, j)
		}
		if got, err := s.RescueStale(ctx, time.Hour, 3); got != 0 || err != nil {
			t.Fatal("a job just claimed was rescued", got, err)
		}
		if got, err := s.RescueStale(ctx, 0, 3); got != 1 || err != nil {
			t.Fatal(got, err)
		}
	}
	if q := queue(t, s); q != (Queue{Failed: 1}) {
		t.Fatalf("%+v", q)
	}
	if d := stateOf(t, s, kb, "bomb"); d.State != StateFailed {
		t.Fatalf("%+v", d)
	}
	sound(t, s)
}

func TestPausedKBsAreNotClaimed(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	a, b := ensure(t, s, "a"), ensure(t, s, "b")
	plan(t, s, a, index("1", 0, 1))
	plan(t, s, b, index("1", 0, 1))
	if err := s.SetPaused(ctx, a.ID, true); err != nil {
		t.Fatal(err)
	}
	same(t, names(claim(t, s, 5)), "b/1")
	if err := s.SetPaused(ctx, 0, true); err != nil {
		t.Fatal(err)
	}
	if all, kbs, err := s.Paused(ctx); err != nil || !all || len(kbs) != 1 || kbs[0] != a.ID {
		t.Fatal(all, kbs, err)
	}
	if err := s.SetPaused(ctx, a.ID, false); err != nil {
		t.Fatal(err)
	}
	same(t, names(claim(t, s, 5)))
	if _, ok, err := s.NextDue(ctx); ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := s.SetPaused(ctx, 0, false); err != nil {
		t.Fatal(err)
	}
	same(t, names(claim(t, s, 5)), "a/1")
	if err := s.SetPaused(ctx, 999, true); fault.KindOf(err) != fault.NotFound {
		t.Fatal(err)
	}
}

func TestForceQueuesAllButExcludedAndKeepsThemSearchable(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	put(t, s, kb, doc("x", "X", "marmots"), doc("y", "Y", "marmots"))
	plan(t, s, kb, Plan{Path: "z", Op: PlanExclude, Code: "ignored", Why: "rule"})
	if n, err := s.ForceKB(ctx, kb.ID); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if got := found(t, s, query("marmots")); len(got) != 2 {
		t.Fatal(got)
	}
	for _, j := range claim(t, s, 5) {
		if j.Reason != ReasonForced {
			t.Fatalf("%+v", j)
		}
		commit(t, s, Outcome{Job: j, Indexed: doc(j.Path, "T", "marmots anew")})
	}
	if got := found(t, s, query("anew")); len(got) != 2 {
		t.Fatal(got)
	}
	sound(t, s)
}

func TestOneBadOutcomeDoesNotTakeTheOthersWithIt(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	plan(t, s, kb, index("good", 0, 3), index("bad", 0, 2), index("fine", 0, 1))
	jobs := claim(t, s, 3)
	bad := doc("bad", "B", "unlucky")
	bad.Text, bad.ContentID = "", 12345 // names a content that is not there
	err := s.Commit(ctx, []Outcome{
		{Job: jobs[0], Indexed: doc("good", "G", "lucky")}, {Job: jobs[1], Indexed: bad}, {Job: jobs[2], Indexed: doc("fine", "F", "lucky")},
	})
	oe, ok := err.(*OutcomeError)
	if !ok || len(oe.Failed) != 1 || oe.Failed[0].Index != 1 || fault.KindOf(err) != fault.Transient {
		t.Fatalf("%v", err)
	}
	if got := found(t, s, query("lucky")); len(got) != 2 {
		t.Fatal(got)
	}
	sound(t, s)
}

func TestBumpAndUnfinished(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "a")
	var plans []Plan
	for i := range 5 {
		plans = append(plans, index(fmt.Sprint(i), 0, int64(i)))
	}
	plan(t, s, kb, plans...)
	if ok, err := s.Bump(ctx, kb.ID, "0"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := s.Bump(ctx, kb.ID, "none"); ok || err != nil {
		t.Fatal(ok, err)
	}
	same(t, names(claim(t, s, 1)), "a/0")
	paths, total, err := s.Unfinished(ctx, []int64{kb.ID}, 3)
	if err != nil || total != 5 || len(paths) != 3 || paths[0].KB != "a" {
		t.Fatal(paths, total, err)
	}
	if pending, failed, err := s.Freshness(ctx, nil); pending != 5 || failed != 0 || err != nil {
		t.Fatal(pending, failed, err)
	}
	list, total, err := s.Jobs(ctx, JobFilter{KBs: []int64{kb.ID}, Limit: 2})
	if err != nil || total != 5 || len(list) != 2 || list[0].ID < list[1].ID {
		t.Fatal(list, total, err)
	}
	rest, _, err := s.Jobs(ctx, JobFilter{After: list[1].ID})
	if err != nil || len(rest) != 3 {
		t.Fatal(rest, err)
	}
}
