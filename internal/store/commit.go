package store

import (
	"context"
	"errors"

	"ragd/internal/fault"
)

// Commit writes the ends of claimed jobs in one transaction: the documents
// become searchable and their jobs go. When one outcome cannot be written,
// each is written by itself and an *OutcomeError names those that failed; an
// error of the disk or the context fails all.
//
// An outcome whose job is gone (the document was deleted meanwhile) or was
// claimed again since is dropped in silence. A job that was asked for again
// while it ran goes back to pending, and what it brought goes in.
func (s *Store) Commit(ctx context.Context, outcomes []Outcome) error {
	items := make([]item, len(outcomes))
	failed := &OutcomeError{}
	usable := make([]int, 0, len(outcomes))
	for i := range outcomes {
		it, err := s.prepareOutcome(&outcomes[i])
		if err != nil {
			failed.Failed = append(failed.Failed, FailedOutcome{i, err})
			continue
		}
		items[i] = it
		usable = append(usable, i)
	}
	err := s.commitSome(ctx, items, usable)
	if err != nil && len(usable) > 1 && alone(err) {
		for _, i := range usable {
			if err := s.commitSome(ctx, items, []int{i}); err != nil {
				failed.Failed = append(failed.Failed, FailedOutcome{i, err})
			}
		}
	} else if err != nil {
		return err
	}
	if len(failed.Failed) > 0 {
		return failed
	}
	return nil
}

// alone says whether an error may be one outcome's fault.
func alone(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Cancelled:
		return false
	}
	return !errors.Is(err, context.Canceled)
}

// item is an outcome and what could be made of it before the transaction.
type item struct {
	out  *Outcome
	prep prepared
}

func (s *Store) prepareOutcome(o *Outcome) (it item, err error) {
	it.out = o
	set := 0
	for _, b := range []bool{o.Indexed != nil, o.Unchanged != nil, o.Failed != nil, o.Excluded != nil, o.Gone, o.Released} {
		if b {
			set++
		}
	}
	if set != 1 {
		return it, fault.New(fault.Internal, "bad_outcome", "an outcome has %d results instead of one", set)
	}
	switch {
	case o.prepared != nil:
		it.prep = *o.prepared
	case o.Indexed != nil:
		it.prep, err = s.prepareIndexed(o.Indexed)
	}
	return it, err
}

func (s *Store) commitSome(ctx context.Context, items []item, which []int) error {
	if len(which) == 0 {
		return nil
	}
	return s.write(ctx, "commit", func(t *wtx) error {
		for _, i := range which {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.settle(&items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle writes one outcome.
func (t *wtx) settle(it *item) error {
	o := it.out
	var kb kbRow
	var state, attempts int
	var rerun bool
	var claim int64
	var path string
	ok, err := t.get([]any{&kb.id, &kb.name, &path, &state, &attempts, &rerun, &claim},
		`SELECT j.kb_id, k.name, j.path, j.state, j.attempts, j.rerun, j.claim
		FROM jobs j JOIN kbs k ON k.id = j.kb_id WHERE j.id = ?`, o.Job.ID)
	if err != nil {
		return err
	}
	if !ok || claim != o.Job.claim || state == jobFailed {
		return nil
	}
	key := jobKey{o.Job.ID, kb.id, path, attempts}
	if o.Released || o.Failed != nil {
		if state != jobProcessing {
			return nil // rescued: it is pending already
		}
		if o.Released {
			return t.release(key, rerun)
		}
		if rerun {
			return t.again(key, state)
		}
		return t.fail(key, state, o.Failed)
	}
	d, known, err := t.doc(kb.id, path)
	if err != nil {
		return err
	}
	if !known {
		if d, err = t.newDoc(kb.id, path, 0, docPending, o.Job.Stat); err != nil {
			return err
		}
	}
	if err := t.take(kb, &d, it); err != nil {
		return err
	}
	if rerun {
		if d.state != docDeleted {
			t.countState(&d, docPending)
			if err := t.run("UPDATE documents SET state = 2, code = '', reason = '' WHERE id = ?", d.id); err != nil {
				return err
			}
		}
		return t.again(key, state)
	}
	t.counters(kb.id).jobs[state]--
	return t.run("DELETE FROM jobs WHERE id = ?", o.Job.ID)
}

// take applies a final outcome to its document.
func (t *wtx) take(kb kbRow, d *docRow, it *item) error {
	switch o := it.out; {
	case o.Indexed != nil:
		return t.index(kb, d, &it.prep, o.Job.Reason == ReasonForced)
	case o.Unchanged != nil:
		if err := t.setStat(d.id, o.Unchanged.Stat); err != nil {
			return err
		}
		c := t.counters(d.kb)
		if d.revision == 0 {
			return fault.New(fault.Transient, "revision_gone", "the document was taken out of the index while it was compared")
		}
		c.bytes += o.Unchanged.Stat.Size - d.bytes
		d.bytes = o.Unchanged.Stat.Size
		if err := t.run("UPDATE documents SET bytes = ? WHERE id = ?", d.bytes, d.id); err != nil {
			return err
		}
		return t.setState(d, docIndexed, "", "")
	case o.Excluded != nil:
		return t.exclude(d, o.Excluded.Stat, o.Excluded.Code, o.Excluded.Why)
	default: // Gone
		if d.state == docDeleted {
			return nil
		}
		return t.remove(d)
	}
}

// release gives a job back and takes back the attempt.
func (t *wtx) release(j jobKey, rerun bool) error {
	attempts := max(0, j.attempts-1)
	if rerun {
		attempts = 0
	}
	t.moveJob(j.kb, jobProcessing, jobPending)
	return t.run("UPDATE jobs SET state = 1, attempts = ?, rerun = 0, next_try_ms = 0, updated_ms = ? WHERE id = ?", attempts, t.now, j.id)
}

// again starts a job fresh that was asked for while it ran.
func (t *wtx) again(j jobKey, state int) error {
	t.moveJob(j.kb, state, jobPending)
	return t.run(`UPDATE jobs SET state = 1, attempts = 0, rerun = 0, next_try_ms = 0,
		stage = '', class = '', code = '', message = '', hint = '', updated_ms = ? WHERE id = ?`, t.now, j.id)
}

// fail records a failed attempt; parked, the document counts as failed.
func (t *wtx) fail(j jobKey, state int, f *Failure) error {
	to, next := jobPending, max(f.NextTry.UnixMilli(), 1)
	if f.Parked {
		to, next = jobFailed, 0
	} else if f.NextTry.IsZero() {
		next = 0
	}
	t.moveJob(j.kb, state, to)
	var hash any
	if f.Hash != ([32]byte{}) {
		hash = f.Hash[:]
	}
	err := t.run(`UPDATE jobs SET state = ?, stage = ?, class = ?, code = ?, message = ?, hint = ?, hash = ?,
		next_try_ms = ?, rerun = 0, updated_ms = ? WHERE id = ?`,
		to, f.Stage, f.Class.String(), f.Code, f.Message, f.Hint, hash, next, t.now, j.id)
	if err != nil || !f.Parked {
		return err
	}
	d, ok, err := t.doc(j.kb, j.path)
	if err != nil || !ok || d.state == docDeleted {
		return err
	}
	if f.Stat != (Stat{}) {
		if err := t.setStat(d.id, f.Stat); err != nil {
			return err
		}
	}
	return t.setState(&d, docFailed, f.Code, f.Message)
}
