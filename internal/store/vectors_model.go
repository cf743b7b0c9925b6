package store

import (
	"context"
	"database/sql"
	"time"

	"ragd/internal/fault"
)

const generationColumns = "id, model, name, source, dim, serving, target"

func (g *VectorGeneration) dest() []any {
	return []any{&g.ID, &g.Key, &g.Name, &g.Source, &g.Dim, &g.Serving, &g.Target}
}

// Generations lists the models whose vectors are kept, oldest first.
func (s *Store) Generations(ctx context.Context) (out []VectorGeneration, err error) {
	err = s.read(ctx, "list vector generations", func(r *reader) error {
		return r.each(func(rows *sql.Rows) error {
			var g VectorGeneration
			err := rows.Scan(g.dest()...)
			out = append(out, g)
			return err
		}, "SELECT "+generationColumns+" FROM generations ORDER BY id")
	})
	return out, err
}

// UseModel makes a model's generation the target, and brings the serving one
// into memory. While another one serves, it goes on serving until the target
// is complete (Flip). A model used before and still kept has its vectors.
func (s *Store) UseModel(ctx context.Context, m VectorModel) (VectorGeneration, error) {
	if m.Dim < 1 || m.Dim > maxDim || m.Key == "" {
		return VectorGeneration{}, fault.New(fault.Invalid, "bad_model", "the model %q has vectors of %d numbers; allowed: 1 to %d", m.Name, m.Dim, maxDim)
	}
	var g VectorGeneration
	err := s.write(ctx, "use model", func(t *wtx) (err error) {
		g, err = t.target(m)
		return err
	})
	if err != nil {
		return g, err
	}
	s.vec.seq.Add(1)
	if g, err = s.flip(ctx, g.ID, false); err != nil {
		return g, err
	}
	return g, s.ensureLoaded(ctx)
}

// target finds or makes the generation of a model and points pending at it.
func (t *wtx) target(m VectorModel) (g VectorGeneration, err error) {
	find := func() (bool, error) {
		return t.get(g.dest(), "SELECT "+generationColumns+" FROM generations WHERE model = ?", m.Key)
	}
	ok, err := find()
	if err != nil {
		return g, err
	}
	if ok && g.Dim != m.Dim {
		return g, fault.New(fault.Conflict, "model_changed", "the model %q had vectors of %d numbers and has %d now", m.Name, g.Dim, m.Dim)
	}
	if !ok {
		err = t.run("INSERT INTO generations (model, name, source, dim, created_ms, used_ms) VALUES (?, ?, ?, ?, ?, ?)",
			m.Key, m.Name, m.Source, m.Dim, t.now, t.now)
		if err != nil {
			return g, err
		}
		if _, err := find(); err != nil {
			return g, err
		}
	}
	if err := t.run("UPDATE generations SET source = ?, name = ?, used_ms = ? WHERE id = ?", m.Source, m.Name, t.now, g.ID); err != nil || g.Target {
		return g, err
	}
	if err := t.run("UPDATE generations SET target = id = ?, used_ms = iif(target, ?, used_ms)", g.ID, t.now); err != nil {
		return g, err
	}
	g.Target = true
	if err := t.forgetFailures(g.ID); err != nil {
		return g, err
	}
	return g, t.recountPending(g.ID)
}

// forgetFailures drops what the earlier target could not embed from the list
// of failed jobs, and lets the new one try again what it could not.
func (t *wtx) forgetFailures(gen int64) error {
	parked := map[int64]int64{}
	err := t.each(func(rows *sql.Rows) error {
		var kb, n int64
		err := rows.Scan(&kb, &n)
		parked[kb] = n
		return err
	}, "SELECT kb_id, count(*) FROM jobs WHERE op = ? AND state = ? GROUP BY kb_id", jobEmbed, jobFailed)
	if err != nil {
		return err
	}
	for kb, n := range parked {
		t.counters(kb).jobs[jobFailed] -= n
	}
	if err := t.run("DELETE FROM jobs WHERE op = ? AND state = ?", jobEmbed, jobFailed); err != nil {
		return err
	}
	err = t.run("INSERT INTO vector_garbage (windows) SELECT windows FROM chunk_vectors WHERE generation = ? AND failed AND length(windows) > 0", gen)
	if err != nil {
		return err
	}
	return t.run("DELETE FROM chunk_vectors WHERE generation = ? AND failed", gen)
}

