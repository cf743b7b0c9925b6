package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

const (
	searchPause  = 10 * time.Millisecond // after the last key, before the daemon is asked
	previewPause = 40 * time.Millisecond // after the cursor has come to rest
	searchHits   = 30
	maxQuery     = 4096
	renewAfter   = 3 * time.Second
)

// The modes as a person says them, and as the daemon calls them.
var searchModes = [...]struct{ name, wire string }{{"both", "hybrid"}, {"keyword", "keyword"}, {"meaning", "meaning"}}

// Where keys go on the search page.
const (
	onInput = iota
	onResults
	onPreview
)

// searchPage searches as one types.
type searchPage struct {
	sh      *shared
	in      input
	focus   int
	mode    int
	kb      string
	seq     int // of the newest question; answers to older ones are dropped
	cancel  context.CancelFunc
	asking  bool
	askedAt time.Time
	answer  wire.SearchResult
	known   bool // there is an answer
	err     error
	ls      list
	hitY    int
	rowH    int
	zoom    bool
	history queryHistory
	prev    preview
}

// Messages of the search page.
type (
	searchDueMsg struct{ seq int }
	answerMsg    struct {
		seq    int
		result wire.SearchResult
		err    error
	}
	focusInput struct{}
	searchIn   struct{ kb string }
	askFor     struct{ query string }
)

func newSearch(sh *shared) page {
	p := &searchPage{sh: sh, in: newInput(maxQuery), rowH: 2}
	p.prev.sh = sh
	return p
}

// Load asks again what is asked already, for documents may have changed.
func (p *searchPage) Load() tea.Cmd {
	if strings.TrimSpace(p.in.text) == "" || p.asking {
		return nil
	}
	return p.ask()
}

// renew asks again while documents come in, but not at their pace: nobody can
// read a list that changes every second.
func (p *searchPage) renew() tea.Cmd {
	if p.sh.now().Sub(p.askedAt) < renewAfter {
		return nil
	}
	return p.Load()
}

func (p *searchPage) Ready() bool {
	return !p.asking && (p.in.text == "" || p.known || p.err != nil) && !p.prev.loading
}
func (p *searchPage) Typing() bool    { return p.focus == onInput }
func (p *searchPage) Unsaved() string { return "" }

func (p *searchPage) Back() bool {
	switch {
	case p.zoom:
		p.zoom, p.focus = false, onResults
	case p.focus == onPreview:
		p.focus = onResults
	case p.focus == onInput && p.in.text != "" && len(p.answer.Results) > 0:
		p.focus = onResults
	case p.focus == onInput && p.in.text != "":
		p.clear()
	default:
		return false
	}
	return true
}

func (p *searchPage) clear() {
	p.in.set("")
	p.forget()
}

func (p *searchPage) forget() {
	p.seq++
	p.stop()
	p.answer, p.known, p.err = wire.SearchResult{}, false, nil
	p.focus, p.zoom = onInput, false // there is nothing else to be on
	p.ls.resize(0, max(p.ls.h, 1))
}

func (p *searchPage) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
	p.asking = false
}

func (p *searchPage) Keys() []key.Binding {
	k := p.sh.keys
	switch p.focus {
	case onInput:
		return []key.Binding{as(k.Enter, "to the results"), as(k.Back, "back"), as(k.Mode, "mode"), as(k.KB, "KB"), k.Older, k.Newer}
	case onPreview:
		return []key.Binding{k.Edit, k.Opener, as(k.CopyRef, "copy citation"), k.CopyText, as(k.Focus, "to the input"), as(k.Mode, "mode"), as(k.KB, "KB")}
	}
	return []key.Binding{as(k.Enter, "read"), k.Edit, k.Opener, as(k.CopyRef, "copy citation"), k.CopyText,
		as(k.Filter, "type"), as(k.Mode, "mode"), as(k.KB, "KB"), k.Focus}
}

func (p *searchPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return p.key(msg)
	case tea.MouseMsg:
		return p.mouse(msg)
	case searchDueMsg:
		if msg.seq == p.seq {
			return p.ask()
		}
	case answerMsg:
		return p.take(msg)
	case historyMsg:
		p.history.load(msg.queries)
	case focusInput:
		p.focus, p.zoom = onInput, false
	case searchIn:
		p.kb, p.focus, p.zoom = msg.kb, onInput, false
		return p.Load()
	case askFor:
		p.in.set(msg.query)
		return p.ask()
	default:
		return p.prev.Update(msg)
	}
	return nil
}

// ask sends the question; one that is still under way is given up.
func (p *searchPage) ask() tea.Cmd {
	query := strings.TrimSpace(p.in.text)
	if query == "" {
		p.forget()
		return nil
	}
	p.seq++
	p.stop()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.asking, p.askedAt = cancel, true, p.sh.now()
	seq, kb, mode := p.seq, p.kb, searchModes[p.mode].wire
	return func() tea.Msg {
		res, err := p.sh.backend.Search(ctx, query, kb, mode, searchHits, true)
		return answerMsg{seq, res, err}
	}
}

