package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ragd/internal/wire"
)

// statusJSON is what `ragd status --json` prints.
type statusJSON struct {
	wire.Status
	List []wire.KB `json:"knowledge_bases"`
}

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "What the daemon is doing",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			st, err := c.Status(cmd.Context())
			if err != nil {
				return err
			}
			kbs, err := c.KBs(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(statusJSON{st, kbs})
			}
			return a.printStatus(st, kbs)
		},
	}
	return a.jsonFlag(cmd)
}

func (a *app) printStatus(st wire.Status, kbs []wire.KB) error {
	p := a.page()
	phase := strings.ReplaceAll(st.Phase, "_", " ")
	if st.PausedReason != "" {
		phase += ": " + st.PausedReason
	}
	p.line("ragd %s (pid %d), up %s, %s", visible(st.Version), st.PID, durationText(time.Duration(st.UptimeSeconds)*time.Second), visible(phase))
	queue := countText(st.Queue.Pending) + " pending, " + countText(st.Queue.Processing) + " in work, " + countText(st.Queue.Failed) + " failed"
	if st.ETASeconds > 0 {
		queue += ", about " + durationText(time.Duration(st.ETASeconds)*time.Second) + " left"
	}
	p.line("queue      %s", queue)
	p.line("index      %s in %s, %s at %s", plural(st.Chunks, "chunk"), plural(st.Documents, "document"), bytesText(st.Index.Bytes), visible(st.Index.Path))
	if st.Index.RetainedRevisions > 0 {
		p.line("           %s kept of earlier states, %s", plural(st.Index.RetainedRevisions, "revision"), bytesText(st.Index.RetainedBytes))
	}
	if st.Poor > 0 {
		p.line("quality    the text of %s is poor (ragtui marks them, rag_list_documents says why)", plural(st.Poor, "document"))
	}
	p.line("meaning    %s", embedderText(st.Embedder))
	p.line("sockets    %s (agents: %d), %s", visible(st.Sockets.MCP), len(st.Agents), visible(st.Sockets.Admin))
	for _, w := range st.Warnings {
		p.line("warning    %s", visible(w))
	}
	if st.Index.Quarantined != "" {
		p.line("warning    a damaged index was set aside as %s", visible(st.Index.Quarantined))
	}
	p.line("")
	if len(kbs) == 0 {
		p.line("no knowledge bases yet; make one with: ragd add FOLDER")
	} else {
		kbTable(kbs).write(p, "")
	}
	if t := watchTable(st.Watchers); t != nil {
		p.line("")
		t.write(p, "")
	}
	return p.end()
}

func embedderText(e wire.Embedder) string {
	parts := []string{e.State}
	if e.Model != "" {
		parts = append(parts, e.Model)
	}
	if e.Backlog > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s embedded, %s waiting", countText(e.Embedded), plural(e.Total, "chunk"), countText(e.Backlog)))
		if e.Rate > 0 {
			parts = append(parts, fmt.Sprintf("%.1f/s", e.Rate))
		}
	}
	if e.ETASeconds > 0 {
		parts = append(parts, "about "+durationText(time.Duration(e.ETASeconds)*time.Second)+" left")
	}
	if e.Serving != "" {
		parts = append(parts, "searches use "+e.Serving+" until then")
	}
	if e.Failed > 0 {
		parts = append(parts, plural(e.Failed, "document")+" in part by keyword only (ragd jobs --failed)")
	}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	return visible(strings.Join(parts, ", "))
}

func kbTable(kbs []wire.KB) *table {
	t := newTable("KNOWLEDGE BASE", ">DOCUMENTS", ">CHUNKS", ">SIZE", ">PENDING", ">FAILED", ">EXCLUDED", "LAST INDEXED", "STATE")
	for _, kb := range kbs {
		state := ""
		switch {
		case !kb.Available:
			state = "unavailable: " + kb.Reason
		case kb.Paused:
			state = "paused"
		}
		t.add(kb.Name, countText(kb.Documents), countText(kb.Chunks), bytesText(kb.Bytes),
			countText(kb.Queue.Pending+kb.Queue.Processing), countText(kb.Queue.Failed), countText(kb.Excluded), whenText(kb.LastIndexed), state)
	}
	return t
}

func watchTable(watchers []wire.Watcher) *table {
	if len(watchers) == 0 {
		return nil
	}
	t := newTable("WATCHED", "BY", ">FOLDERS", "NOTE")
	for _, w := range watchers {
		notes := append([]string{}, w.Notes...)
		for _, s := range []string{w.Advice, w.Reason} {
			if s != "" {
				notes = append([]string{s}, notes...)
			}
		}
		t.add(w.Dir, w.Mode, countText(int64(w.Watches)), strings.Join(notes, "; "))
	}
	return t
}