// recountPending writes anew what waits for the target.
func (t *wtx) recountPending(gen int64) error {
	if err := t.run("DELETE FROM vector_pending"); err != nil {
		return err
	}
	return t.run(`INSERT INTO vector_pending (chunk_id, changed)
		SELECT c.id, max(d.mtime_ns, coalesce(p.mtime_ns, 0)) FROM chunks c JOIN documents d ON d.id = c.document_id
		LEFT JOIN documents p ON p.id = d.parent_id
		WHERE c.active AND NOT EXISTS (SELECT 1 FROM chunk_vectors v WHERE v.generation = ? AND v.chunk_id = c.id)`, gen)
}

// Flip lets the target serve when it is complete; then it reports true once.
func (s *Store) Flip(ctx context.Context) (VectorGeneration, bool, error) {
	st, err := s.VectorStatus(ctx)
	if err != nil || st.Target.ID == 0 || st.Target.Serving {
		return st.Serving, false, err
	}
	g, err := s.flip(ctx, st.Target.ID, false)
	if err == nil && g.Serving {
		err = s.ensureLoaded(ctx)
	}
	return g, g.Serving, err
}

// ServeTarget lets the target serve although it is not complete: for when
// nothing can embed queries for the old one.
func (s *Store) ServeTarget(ctx context.Context) (VectorGeneration, error) {
	st, err := s.VectorStatus(ctx)
	if err != nil || st.Target.ID == 0 || st.Target.Serving {
		return st.Target, err
	}
	g, err := s.flip(ctx, st.Target.ID, true)
	if err == nil {
		err = s.ensureLoaded(ctx)
	}
	return g, err
}

// flip makes a target serve if nothing else with vectors does, if it is
// complete, or anyhow.
func (s *Store) flip(ctx context.Context, id int64, anyhow bool) (g VectorGeneration, err error) {
	err = s.write(ctx, "change the serving model", func(t *wtx) error {
		ok, err := t.get(g.dest(), "SELECT "+generationColumns+" FROM generations WHERE id = ?", id)
		if err != nil || !ok || g.Serving {
			return err
		}
		var waits, others int64
		if _, err := t.get([]any{&waits}, "SELECT EXISTS (SELECT 1 FROM vector_pending)"); err != nil {
			return err
		}
		_, err = t.get([]any{&others}, `SELECT EXISTS (SELECT 1 FROM generations g WHERE g.serving AND g.id <> ?
			AND EXISTS (SELECT 1 FROM chunk_vectors v WHERE v.generation = g.id))`, id)
		if err != nil || waits > 0 && others > 0 && !anyhow {
			return err
		}
		g.Serving, t.changed = true, true
		return t.run("UPDATE generations SET serving = id = ?, used_ms = iif(serving OR id = ?, ?, used_ms)", id, id, t.now)
	})
	return g, err
}

// LoadVectors brings the serving generation into memory, if there is one.
func (s *Store) LoadVectors(ctx context.Context) error { return s.ensureLoaded(ctx) }

// ensureLoaded brings the serving generation into memory. Writers wait for
// it, searches do not.
func (s *Store) ensureLoaded(ctx context.Context) error {
	g, err := s.serving(ctx)
	if err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	if s.closed.Load() {
		return s.classify(ctx, "load vectors", sql.ErrConnDone)
	}
	if set := s.vec.current(); set != nil && set.gen == g.ID || g.ID == 0 {
		return nil
	}
	set, err := s.loadVectors(ctx, g)
	if err == nil {
		s.vec.replace(set)
	}
	return err
}

