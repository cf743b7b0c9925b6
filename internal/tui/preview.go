package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

const (
	previewPage = 20_000  // characters asked for around a chunk
	searchPageN = 100_000 // the most that the daemon gives at once, to look for a chunk further on
	previewLook = 50      // pages looked through for it
	previewKeep = 16
)

// preview is the pane that shows a hit in its document.
type preview struct {
	sh      *shared
	seq     int
	key     string // of the hit that is wanted
	loading bool
	cache   map[string]previewText
	order   []string // keys of cache, oldest first
	sc      scroll
	drawn   string // key and width that lines are for
	lines   []string
	jump    int // the line of the chunk's beginning
	jumped  string
	x, y    int // where it is drawn, for the mouse
	w, h    int
}

// previewText is the document around a chunk.
type previewText struct {
	view   wire.DocumentView
	border wire.ChunkBorder
	found  bool
	err    error
}

type (
	previewDueMsg struct {
		seq int
		hit wire.Hit
	}
	previewMsg struct {
		key  string
		text previewText
	}
)

func hitKey(h wire.Hit) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%d", h.KB, rawPath(h.Path, h.PathBytes), h.RevisionID, h.ChunkIndex)
}

func (p *preview) want(h wire.Hit) tea.Cmd {
	p.key = hitKey(h)
	p.seq++
	if _, ok := p.cache[p.key]; ok {
		p.loading = false
		return nil
	}
	p.loading = true
	seq := p.seq
	return tea.Tick(previewPause, func(time.Time) tea.Msg { return previewDueMsg{seq, h} })
}

func (p *preview) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case previewDueMsg:
		if msg.seq == p.seq {
			return p.load(msg.hit)
		}
	case previewMsg:
		p.keep(msg.key, msg.text)
		if msg.key == p.key {
			p.loading = false
		}
	}
	return nil
}

func (p *preview) keep(key string, text previewText) {
	if p.cache == nil {
		p.cache = map[string]previewText{}
	}
	if text.err != nil {
		// An error is shown but asked about again the next time.
		delete(p.cache, key)
	}
	if _, ok := p.cache[key]; !ok {
		p.order = append(p.order, key)
	}
	p.cache[key] = text
	for len(p.order) > previewKeep {
		delete(p.cache, p.order[0])
		p.order = p.order[1:]
	}
	p.drawn = ""
}

func (p *preview) load(h wire.Hit) tea.Cmd {
	return func() tea.Msg {
		return previewMsg{hitKey(h), textAround(context.Background(), p.sh.backend, h)}
	}
}

// textAround reads the document around a hit's chunk. Where a chunk begins is
// known only from the page it is in, so pages are read until it comes.
func textAround(ctx context.Context, b Backend, h wire.Hit) previewText {
	path := rawPath(h.Path, h.PathBytes)
	offset, limit := 0, previewPage
	for range previewLook {
		v, err := b.Document(ctx, h.KB, path, offset, limit)
		if err != nil {
			return previewText{err: err}
		}
		if h.RevisionID != "" && v.RevisionID != "" && v.RevisionID != h.RevisionID {
			return previewText{view: v}
		}
		for _, c := range v.Borders {
			if c.Index != h.ChunkIndex {
				continue
			}
			if v.Truncated && c.CharEnd > offset+limit-1000 || limit > previewPage {
				around, err := b.Document(ctx, h.KB, path, max(c.CharStart-previewPage/4, 0), previewPage)
				if err == nil {
					v = around
				}
			}
			return previewText{view: v, border: c, found: true}
		}
		if !v.Truncated || v.Content == "" {
			return previewText{view: v}
		}
		offset += limit
		limit = searchPageN
	}
	return previewText{}
}

func (p *preview) press(msg tea.KeyMsg) bool { return p.sc.key(msg, p.sh.keys) }

func (p *preview) place(x, y, w, h int) { p.x, p.y, p.w, p.h = x, y, w, h }

func (p *preview) holds(msg tea.MouseMsg) bool {
	return msg.X >= p.x && msg.X < p.x+p.w && msg.Y >= p.y && msg.Y < p.y+p.h
}

