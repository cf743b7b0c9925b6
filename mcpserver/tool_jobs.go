package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"ragd/internal/store"
)

type jobRow struct {
	ID       int64   `json:"id"`
	KB       string  `json:"kb"`
	Path     string  `json:"path"`
	State    string  `json:"state"`
	Stage    string  `json:"stage"`
	Class    string  `json:"class"`
	Message  string  `json:"message"`
	Hint     string  `json:"hint,omitempty"`
	Attempts int     `json:"attempts"`
	NextTry  *string `json:"next_try"`
}

type jobsOut struct {
	Queue      queueOut `json:"queue"`
	Jobs       []jobRow `json:"jobs"`
	Total      int64    `json:"total"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

func toolJobs() *tool {
	return &tool{
		name: "rag_jobs", title: "Indexing jobs", idempotent: true,
		desc: "List indexing jobs, by default the failed ones: which document, at which stage, why, after how many attempts, and when it is tried next. " +
			"Use it when a document is missing from search or freshness says failed.",
		args: []arg{
			{name: "state", desc: "Which jobs to list.", kind: argText, enum: []string{"failed", "pending", "processing"}, def: "failed"},
			{name: "limit", desc: "Jobs in this page.", kind: argInt, low: 1, high: 500, def: 50},
			{name: "cursor", desc: "next_cursor of the page before; leave out for the first page.", kind: argOpaque, max: maxCursor},
		},
		out: object([]string{"queue", "jobs", "total"}, map[string]schema{
			"queue": queueSchema(),
			"jobs": list(object([]string{"id", "kb", "path", "state", "stage", "class", "message", "attempts", "next_try"}, map[string]schema{
				"id": integer("Number of the job."), "kb": text("Knowledge base."), "path": text("Document."), "state": oneOf("State.", "failed", "pending", "processing"),
				"stage": text("Where it failed last: extract, chunk, embed or insert; empty when it has not."), "class": text("Kind of failure, e.g. permanent or transient."),
				"message": text("What went wrong."), "hint": text("What to do about it."), "attempts": integer("How often it was tried."),
				"next_try": {"type": []string{"string", "null"}, "description": "When it is tried next; null = at once, or for a failed job not before the file changes."},
			})),
			"total":       integer("Jobs in that state."),
			"next_cursor": text("There is more: pass this as cursor."),
		}),
		run: runJobs,
	}
}

func runJobs(ctx context.Context, c *call) (*reply, error) {
	at, err := parseCursor("rag_jobs", c.v.str("cursor"))
	if err != nil {
		return nil, err
	}
	refs, err := c.visible(ctx)
	if err != nil {
		return nil, err
	}
	ids := c.storeIDs("", refs)
	q, err := c.deps.Store.Queue(ctx, ids)
	if err != nil {
		return nil, err
	}
	state := store.JobFailed
	if s := c.v.str("state"); s != "" {
		state = store.JobState(s)
	}
	limit := c.v.num("limit", 50)
	jobs, total, err := c.deps.Store.ListJobs(ctx, JobQuery{KBs: ids, State: state, After: at.Job, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := jobsOut{Queue: queueOut{q.Pending, q.Processing, q.Failed}, Jobs: []jobRow{}, Total: total}
	used := 0
	for i, j := range jobs {
		row := jobOf(j)
		used += len(row.Path) + len(row.Message) + len(row.Hint)
		out.Jobs = append(out.Jobs, row)
		if used > pageChars && i < len(jobs)-1 || i == limit-1 && total > int64(limit) {
			out.NextCursor = cursor{Tool: "rag_jobs", Job: j.ID}.String()
			break
		}
	}
	return &reply{data: out, text: jobsText(&out, state)}, nil
}

func jobOf(j store.Job) jobRow {
	row := jobRow{
		ID: j.ID, KB: encodeName(j.KBName), Path: encodeName(j.Path), State: string(j.State), Stage: j.Stage,
		Message: clip(j.Message, 500), Hint: clip(j.Hint, 300), Attempts: j.Attempts, NextTry: stamp(j.NextTry),
	}
	if j.Stage != "" {
		row.Class = j.Class.String()
	}
	return row
}

func jobsText(out *jobsOut, state store.JobState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Queue: %d pending, %d processing, %d failed\n", out.Queue.Pending, out.Queue.Processing, out.Queue.Failed)
	if len(out.Jobs) == 0 {
		fmt.Fprintf(&b, "No %s jobs.\n", state)
	}
	for _, j := range out.Jobs {
		fmt.Fprintf(&b, "- job %d: %s/%s", j.ID, visible(j.KB, false), visible(j.Path, false))
		if j.Stage != "" {
			fmt.Fprintf(&b, ": %s failed (%s): %s", j.Stage, j.Class, visible(j.Message, false))
			if j.Hint != "" {
				fmt.Fprintf(&b, " (%s)", visible(j.Hint, false))
			}
		}
		fmt.Fprintf(&b, "; %s", count(int64(j.Attempts), "attempt"))
		switch {
		case j.NextTry != nil:
			fmt.Fprintf(&b, ", next try %s", *j.NextTry)
		case j.State == string(store.JobFailed):
			b.WriteString(", tried again when the file changes")
		}
		b.WriteByte('\n')
	}
	if out.NextCursor != "" {
		fmt.Fprintf(&b, "%d of %d; more: call rag_jobs with cursor %s\n", len(out.Jobs), out.Total, out.NextCursor)
	}
	return strings.TrimSpace(b.String())
}