func (v *vectorIndex) current() *codeSet {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.set
}

func (s *Store) serving(ctx context.Context) (g VectorGeneration, err error) {
	err = s.read(ctx, "look up vector generation", func(r *reader) error {
		e := r.row("SELECT " + generationColumns + " FROM generations WHERE serving").Scan(g.dest()...)
		if e == sql.ErrNoRows {
			return nil
		}
		return e
	})
	return g, err
}

// statusAge is how old the counts of VectorStatus may be.
const statusAge = 300 * time.Millisecond

// VectorStatus says how the vectors are doing. Backlog and Failed may be some
// hundred milliseconds old while there is work, never afterwards.
func (s *Store) VectorStatus(ctx context.Context) (st VectorStatus, err error) {
	gens, err := s.Generations(ctx)
	if err != nil {
		return st, err
	}
	for _, g := range gens {
		if g.Serving {
			st.Serving = g
		}
		if g.Target {
			st.Target = g
		}
	}
	s.vec.mu.RLock()
	if set := s.vec.set; set != nil {
		st.Ready = set.gen == st.Serving.ID
		st.Chunks, st.Windows, st.Memory = int64(set.live), int64(set.windows-set.dead), set.bytes()
	}
	s.vec.mu.RUnlock()
	st.Backlog, st.Failed, st.Total, err = s.backlog(ctx)
	return st, err
}

// Backlog is how many chunks wait for vectors; cheap.
func (s *Store) Backlog(ctx context.Context) (int64, error) {
	st, err := s.VectorStatus(ctx)
	return st.Backlog, err
}

// backlogSample is how many waiting chunks are looked at for their KB.
const backlogSample = 5000

// BacklogOf is how many chunks of some KBs wait for vectors; where very many
// wait it is an estimate from the newest.
func (s *Store) BacklogOf(ctx context.Context, kbs []int64) (int64, error) {
	waiting, err := s.Backlog(ctx)
	if err != nil || kbs == nil || waiting == 0 {
		return waiting, err
	}
	cond, args := kbCond("d.kb_id", kbs)
	var looked, theirs int64
	err = s.read(ctx, "count vectors", func(r *reader) error {
		return r.row("SELECT count(*), coalesce(sum("+cond+"), 0) FROM (SELECT chunk_id FROM vector_pending ORDER BY changed DESC, chunk_id LIMIT ?) p "+
			"CROSS JOIN chunks c ON c.id = p.chunk_id CROSS JOIN documents d ON d.id = c.document_id", append(args, backlogSample)...).Scan(&looked, &theirs)
	})
	if looked == backlogSample {
		theirs = theirs * max(waiting, looked) / looked
	}
	return theirs, err
}

func (s *Store) backlog(ctx context.Context) (waiting, failed, total int64, err error) {
	v := &s.vec
	gen, seq := s.gen.Load(), v.seq.Load()
	v.statusMu.Lock()
	defer v.statusMu.Unlock()
	if !v.counted.IsZero() && v.countGen == gen && v.countSeq == seq || v.backlog > 0 && time.Since(v.counted) < statusAge {
		return v.backlog, v.failed, v.total, nil
	}
	err = s.read(ctx, "count vectors", func(r *reader) error {
		if err := r.row("SELECT count(*) FROM vector_pending").Scan(&waiting); err != nil {
			return err
		}
		if err := r.row("SELECT coalesce(sum(chunks), 0) FROM kbs").Scan(&total); err != nil {
			return err
		}
		return r.row("SELECT count(*) FROM jobs WHERE state = 3 AND op = ?", jobEmbed).Scan(&failed)
	})
	if err == nil {
		v.countGen, v.countSeq, v.counted, v.backlog, v.failed, v.total = gen, seq, time.Now(), waiting, failed, total
	}
	return waiting, failed, total, err
}
