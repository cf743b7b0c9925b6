package store

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// Claim takes up to limit jobs that are due and marks them processing: the
// highest priority first, within it one KB after the other, within a KB the
// newest file. Jobs of paused KBs are left. Each claim counts an attempt.
func (s *Store) Claim(ctx context.Context, limit int) (jobs []Job, err error) {
	return s.ClaimWhile(ctx, limit, func(Job) bool { return true })
}

// ClaimWhile is Claim that asks about each job in turn and ends with the first
// one that is not wanted.
func (s *Store) ClaimWhile(ctx context.Context, limit int, want func(Job) bool) (jobs []Job, err error) {
	if limit <= 0 {
		return nil, nil
	}
	if idle, err := s.nothingDue(ctx); err != nil || idle {
		return nil, err
	}
	err = s.write(ctx, "claim jobs", func(t *wtx) error {
		jobs = nil
		var paused bool
		if _, err := t.get([]any{&paused}, "SELECT value FROM settings WHERE key = 'paused'"); err != nil || paused {
			return err
		}
		err := t.run("UPDATE jobs SET next_try_ms = 0 WHERE state = 1 AND next_try_ms > 0 AND next_try_ms <= ?", t.now)
		if err != nil {
			return err
		}
		kbs, err := t.ids("SELECT id FROM kbs WHERE jobs_pending > 0 AND NOT paused ORDER BY id")
		if err != nil {
			return err
		}
		queues := make([][]Job, len(kbs))
		for i, kb := range kbs {
			if queues[i], err = t.ready(kb, limit); err != nil {
				return err
			}
		}
		suspect, err := t.suspect()
		if err != nil {
			return err
		}
		jobs = append(suspect, takeTurns(kbs, queues, s.last, limit-len(suspect))...)
		if i := slices.IndexFunc(jobs, func(j Job) bool { return !want(j) }); i >= 0 {
			jobs = jobs[:i]
		}
		if n := len(jobs); n > 0 {
			s.last = jobs[n-1].KB
		}
		return t.markClaimed(jobs)
	})
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// nothingDue spares an idle daemon the write transaction.
func (s *Store) nothingDue(ctx context.Context) (idle bool, err error) {
	now := s.opt.Now().UnixMilli()
	err = s.read(ctx, "look for jobs", func(r *reader) error {
		var due bool
		err := r.row(`SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 1 AND next_try_ms > 0 AND next_try_ms <= ?)
			OR EXISTS (SELECT 1 FROM kbs WHERE jobs_pending > 0 AND NOT paused)`, now).Scan(&due)
		idle = !due
		return err
	})
	return idle, err
}

func (t *wtx) ready(kb int64, limit int) (out []Job, err error) {
	err = t.each(func(rows *sql.Rows) error {
		j, err := scanJob(rows.Scan)
		out = append(out, j)
		return err
	}, "SELECT "+jobColumns+` FROM jobs j JOIN kbs k ON k.id = j.kb_id
		WHERE j.kb_id = ? AND j.state = 1 AND j.next_try_ms = 0 AND j.code <> 'interrupted'
		ORDER BY j.priority DESC, j.mtime_ns DESC, j.id LIMIT ?`, kb, limit)
	return out, err
}

// takeTurns picks limit jobs from the KBs' queues. Among the queues whose
// head has the highest priority they take turns, beginning behind last.
func takeTurns(kbs []int64, queues [][]Job, last int64, limit int) (out []Job) {
	first := 0
	for first < len(kbs) && kbs[first] <= last {
		first++
	}
	order := make([]int, len(kbs))
	for i := range order {
		order[i] = (first + i) % len(kbs)
	}
	for len(out) < limit {
		best, found := 0, false
		for _, i := range order {
			if len(queues[i]) > 0 && (!found || queues[i][0].Priority > best) {
				best, found = queues[i][0].Priority, true
			}
		}
		if !found {
			break
		}
		for pos, i := range order {
			if len(queues[i]) == 0 || queues[i][0].Priority != best {
				continue
			}
			out = append(out, queues[i][0])
			queues[i] = queues[i][1:]
			// It goes behind all others.
			order = append(slices.Delete(order, pos, pos+1), i)
			break
		}
	}
	return out
}

func (t *wtx) markClaimed(jobs []Job) error {
	for i := range jobs {
		j := &jobs[i]
		t.moveJob(j.KB, jobPending, jobProcessing)
		j.claim++
		j.Attempts++
		j.State, j.Updated, j.NextTry = JobProcessing, timeOf(t.now), time.Time{}
		err := t.run("UPDATE jobs SET state = 2, attempts = ?, claim = ?, claimed_ms = ?, updated_ms = ?, rerun = 0 WHERE id = ?",
			j.Attempts, j.claim, t.now, t.now, j.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// NextDue is when the next job that waits for its next try comes due; now
// when one is ready. False when none waits. Paused KBs do not count.
func (s *Store) NextDue(ctx context.Context) (at time.Time, ok bool, err error) {
	now := s.opt.Now()
	err = s.read(ctx, "look for jobs", func(r *reader) error {
		var paused, ready bool
		err := r.row(`SELECT coalesce((SELECT value FROM settings WHERE key = 'paused'), 0)`).Scan(&paused)
		if err != nil || paused {
			return err
		}
		err = r.row(`SELECT EXISTS (SELECT 1 FROM kbs k WHERE k.jobs_pending > 0 AND NOT k.paused AND EXISTS
			(SELECT 1 FROM jobs j WHERE j.kb_id = k.id AND j.state = 1 AND j.next_try_ms = 0 AND j.code <> 'interrupted'))
			OR EXISTS (` + suspectSQL + `)`).Scan(&ready)
		if err != nil {
			return err
		}
		if ready {
			at, ok = now, true
			return nil
		}
		var ms int64
		err = r.row(`SELECT j.next_try_ms FROM jobs j JOIN kbs k ON k.id = j.kb_id
			WHERE j.state = 1 AND j.next_try_ms > 0 AND NOT k.paused ORDER BY j.next_try_ms LIMIT 1`).Scan(&ms)
		if err == sql.ErrNoRows {
			return nil
		}
		at, ok = timeOf(ms), err == nil
		return err
	})
	return at, ok, err
}
