package admin

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/internal/wire"
)

// health answers GET /health: 503 when a part does not work.
func (s *Server) health(w http.ResponseWriter, c *call) (any, error) {
	h := s.sv.Daemon.Health()
	h.APIVersion = wire.APIVersion
	degraded := map[string]string{}
	for part, why := range h.Degraded {
		degraded[part] = why
	}
	ctx, cancel := context.WithTimeout(c.Context(), probeTime)
	defer cancel()
	if err := s.sv.Index.Probe(ctx); err != nil {
		degraded["index"] = errorBody(err).Message
		s.log.Warn("the index does not answer its probe", "error", err)
	}
	h.Degraded = nil
	status := http.StatusOK
	switch {
	case len(degraded) > 0:
		h.Status, h.Degraded, status = "degraded", degraded, http.StatusServiceUnavailable
	case h.Status == "":
		h.Status = "ok"
	}
	s.writeJSON(counting(w), c.Request, status, h)
	return written{}, nil
}

// counting is the writer every handler is called with.
func counting(w http.ResponseWriter) *countingWriter {
	if cw, ok := w.(*countingWriter); ok {
		return cw
	}
	return &countingWriter{ResponseWriter: w}
}

func (s *Server) status(_ http.ResponseWriter, c *call) (any, error) {
	return s.fullStatus(c.Context())
}

// fullStatus is the daemon's part with the index's counters.
func (s *Server) fullStatus(ctx context.Context) (wire.Status, error) {
	status, err := s.sv.Daemon.Status(ctx)
	if err != nil {
		return status, err
	}
	stats, err := s.sv.Index.KBStats(ctx, nil)
	if err != nil {
		return status, err
	}
	if status.Poor, err = s.sv.Index.CountFlagged(ctx, nil); err != nil {
		return status, err
	}
	sum := sumStats(stats)
	status.KBCount = len(stats)
	status.Documents, status.Chunks, status.Bytes, status.Queue = sum.documents, sum.chunks, sum.bytes, s.begun(sum.queue)
	status.ETASeconds = eta(sum.queue, status.Rate)
	if status.Watchers == nil {
		status.Watchers = []wire.Watcher{}
	}
	if status.Agents == nil {
		status.Agents = []wire.Agent{}
	}
	return status, nil
}

// eta is the seconds the queue will take at a rate; 0 = unknown or nothing to do.
func eta(q wire.Queue, rate float64) int64 {
	left := q.Pending + q.Processing
	if left == 0 || rate <= 0 {
		return 0
	}
	return int64(math.Min(math.Ceil(float64(left)/rate), 365*24*3600))
}

type sums struct {
	documents, chunks, bytes int64
	queue                    wire.Queue
}

// begun adds to the queue's counters how many jobs a worker has begun: jobs are
// claimed many at a time, and those that are only set aside still wait.
func (s *Server) begun(q wire.Queue) wire.Queue {
	q.Begun = min(int64(len(s.sv.Work.Stages())), q.Processing)
	return q
}

func sumStats(stats []store.KBStats) sums {
	var t sums
	for _, k := range stats {
		t.documents += k.Documents
		t.chunks += k.Chunks
		t.bytes += k.Bytes
		t.queue.Pending += k.Pending
		t.queue.Processing += k.Processing
		t.queue.Failed += k.Failed
	}
	return t
}

// kbs answers GET /admin/kbs: what is indexed together with what is on disk.
func (s *Server) kbs(_ http.ResponseWriter, c *call) (any, error) {
	stats, err := s.sv.Index.KBStats(c.Context(), nil)
	if err != nil {
		return nil, err
	}
	all, paused, err := s.sv.Index.Paused(c.Context())
	if err != nil {
		return nil, err
	}
	roots := map[string]int{}
	states := s.sv.Files.Roots()
	for i, r := range states {
		roots[r.Name] = i
	}
	out := wire.KBs{KBs: make([]wire.KB, 0, len(stats))}
	for _, k := range stats {
		kb := wireKB(k)
		kb.Paused = all || slices.Contains(paused, k.ID)
		kb.Available = true
		if i, ok := roots[k.Root]; !ok {
			kb.Available, kb.Reason = false, "its root is not configured any more"
		} else if !states[i].Available {
			kb.Available, kb.Reason = false, states[i].Reason
		}
		out.KBs = append(out.KBs, kb)
	}
	slices.SortFunc(out.KBs, func(a, b wire.KB) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// kbByName finds a KB in the index.
func (s *Server) kbByName(ctx context.Context, name string) (store.KBStats, error) {
	stats, err := s.sv.Index.KBStats(ctx, nil)
	if err != nil {
		return store.KBStats{}, err
	}
	for _, k := range stats {
		if k.Name == name {
			return k, nil
		}
	}
	return store.KBStats{}, noSuchKB(name)
}

func noSuchKB(name string) error {
	return fault.New(fault.NotFound, "kb_not_found", "there is no knowledge base %.200q", name).
		WithHint("GET /admin/kbs lists them (ragd status)")
}

func (s *Server) logLines(_ http.ResponseWriter, c *call) (any, error) {
	n, err := c.number("limit", 0, 1, recentLines)
	if err != nil {
		return nil, err
	}
	return wire.Log{Lines: s.rec.Lines(int(n))}, nil
}
