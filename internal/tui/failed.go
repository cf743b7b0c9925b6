package tui

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

const headBytes = 4096 // of a failed file, shown beside its reason

// failedPage shows the parked jobs by reason and stage, and what would fix them.
type failedPage struct {
	sh      *shared
	jobs    []wire.Job
	total   int64
	loading bool
	ready   bool
	err     error
	filter  filter
	folded  map[string]bool
	marked  map[int64]bool
	rows    []failedRow
	ls      list
	rowY    int
	zoom    bool // the detail has the whole page
	detail  scroll
	head    fileHead
	wantSeq int
}

// fileHead is the beginning of the selected file as it is on disk.
type fileHead struct {
	job   int64
	bytes []byte
	size  int64
	err   error
}

type headMsg struct {
	seq  int
	head fileHead
}

type headDueMsg struct{ seq int }

func newFailed(sh *shared) page {
	return &failedPage{sh: sh, filter: newFilter(), folded: map[string]bool{}, marked: map[int64]bool{}}
}

func (p *failedPage) Load() tea.Cmd {
	if p.loading {
		return nil
	}
	p.loading = true
	return p.sh.loadJobs("failed")
}

// Ready waits for the beginning of the file under the cursor as well.
func (p *failedPage) Ready() bool {
	j, ok := p.job()
	return p.ready && (!ok || p.head.job == j.ID)
}

func (p *failedPage) Typing() bool { return p.filter.typing }

func (p *failedPage) Unsaved() string {
	if n := len(p.marked); n > 0 {
		return plural(n, "file is", "files are") + " marked and nothing was done with them"
	}
	return ""
}

func (p *failedPage) Back() bool {
	switch {
	case p.filter.back():
		p.arrange()
	case p.zoom:
		p.zoom = false
	case len(p.marked) > 0:
		p.marked = map[int64]bool{}
	default:
		return false
	}
	return true
}

func (p *failedPage) Keys() []key.Binding {
	k := p.sh.keys
	if p.filter.typing {
		return p.filter.keys()
	}
	return []key.Binding{k.Retry, k.Ignore, k.Mark, k.RetryAll, as(k.Enter, "details"), as(k.CopyRef, "copy path"),
		k.Folder, k.Edit, k.MarkAll, k.Filter, as(k.Expand, "unfold"), as(k.Collapse, "fold"), as(k.Why, "indexed or not")}
}

func (p *failedPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case jobsMsg:
		if msg.state != "failed" {
			return nil
		}
		p.loading = false
		if p.err = msg.err; p.err == nil {
			first := !p.ready
			on, _ := p.job()
			p.jobs, p.total, p.ready = msg.jobs.Jobs, msg.jobs.Total, true
			p.group(on.ID)
			if first {
				p.ls.moveTo(1) // the first file, whose details are worth more than a heading
				p.ls.off = 0
			}
			return p.wantHead()
		}
	case headDueMsg:
		if msg.seq == p.wantSeq {
			return p.loadHead(msg.seq)
		}
	case headMsg:
		if msg.seq == p.wantSeq {
			p.head = msg.head
		}
	case tea.KeyMsg:
		return p.key(msg)
	case tea.MouseMsg:
		return p.mouse(msg)
	}
	return nil
}

func (p *failedPage) mouse(msg tea.MouseMsg) tea.Cmd {
	switch {
	case p.zoom:
		p.detail.wheel(msg)
	case p.ls.wheel(msg):
		return p.wantHead()
	case isClick(msg):
		hit, again := p.ls.click(msg.Y - p.rowY)
		if hit && again {
			p.enter()
		}
		return p.wantHead()
	}
	return nil
}

func (p *failedPage) key(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	if p.filter.typing {
		if p.filter.key(msg) {
			p.arrange()
		}
		return p.wantHead()
	}
	if p.zoom && p.detail.key(msg, k) {
		return nil
	}
	switch {
	case !p.zoom && p.ls.key(msg, k):
		return p.wantHead()
	case key.Matches(msg, k.Filter):
		p.filter.typing, p.zoom = true, false
	case key.Matches(msg, k.RetryAll):
		if p.total > 0 {
			return retryAll(p.sh)
		}
	case key.Matches(msg, k.Enter):
		p.enter()
	case key.Matches(msg, k.Expand, k.Collapse):
		p.fold(key.Matches(msg, k.Collapse))
	case key.Matches(msg, k.Mark):
		p.mark()
	case key.Matches(msg, k.MarkAll):
		p.markGroup()
	case key.Matches(msg, k.Retry):
		return p.retry()
	case key.Matches(msg, k.Ignore):
		return p.askIgnore()
	default:
		return p.fileKey(msg)
	}
	return nil
}