func (p *searchPage) take(msg answerMsg) tea.Cmd {
	if msg.seq != p.seq || errors.Is(msg.err, context.Canceled) {
		return nil
	}
	p.stop()
	if p.err = msg.err; p.err != nil {
		return nil
	}
	on, had := p.hit()
	same := had && p.answer.Query == msg.result.Query
	p.answer, p.known = msg.result, true
	p.ls.resize(len(p.answer.Results), max(p.ls.h, 1))
	p.ls.moveTo(0)
	for i, h := range p.answer.Results {
		if same && h.KB == on.KB && h.Path == on.Path && h.ChunkIndex == on.ChunkIndex {
			p.ls.moveTo(i)
		}
	}
	return p.want()
}

func (p *searchPage) hit() (wire.Hit, bool) {
	if p.ls.cur < len(p.answer.Results) {
		return p.answer.Results[p.ls.cur], true
	}
	return wire.Hit{}, false
}

// want asks for the preview of the hit under the cursor.
func (p *searchPage) want() tea.Cmd {
	h, ok := p.hit()
	if !ok {
		return nil
	}
	return p.prev.want(h)
}

func (p *searchPage) key(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	switch {
	case key.Matches(msg, k.Mode):
		p.mode = (p.mode + 1) % len(searchModes)
		return p.ask()
	case key.Matches(msg, k.KB):
		p.nextKB()
		return p.ask()
	case p.focus == onInput:
		return p.inputKey(msg)
	case key.Matches(msg, k.Focus):
		p.nextFocus()
	case key.Matches(msg, k.Filter):
		p.focus, p.zoom = onInput, false
	case p.focus == onPreview && p.prev.press(msg):
	case p.focus == onResults && p.ls.key(msg, k):
		return p.want()
	case key.Matches(msg, k.Enter):
		if _, ok := p.hit(); ok {
			p.zoom = !p.zoom
			p.focus = onResults
			if p.zoom {
				p.focus = onPreview
			}
		}
	default:
		return p.hitKey(msg)
	}
	return nil
}

func (p *searchPage) inputKey(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	switch {
	case key.Matches(msg, k.Enter), msg.String() == "down", key.Matches(msg, k.Focus):
		if len(p.answer.Results) > 0 {
			p.focus = onResults
			return p.remember()
		}
		return nil
	case key.Matches(msg, k.Older), msg.String() == "up":
		return p.recall(p.history.older(p.in.text))
	case key.Matches(msg, k.Newer):
		return p.recall(p.history.newer())
	}
	changed, _ := p.in.key(msg)
	if !changed {
		return nil
	}
	p.history.rest()
	if strings.TrimSpace(p.in.text) == "" {
		p.forget()
		return nil
	}
	p.seq++
	seq := p.seq
	return tea.Tick(searchPause, func(time.Time) tea.Msg { return searchDueMsg{seq} })
}

func (p *searchPage) recall(query string, ok bool) tea.Cmd {
	if !ok {
		return nil
	}
	p.in.set(query)
	return p.ask()
}

// hitKey are the keys that do something with the hit under the cursor.
func (p *searchPage) hitKey(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	h, ok := p.hit()
	if !ok {
		return nil
	}
	file := p.sh.filePath(h.KB, rawPath(h.Path, h.PathBytes))
	switch {
	case key.Matches(msg, k.Edit):
		return tea.Batch(p.remember(), p.sh.edit(file, max(h.Lines.First, 1)))
	case key.Matches(msg, k.Opener):
		return tea.Batch(p.remember(), p.sh.openPath(file, visible(h.Path)))
	case key.Matches(msg, k.CopyRef):
		return p.sh.copy(citation(h), "the citation")
	case key.Matches(msg, k.CopyText):
		return p.sh.copy(h.Content, "the text")
	}
	return nil
}

// citation is a hit as one would quote it: kb/path:12-34 (Heading › Sub).
func citation(h wire.Hit) string {
	s := h.KB + "/" + h.Path
	switch {
	case h.Page > 0:
		s += fmt.Sprintf(", page %d", h.Page)
	case h.Lines.First > 0:
		s += fmt.Sprintf(":%d-%d", h.Lines.First, h.Lines.Last)
	}
	if len(h.Headings) > 0 {
		s += " (" + strings.Join(h.Headings, " › ") + ")"
	}
	return s
}

func (p *searchPage) nextKB() {
	names := []string{""}
	next := 0
	for _, kb := range p.sh.world.kbs {
		names = append(names, kb.Name)
	}
	for i, name := range names {
		if name == p.kb {
			next = (i + 1) % len(names)
		}
	}
	p.kb = names[next]
}

func (p *searchPage) nextFocus() {
	switch {
	case p.focus == onResults && !p.zoom:
		p.focus = onPreview
	default:
		p.focus, p.zoom = onInput, false
	}
}

func (p *searchPage) mouse(msg tea.MouseMsg) tea.Cmd {
	switch {
	case p.zoom || p.prev.holds(msg):
		if p.prev.sc.wheel(msg) {
			return nil
		}
		if isClick(msg) {
			p.focus = onPreview
		}
	case isClick(msg) && msg.Y == 0:
		p.focus = onInput
	case p.ls.wheel(msg):
		p.focus = onResults
		return p.want()
	case isClick(msg) && msg.Y >= p.hitY:
		hit, again := p.ls.click((msg.Y - p.hitY) / p.rowH)
		if !hit {
			return nil
		}
		p.zoom = again && p.focus == onResults
		p.focus = onResults
		if p.zoom {
			p.focus = onPreview
		}
		return p.want()
	}
	return nil
}
