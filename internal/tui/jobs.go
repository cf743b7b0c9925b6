package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

const (
	jobPage  = 1000   // the most that the daemon gives at once
	jobsMost = 20_000 // kept for the lists; the total is shown in any case
)

// jobsMsg is an answer to loadJobs.
type jobsMsg struct {
	state string
	jobs  wire.Jobs
	took  time.Duration
	err   error
}

// loadJobs asks for all jobs of a state, a page at a time.
func (s *shared) loadJobs(state string) tea.Cmd {
	return func() tea.Msg {
		var all wire.Jobs
		began, err := time.Now(), error(nil)
		for last, after := jobPage, int64(0); err == nil && last == jobPage && len(all.Jobs) < jobsMost; {
			var page wire.Jobs
			page, err = s.backend.JobsAfter(context.Background(), state, after, jobPage)
			if last = len(page.Jobs); last > 0 {
				after = page.Jobs[last-1].ID
			}
			if all.Jobs == nil && page.Total > jobPage && last > 0 {
				all.Jobs = make([]wire.Job, 0, min(page.Total+jobPage, jobsMost))
			}
			all.Jobs, all.Total, all.Queue = append(all.Jobs, page.Jobs...), page.Total, page.Queue
		}
		return jobsMsg{state, all, time.Since(began), err}
	}
}

// queueRow is a job in the queue in as little memory as it takes: there may be 20,000.
type queueRow struct {
	id       int64
	kb, path string // path as the file system has it
	what     string // its stage, or why it is there
	busy     bool
	priority int32
	turn     int32 // its place among the jobs of its KB and priority
	modified int64 // of the file, in nanoseconds; 0 = unknown
	created  time.Time
	nextTry  time.Time
}

// queueRows keeps what the queue page shows of jobs of one state.
func queueRows(jobs []wire.Job) []queueRow {
	words := map[string]string{} // the few names of KBs, reasons and stages share one string each
	word := func(s string) string {
		if w, ok := words[s]; ok {
			return w
		}
		words[s] = strings.Clone(s)
		return words[s]
	}
	out := make([]queueRow, len(jobs))
	for i, j := range jobs {
		r := queueRow{id: j.ID, kb: word(j.KB), path: rawPath(j.Path, j.PathBytes), busy: j.State == "processing" && j.Stage != "", // claimed is not begun
			priority: int32(j.Priority), created: j.Created, nextTry: j.NextTry}
		what := j.Reason
		if r.busy {
			what = j.Stage
		}
		r.what = word(cmp.Or(what, j.State))
		if !j.Modified.IsZero() {
			r.modified = j.Modified.UnixNano()
		}
		out[i] = r
	}
	return out
}

// byTurns brings waiting jobs into the order in which the daemon will take
// them: those that rest after a failure last, the highest priority first,
// within it one KB after the other, within a KB the newest file.
func byTurns(rows []queueRow, now time.Time) {
	rests := func(r *queueRow) int {
		if r.nextTry.After(now) {
			return 1
		}
		return 0
	}
	slices.SortFunc(rows, func(a, b queueRow) int {
		return cmp.Or(rests(&a)-rests(&b), cmp.Compare(b.priority, a.priority), strings.Compare(a.kb, b.kb),
			cmp.Compare(b.modified, a.modified), cmp.Compare(a.id, b.id))
	})
	for i := range rows {
		rows[i].turn = 0
		if i > 0 && rows[i].kb == rows[i-1].kb && rows[i].priority == rows[i-1].priority && rests(&rows[i]) == rests(&rows[i-1]) {
			rows[i].turn = rows[i-1].turn + 1
		}
	}
	slices.SortStableFunc(rows, func(a, b queueRow) int {
		return cmp.Or(rests(&a)-rests(&b), cmp.Compare(b.priority, a.priority), cmp.Compare(a.turn, b.turn))
	})
}