// fileKey are the keys that need a file under the cursor.
func (p *failedPage) fileKey(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	j, ok := p.job()
	if !ok {
		return nil
	}
	file := p.sh.filePath(j.KB, rawPath(j.Path, j.PathBytes))
	switch {
	case key.Matches(msg, k.CopyRef):
		return p.sh.copy(file, "the path")
	case key.Matches(msg, k.Folder):
		return p.sh.openPath(filepath.Dir(file), "the folder")
	case key.Matches(msg, k.Edit):
		return p.sh.edit(file, 1)
	case key.Matches(msg, k.Why):
		return why(p.sh, file)
	}
	return nil
}

func (p *failedPage) job() (wire.Job, bool) {
	if p.ls.cur < len(p.rows) && p.rows[p.ls.cur].job >= 0 {
		return p.jobs[p.rows[p.ls.cur].job], true
	}
	return wire.Job{}, false
}

// enter opens the details of a file, folds or unfolds a group.
func (p *failedPage) enter() {
	if p.ls.cur >= len(p.rows) {
		return
	}
	if _, ok := p.job(); ok {
		p.zoom = !p.zoom
		p.detail.off = 0
		return
	}
	p.fold(!p.folded[p.rows[p.ls.cur].group])
}

func (p *failedPage) fold(on bool) {
	if p.ls.cur >= len(p.rows) || p.zoom {
		return
	}
	group := p.rows[p.ls.cur].group
	p.folded[group] = on
	p.arrange()
	if on {
		for i, r := range p.rows {
			if r.job < 0 && r.group == group {
				p.ls.moveTo(i)
			}
		}
	}
}

func (p *failedPage) mark() {
	j, ok := p.job()
	if !ok {
		p.markGroup()
		return
	}
	if p.marked[j.ID] {
		delete(p.marked, j.ID)
	} else {
		p.marked[j.ID] = true
	}
	p.ls.moveTo(p.ls.cur + 1)
}

// markGroup marks every file of the group under the cursor, or unmarks them where all are.
func (p *failedPage) markGroup() {
	if p.ls.cur >= len(p.rows) {
		return
	}
	ids := p.groupIDs(p.rows[p.ls.cur].group)
	all := true
	for _, id := range ids {
		all = all && p.marked[id]
	}
	for _, id := range ids {
		if all {
			delete(p.marked, id)
		} else {
			p.marked[id] = true
		}
	}
}

// targets are the marked files, else the one under the cursor, else its group.
func (p *failedPage) targets() []int64 {
	if len(p.marked) > 0 {
		var ids []int64
		for _, j := range p.jobs {
			if p.marked[j.ID] {
				ids = append(ids, j.ID)
			}
		}
		return ids
	}
	if j, ok := p.job(); ok {
		return []int64{j.ID}
	}
	if p.ls.cur < len(p.rows) {
		return p.groupIDs(p.rows[p.ls.cur].group)
	}
	return nil
}

func (p *failedPage) retry() tea.Cmd {
	ids := p.targets()
	if len(ids) == 0 {
		return nil
	}
	p.marked = map[int64]bool{}
	return p.sh.act(func(ctx context.Context) (string, error) {
		for i, id := range ids {
			if err := p.sh.backend.RetryJob(ctx, id); err != nil {
				if i > 0 {
					return "", fmt.Errorf("%d of %d are retried, then: %w", i, len(ids), err)
				}
				return "", err
			}
		}
		return "retrying " + plural(len(ids), "file", "files"), nil
	})
}

func (p *failedPage) askIgnore() tea.Cmd {
	ids := p.targets()
	if len(ids) == 0 {
		return nil
	}
	what := plural(len(ids), "file", "files")
	if len(ids) == 1 {
		for _, j := range p.jobs {
			if j.ID == ids[0] {
				what = visible(j.KB + "/" + j.Path)
			}
		}
	}
	return send(askMsg{
		question: "Write a rule into .ragdignore so that " + what + " will not be indexed any more?",
		yes: send(runMsg{func(sh *shared) tea.Cmd {
			p.marked = map[int64]bool{}
			return ignoreJobs(sh, ids)
		}}),
	})
}

func ignoreJobs(sh *shared, ids []int64) tea.Cmd {
	return sh.act(func(ctx context.Context) (string, error) {
		var last wire.IgnoredJob
		for _, id := range ids {
			var err error
			if last, err = sh.backend.IgnoreJob(ctx, id); err != nil {
				return "", err
			}
		}
		if len(ids) == 1 {
			return "ignored: " + visible(last.Rule) + " is in " + visible(last.KB+"/"+last.File), nil
		}
		return plural(len(ids), "file is", "files are") + " ignored", nil
	})
}
