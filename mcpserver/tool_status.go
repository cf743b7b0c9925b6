package mcpserver

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

type queueOut struct {
	Pending    int64 `json:"pending"`
	Processing int64 `json:"processing"`
	Failed     int64 `json:"failed"`
}

type embedderOut struct {
	State     string  `json:"state"`
	Model     string  `json:"model,omitempty"`
	Serving   string  `json:"serving,omitempty"`
	Dimension int     `json:"dimension,omitempty"`
	Backlog   int64   `json:"backlog"`
	Embedded  int64   `json:"embedded"`
	Total     int64   `json:"total"`
	Rate      float64 `json:"chunks_per_second,omitempty"`
	ETA       int64   `json:"eta_seconds,omitempty"`
	Reason    string  `json:"reason,omitempty"`
}

type watcherOut struct {
	Root    string `json:"root"`
	Mode    string `json:"mode"`
	Watches int    `json:"watches"`
	Reason  string `json:"reason,omitempty"`
	Advice  string `json:"advice,omitempty"`
}

type statusOut struct {
	KBs       int          `json:"kbs"`
	Documents int64        `json:"documents"`
	Chunks    int64        `json:"chunks"`
	Queue     queueOut     `json:"queue"`
	Embedder  embedderOut  `json:"embedder"`
	Watchers  []watcherOut `json:"watchers"`
	Version   string       `json:"version"`
	Uptime    int64        `json:"uptime_seconds"`
	Phase     string       `json:"phase,omitempty"`
}

func queueSchema() schema {
	return object([]string{"pending", "processing", "failed"}, map[string]schema{
		"pending": integer("Waiting."), "processing": integer("Being indexed."), "failed": integer("Given up until the file changes; see rag_jobs."),
	})
}

func toolStatus() *tool {
	return &tool{
		name: "rag_status", title: "Status of the daemon", idempotent: true,
		desc: "Tell how the index is doing: knowledge bases, documents, chunks, the queue, the embedder, and whether changes on disk are being noticed. " +
			"Use it when search misses something that should be there; rag_jobs has the failures one by one.",
		args: []arg{{name: "kb", desc: "Count only this knowledge base; leave out for all.", kind: argName}},
		out: object([]string{"kbs", "documents", "chunks", "queue", "embedder", "watchers", "version", "uptime_seconds"}, map[string]schema{
			"kbs": integer("Knowledge bases."), "documents": integer("Searchable documents."), "chunks": integer("Searchable chunks."), "queue": queueSchema(),
			"embedder": object([]string{"state", "backlog"}, map[string]schema{
				"state": text("off, ready, paused or failed."), "model": text("Model."), "dimension": integer("Of its vectors."),
				"backlog": integer("Chunks without a vector yet; they are found by keyword."), "reason": text("Why it is not ready, or what it does without."),
				"serving":  text("The earlier model that searches use until all chunks are embedded by the new one."),
				"embedded": integer("Chunks that have vectors."), "total": integer("Chunks."),
				"chunks_per_second": number("Over the last minute."), "eta_seconds": integer("Until the backlog is done, once that can be told."),
			}),
			"watchers": list(object([]string{"root", "mode", "watches"}, map[string]schema{
				"root": text("Root."), "mode": text("events, polling, degraded or unavailable."), "watches": integer("Folders watched."),
				"reason": text("Why it is so."), "advice": text("What the owner can do."),
			})),
			"version": text("Of ragd."), "uptime_seconds": integer("Since the daemon started."), "phase": text("What it is doing."),
		}),
		run: runStatus,
	}
}