// view draws the hit's place, scores and text.
func (p *preview) view(h wire.Hit, w, ht int, focused bool) []string {
	head := p.head(h, w, ht)
	room := max(ht-len(head), 1)
	p.layout(h, w)
	p.sc.resize(len(p.lines), room)
	if p.jumped != p.drawn {
		p.sc.to(max(p.jump-room/6, 0))
		p.jumped = p.drawn
	}
	lines := append(head, p.lines[p.sc.off:min(p.sc.off+room, len(p.lines))]...)
	if focused && len(head) > 0 {
		lines[0] = p.sh.st.Accent.Render(p.sh.g.Bar) + lines[0]
	}
	return lines
}

func (p *preview) head(h wire.Hit, w, ht int) []string {
	st := p.sh.st
	title := visible(h.Title)
	if title == "" {
		title = visible(h.Path)
	}
	lines := []string{st.Strong.Render(clip(title, w-1))}
	if ht < 8 {
		return lines
	}
	where := clipPath(visible(h.KB+"/"+h.Path)+place(h), w)
	lines = append(lines, st.Accent.Render(where))
	if path := visible(strings.Join(h.Headings, " › ")); path != "" && path != title {
		lines = append(lines, st.Dim.Render(clip(path, w)))
	}
	return append(lines, st.Dim.Render(clip(p.sh.scores(h), w)), "")
}

// scores says how a hit matched, as far as the daemon explains it.
func (s *shared) scores(h wire.Hit) string {
	dot := " " + s.g.Dot + " "
	text := fmt.Sprintf("score %.2f", h.Score)
	ex, ok := h.Explain.(map[string]any)
	if !ok {
		return text + dot + "by " + visible(h.Match)
	}
	num := func(name string) (float64, bool) {
		v, ok := ex[name].(float64)
		return v, ok && v != 0
	}
	if v, ok := num("lexical_score"); ok {
		text += dot + fmt.Sprintf("keyword %.2f", v)
		if r, ok := num("lexical_rank"); ok {
			text += fmt.Sprintf(" (rank %.0f)", r)
		}
	}
	if v, ok := num("meaning_score"); ok {
		text += dot + fmt.Sprintf("meaning %.2f", v)
		if r, ok := num("meaning_rank"); ok {
			text += fmt.Sprintf(" (rank %.0f)", r)
		}
	}
	return text
}

// layout breaks the text into lines of w cells, once for a hit and a width.
func (p *preview) layout(h wire.Hit, w int) {
	key := hitKey(h)
	t, ok := p.cache[key]
	drawn := fmt.Sprintf("%s\x00%d\x00%v", key, w, ok)
	if p.drawn == drawn {
		return
	}
	p.drawn, p.jump = drawn, 0
	words := litWords(h)
	switch {
	case !ok || t.err != nil || !t.found:
		// What the daemon sent with the hit is enough until its document is there, or instead of it.
		p.lines = p.sh.litLines(wrapText(h.Content, w-2), words, p.sh.st.Accent.Render(p.sh.g.Bar)+" ")
		if ok && t.err != nil {
			p.lines = append(p.lines, "", p.sh.st.Fail.Render(clip(visible(explain(t.err)), w)))
		} else if ok {
			p.lines = append(p.lines, "", p.sh.st.Dim.Render(clip("The document has changed since; this is what was found.", w)))
		}
	default:
		p.lines, p.jump = p.sh.chunkInText(t, words, w)
	}
}

// chunkInText draws a page of a document with the chunk marked by a bar.
func (s *shared) chunkInText(t previewText, words []string, w int) (lines []string, jump int) {
	runes := []rune(t.view.Content)
	from := max(min(t.border.CharStart-t.view.Offset, len(runes)), 0)
	to := max(min(t.border.CharEnd-t.view.Offset, len(runes)), from)
	before, chunk, after := string(runes[:from]), strings.TrimRight(string(runes[from:to]), "\n"), string(runes[to:])
	dim := func(text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		for _, l := range wrapText(strings.Trim(text, "\n"), w-2) {
			lines = append(lines, "  "+s.st.Dim.Render(l))
		}
	}
	dim(before)
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	jump = len(lines)
	lines = append(lines, s.litLines(wrapText(strings.TrimLeft(chunk, "\n"), w-2), words, s.st.Accent.Render(s.g.Bar)+" ")...)
	if strings.TrimSpace(after) != "" {
		lines = append(lines, "")
	}
	dim(after)
	return lines, jump
}
