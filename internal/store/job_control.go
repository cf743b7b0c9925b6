package store

import (
	"context"
	"database/sql"
	"time"

	"ragd/internal/fault"
)

// RetryJob starts a parked job fresh.
func (s *Store) RetryJob(ctx context.Context, id int64) error {
	return s.write(ctx, "retry job", func(t *wtx) error {
		var kb int64
		var path string
		var state int
		ok, err := t.get([]any{&kb, &path, &state}, "SELECT kb_id, path, state FROM jobs WHERE id = ?", id)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.NotFound, "job_not_found", "no job %d", id).
				WithHint("A job that has ended is gone; list the jobs to see the open ones.")
		}
		if state != jobFailed {
			return fault.New(fault.Conflict, "job_not_failed", "job %d is %s; only a failed one can be retried", id, jobNames[state])
		}
		return t.retry(id, kb, path)
	})
}

func (t *wtx) retry(id, kb int64, path string) error {
	if done, err := t.retryEmbedding(id, kb, path); done || err != nil {
		return err
	}
	t.moveJob(kb, jobFailed, jobPending)
	err := t.run("UPDATE jobs SET state = 1, attempts = 0, next_try_ms = 0, rerun = 0, reason = ?, updated_ms = ? WHERE id = ?",
		string(ReasonRetry), t.now, id)
	if err != nil {
		return err
	}
	d, ok, err := t.doc(kb, path)
	if err != nil || !ok || d.state == docDeleted {
		return err
	}
	return t.setState(&d, docPending, "", "")
}

// RetryJobs starts all parked jobs fresh that the filter selects (its State
// and Limit do not matter), and says how many.
func (s *Store) RetryJobs(ctx context.Context, f JobFilter) (int, error) {
	f.State = JobFailed
	total, after := 0, int64(0)
	for {
		n := 0
		err := s.write(ctx, "retry jobs", func(t *wtx) error {
			where, args := f.where()
			jobs, err := t.jobKeys("SELECT j.id, j.kb_id, j.path FROM jobs j WHERE "+where+" AND j.id > ? ORDER BY j.id LIMIT 500", append(args, after)...)
			if err != nil {
				return err
			}
			n = len(jobs)
			for _, j := range jobs {
				after = j.id
				if err := t.retry(j.id, j.kb, j.path); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}

// jobKey names a job and its document.
type jobKey struct {
	id, kb   int64
	path     string
	attempts int
}

func (t *wtx) jobKeys(query string, args ...any) (out []jobKey, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var j jobKey
		err := rows.Scan(&j.id, &j.kb, &j.path)
		out = append(out, j)
		return err
	}, query, args...)
	return out, err
}

// bumped is the priority of a job put to the front, above files seen live.
const bumped = 100

// Bump puts a waiting job to the front; false when there is none.
func (s *Store) Bump(ctx context.Context, kb int64, path string) (found bool, err error) {
	err = s.write(ctx, "bump job", func(t *wtx) error {
		n, err := t.count("UPDATE jobs SET priority = ?, next_try_ms = 0, updated_ms = ? WHERE kb_id = ? AND path = ? AND op = 0 AND state = 1",
			bumped, t.now, kb, path)
		found = n > 0
		return err
	})
	return found, err
}

// RescueStale gives back the jobs that have been in processing for olderThan
// or more; those with maxAttempts used are parked, since the file may be what
// stops the program.
func (s *Store) RescueStale(ctx context.Context, olderThan time.Duration, maxAttempts int) (int, error) {
	rescued := 0
	err := s.write(ctx, "rescue jobs", func(t *wtx) error {
		rescued = 0
		var jobs []jobKey
		err := t.each(func(rows *sql.Rows) error {
			var j jobKey
			err := rows.Scan(&j.id, &j.kb, &j.path, &j.attempts)
			jobs = append(jobs, j)
			return err
		}, "SELECT id, kb_id, path, attempts FROM jobs WHERE state = 2 AND claimed_ms <= ?", t.now-olderThan.Milliseconds())
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if err := t.rescue(j, maxAttempts); err != nil {
				return err
			}
		}
		rescued = len(jobs)
		return nil
	})
	return rescued, err
}

func (t *wtx) rescue(j jobKey, maxAttempts int) error {
	if maxAttempts <= 0 || j.attempts < maxAttempts {
		t.moveJob(j.kb, jobProcessing, jobPending)
		return t.run("UPDATE jobs SET state = 1, rerun = 0, next_try_ms = 0, code = ?, updated_ms = ? WHERE id = ?", codeInterrupted, t.now, j.id)
	}
	f := Failure{
		Stage: "extract", Class: fault.Transient, Code: "never_ended", Parked: true,
		Message: "the program stopped, or the file took too long, each time this file was read",
		Hint:    "Look at the file; it is tried again when it changes or on request.",
	}
	return t.fail(j, jobProcessing, &f)
}

// SetPaused pauses or resumes a KB (0 = all).
func (s *Store) SetPaused(ctx context.Context, kb int64, paused bool) error {
	return s.write(ctx, "pause", func(t *wtx) error {
		if kb == 0 {
			return t.run("INSERT INTO settings (key, value) VALUES ('paused', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1", paused)
		}
		n, err := t.count("UPDATE kbs SET paused = ? WHERE id = ?", paused, kb)
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "kb_not_found", "no knowledge base with id %d", kb)
		}
		return err
	})
}

// Paused says whether all is paused, and which KBs are by themselves.
func (s *Store) Paused(ctx context.Context) (all bool, kbs []int64, err error) {
	err = s.read(ctx, "read pauses", func(r *reader) error {
		err := r.row("SELECT coalesce((SELECT value FROM settings WHERE key = 'paused'), 0)").Scan(&all)
		if err != nil {
			return err
		}
		return r.each(func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			kbs = append(kbs, id)
			return err
		}, "SELECT id FROM kbs WHERE paused ORDER BY id")
	})
	return all, kbs, err
}