func runStatus(ctx context.Context, c *call) (*reply, error) {
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	ids := c.storeIDs("", refs)
	if arg := c.v.str("kb"); arg != "" {
		ref, err := c.kb(ctx, arg)
		if err != nil {
			return nil, err
		}
		refs, ids = []kbRef{ref}, idsOf(ref)
	}
	stats, err := c.deps.Store.KBStats(ctx, ids)
	if err != nil {
		return nil, err
	}
	q, err := c.deps.Store.Queue(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := statusOut{
		KBs: len(refs), Queue: queueOut{q.Pending, q.Processing, q.Failed}, Version: c.opts.Version,
		Embedder: embedderOut{State: "off"}, Watchers: []watcherOut{},
	}
	for _, st := range stats {
		out.Documents += st.Documents
		out.Chunks += st.Chunks
	}
	if c.deps.Status != nil {
		c.addDaemon(&out, refs)
	}
	if err := c.ownBacklog(ctx, &out, ids); err != nil {
		return nil, err
	}
	return &reply{data: out, text: statusText(&out)}, nil
}

// ownBacklog makes the embedder's counts those of the KBs asked for: how much
// there is of others is not to be told.
func (c *call) ownBacklog(ctx context.Context, out *statusOut, ids []int64) (err error) {
	e := &out.Embedder
	if ids == nil || e.Total == 0 {
		return nil
	}
	e.Rate, e.ETA = 0, 0 // of all
	if e.Backlog > 0 {
		if e.Backlog, err = c.deps.Store.BacklogOf(ctx, ids); err != nil {
			return err
		}
	}
	e.Total, e.Backlog = out.Chunks, min(e.Backlog, out.Chunks)
	e.Embedded = e.Total - e.Backlog
	return nil
}

// addDaemon fills in what only the daemon knows; of watchers, those of roots
// with a KB in sight (all of them for an unscoped agent that asked for all).
func (c *call) addDaemon(out *statusOut, refs []kbRef) {
	st := c.deps.Status.Status()
	out.Uptime, out.Phase = int64(st.Uptime/time.Second), st.Phase
	if st.Version != "" {
		out.Version = st.Version
	}
	e := st.Embedder
	out.Embedder = embedderOut{
		State: e.State, Model: e.Model, Serving: e.Serving, Dimension: e.Dimension, Backlog: e.Backlog, Embedded: e.Embedded, Total: e.Total,
		Rate: math.Round(e.Rate*100) / 100, ETA: e.ETASeconds, Reason: e.Reason,
	}
	if e.State == "" {
		out.Embedder.State = "off"
	}
	roots := make(map[string]bool)
	for _, r := range refs {
		roots[r.root] = true
	}
	all := c.scope.all() && c.v.str("kb") == ""
	for _, w := range st.Watchers {
		if all || roots[w.Root] {
			out.Watchers = append(out.Watchers, watcherOut{encodeName(w.Root), w.Mode, w.Watches, w.Reason, w.Advice})
		}
	}
}

func statusText(out *statusOut) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s\n", count(int64(out.KBs), "knowledge base"), count(out.Documents, "document"), count(out.Chunks, "chunk"))
	fmt.Fprintf(&b, "Queue: %d pending, %d processing, %d failed\n", out.Queue.Pending, out.Queue.Processing, out.Queue.Failed)
	fmt.Fprintf(&b, "Embedder: %s", out.Embedder.State)
	if out.Embedder.Model != "" {
		fmt.Fprintf(&b, ", %s, %d dimensions, backlog %d", showText(out.Embedder.Model), out.Embedder.Dimension, out.Embedder.Backlog)
	}
	if out.Embedder.Backlog > 0 {
		fmt.Fprintf(&b, " of %d chunks", out.Embedder.Total)
	}
	if out.Embedder.ETA > 0 {
		fmt.Fprintf(&b, ", about %s left", time.Duration(out.Embedder.ETA)*time.Second)
	}
	if out.Embedder.Serving != "" {
		fmt.Fprintf(&b, "; searches use %s until then", showText(out.Embedder.Serving))
	}
	if out.Embedder.Reason != "" {
		fmt.Fprintf(&b, " (%s)", showText(out.Embedder.Reason))
	}
	b.WriteByte('\n')
	for _, w := range out.Watchers {
		fmt.Fprintf(&b, "Watching %s: %s, %s", visible(w.Root, false), w.Mode, count(int64(w.Watches), "folder"))
		if w.Reason != "" {
			fmt.Fprintf(&b, "; %s", showText(w.Reason))
		}
		if w.Advice != "" {
			fmt.Fprintf(&b, "; %s", showText(w.Advice))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "ragd %s, up %s", out.Version, time.Duration(out.Uptime)*time.Second)
	if out.Phase != "" {
		fmt.Fprintf(&b, ", %s", out.Phase)
	}
	return b.String()
}
