package store

import (
	"context"
	"fmt"

	"ragd/internal/fault"
)

const planBatch = 1000

// ApplyPlans carries out what the planner decided, in one transaction per
// thousand plans, and says how many jobs are queued by it.
func (s *Store) ApplyPlans(ctx context.Context, kb int64, plans []Plan) (enqueued int, err error) {
	for len(plans) > 0 {
		n := min(len(plans), planBatch)
		queued := 0
		err := s.write(ctx, "apply plans", func(t *wtx) error {
			queued = 0
			if err := t.needKB(kb); err != nil {
				return err
			}
			for i := range plans[:n] {
				if err := ctx.Err(); err != nil {
					return err
				}
				q, err := t.apply(kb, &plans[i])
				if err != nil {
					return err
				}
				if q {
					queued++
				}
			}
			return nil
		})
		if err != nil {
			return enqueued, err
		}
		enqueued += queued
		plans = plans[n:]
	}
	return enqueued, nil
}

func (t *wtx) needKB(kb int64) error {
	var one int
	ok, err := t.get([]any{&one}, "SELECT 1 FROM kbs WHERE id = ?", kb)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "kb_not_found", "no knowledge base with id %d", kb)
	}
	return err
}

func (t *wtx) apply(kb int64, p *Plan) (queued bool, err error) {
	d, known, err := t.doc(kb, p.Path)
	if err != nil {
		return false, err
	}
	switch p.Op {
	case PlanIndex:
		return true, t.applyIndex(kb, &d, known, p)
	case PlanDelete:
		if err := t.dropJob(kb, p.Path); err != nil {
			return false, err
		}
		if !known || d.state == docDeleted {
			return false, nil
		}
		return false, t.remove(&d)
	case PlanExclude:
		if err := t.dropJob(kb, p.Path); err != nil {
			return false, err
		}
		if !known {
			if d, err = t.newDoc(kb, p.Path, 0, docExcluded, p.Stat); err != nil {
				return false, err
			}
		}
		return false, t.exclude(&d, p.Stat, p.Code, p.Why)
	case PlanTouch:
		if !known {
			return false, nil
		}
		return false, t.setStat(d.id, p.Stat)
	}
	return false, fmt.Errorf("store: unknown plan %d", p.Op)
}

func (t *wtx) applyIndex(kb int64, d *docRow, known bool, p *Plan) error {
	var err error
	if !known {
		*d, err = t.newDoc(kb, p.Path, 0, docPending, p.Stat)
	} else {
		t.countState(d, docPending)
		err = t.run(`UPDATE documents SET state = 2, code = '', reason = '', deleted_ms = NULL, parent_id = NULL,
			size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?`,
			p.Stat.Size, p.Stat.MTimeNS, p.Stat.CTimeNS, int64(p.Stat.Inode), d.id)
	}
	if err != nil {
		return err
	}
	return t.enqueue(kb, p)
}

// enqueue queues a job or starts a queued one fresh. One under way goes on
// and runs again when it ends.
func (t *wtx) enqueue(kb int64, p *Plan) error {
	var id int64
	var state int
	ok, err := t.get([]any{&id, &state}, "SELECT id, state FROM jobs WHERE kb_id = ? AND path = ? AND op = 0", kb, p.Path)
	if err != nil {
		return err
	}
	if !ok {
		t.counters(kb).jobs[jobPending]++
		return t.run(`INSERT INTO jobs (kb_id, path, reason, state, priority, size, mtime_ns, ctime_ns, inode, created_ms, updated_ms)
			VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`, kb, p.Path, string(p.Reason), p.Priority,
			p.Stat.Size, p.Stat.MTimeNS, p.Stat.CTimeNS, int64(p.Stat.Inode), t.now, t.now)
	}
	if state == jobProcessing {
		return t.run(`UPDATE jobs SET rerun = 1, reason = ?, priority = max(priority, ?),
			size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, updated_ms = ? WHERE id = ?`,
			string(p.Reason), p.Priority, p.Stat.Size, p.Stat.MTimeNS, p.Stat.CTimeNS, int64(p.Stat.Inode), t.now, id)
	}
	t.moveJob(kb, state, jobPending)
	return t.run(`UPDATE jobs SET state = 1, attempts = 0, next_try_ms = 0, rerun = 0, reason = ?, priority = max(priority, ?),
		stage = '', class = '', code = '', message = '', hint = '',
		size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, updated_ms = ? WHERE id = ?`,
		string(p.Reason), p.Priority, p.Stat.Size, p.Stat.MTimeNS, p.Stat.CTimeNS, int64(p.Stat.Inode), t.now, id)
}

func (t *wtx) moveJob(kb int64, from, to int) {
	c := t.counters(kb)
	c.jobs[from]--
	c.jobs[to]++
}

// dropJob removes a path's job; one under way finds its row gone when it ends.
func (t *wtx) dropJob(kb int64, path string) error {
	var id int64
	var state int
	ok, err := t.get([]any{&id, &state}, "SELECT id, state FROM jobs WHERE kb_id = ? AND path = ? AND op = 0", kb, path)
	if err != nil || !ok {
		return err
	}
	t.counters(kb).jobs[state]--
	return t.run("DELETE FROM jobs WHERE id = ?", id)
}

// ForceKB queues every document of a KB again, excluded ones apart. What is
// indexed stays searchable until its replacement is in.
func (s *Store) ForceKB(ctx context.Context, kb int64) (enqueued int, err error) {
	after := int64(0)
	for {
		n := 0
		err := s.write(ctx, "force", func(t *wtx) error {
			docs, stats, err := t.forceable(kb, after)
			if err != nil {
				return err
			}
			n = len(docs)
			for i := range docs {
				d := &docs[i]
				t.countState(d, docPending)
				if err := t.run("UPDATE documents SET state = 2, code = '', reason = '' WHERE id = ?", d.id); err != nil {
					return err
				}
				if err := t.enqueue(kb, &Plan{Path: d.path, Reason: ReasonForced, Stat: stats[i]}); err != nil {
					return err
				}
				after = d.id
			}
			return nil
		})
		if err != nil || n == 0 {
			return enqueued, err
		}
		enqueued += n
	}
}
