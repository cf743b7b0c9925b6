package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// docView is the page of one document: what is known of it, its revisions,
// and its text with the borders of the chunks. Text is loaded as one scrolls.
type docView struct {
	sh       *shared
	kb, path string
	doc      wire.DocumentView
	verdict  *wire.Verdict
	known    bool
	err      error
	loading  bool
	parts    []wire.DocumentView // the pages of text, in order
	lines    []string
	heads    []int // lines at which chunks begin
	drawnW   int
	sc       scroll
}

type docTextMsg struct {
	kb, path string
	offset   int
	view     wire.DocumentView
	verdict  *wire.Verdict
	err      error
}

func newDocView(sh *shared, kb, path string) *docView { return &docView{sh: sh, kb: kb, path: path} }

// reload asks for the document's first page again; what is shown stays until it is there.
func (v *docView) reload() tea.Cmd { return v.load(0) }

func (v *docView) load(offset int) tea.Cmd {
	if v.loading {
		return nil
	}
	v.loading = true
	sh, kb, path := v.sh, v.kb, v.path
	file := sh.filePath(kb, path)
	return func() tea.Msg {
		ctx := context.Background()
		view, err := sh.backend.Document(ctx, kb, path, offset, previewPage)
		msg := docTextMsg{kb: kb, path: path, offset: offset, view: view, err: err}
		if offset == 0 && (err != nil || view.Status != "indexed") {
			if verdict, err := sh.backend.Ignored(ctx, file); err == nil {
				msg.verdict = &verdict
			}
		}
		return msg
	}
}

func (v *docView) take(msg docTextMsg) {
	if msg.kb != v.kb || msg.path != v.path {
		return
	}
	v.loading = false
	if msg.offset == 0 {
		same := v.known && msg.err == nil && v.doc.RevisionID == msg.view.RevisionID && v.doc.Status == msg.view.Status
		v.err, v.verdict, v.known = msg.err, msg.verdict, true
		v.doc = msg.view
		if same && len(v.parts) > 0 {
			v.drawnW = 0
			return // the same revision: the pages read so far stay
		}
		v.parts = nil
		if msg.err == nil {
			v.parts = append(v.parts, msg.view)
		}
	} else if msg.err == nil && msg.offset == v.read() {
		v.parts = append(v.parts, msg.view)
	}
	v.drawnW = 0
}

// read is how many characters are there already.
func (v *docView) read() int {
	if len(v.parts) == 0 {
		return 0
	}
	last := v.parts[len(v.parts)-1]
	return last.Offset + max(last.Limit, 1)
}

// more loads the next page of text when the end of this one comes near.
func (v *docView) more() tea.Cmd {
	if n := len(v.parts); n == 0 || !v.parts[n-1].Truncated || v.sc.off+3*v.sc.h < v.sc.n {
		return nil
	}
	return v.load(v.read())
}

func (v *docView) keys() []key.Binding {
	k := v.sh.keys
	return []key.Binding{k.Edit, k.Opener, as(k.CopyRef, "copy path"), as(k.Why, "indexed or not"),
		key.NewBinding(key.WithKeys("n"), key.WithHelp("n/N", "next, previous chunk")), as(k.Back, "back")}
}

func (v *docView) key(msg tea.KeyMsg) tea.Cmd {
	k := v.sh.keys
	file := v.sh.filePath(v.kb, v.path)
	switch {
	case v.sc.key(msg, k):
		return v.more()
	case msg.String() == "n":
		for _, at := range v.heads {
			if at > v.sc.off {
				v.sc.to(at)
				return v.more()
			}
		}
	case msg.String() == "N":
		for _, at := range slices.Backward(v.heads) {
			if at < v.sc.off {
				v.sc.to(at)
				return nil
			}
		}
	case key.Matches(msg, k.Edit):
		return v.sh.edit(file, 1)
	case key.Matches(msg, k.Opener):
		return v.sh.openPath(file, visible(v.path))
	case key.Matches(msg, k.CopyRef):
		return v.sh.copy(file, "the path")
	case key.Matches(msg, k.Why):
		return why(v.sh, file)
	}
	return nil
}

func (v *docView) view(w, h int) string {
	right := ""
	if v.sc.n > v.sc.h {
		right = fmt.Sprintf("%d%%", min((v.sc.off+v.sc.h)*100/v.sc.n, 100))
	}
	lines := []string{" " + v.sh.st.Title.Render(fit(clipPath(visible(v.kb+"/"+v.path), w-8), w-8)) + v.sh.st.Dim.Render(fitRight(right, 5))}
	if v.drawnW != w {
		v.layout(w - 2)
		v.drawnW = w
	}
	v.sc.resize(len(v.lines), h-1)
	for _, l := range v.lines[v.sc.off:min(v.sc.off+h-1, len(v.lines))] {
		lines = append(lines, " "+l)
	}
	return block(lines, w, h)
}

func (v *docView) layout(w int) {
	v.lines, v.heads = v.facts(w), nil
	seen := -1
	for _, part := range v.parts {
		seen = v.text(part, w, seen)
	}
	if n := len(v.parts); n > 0 && v.parts[n-1].Truncated {
		v.lines = append(v.lines, v.sh.st.Dim.Render("more follows"+v.sh.g.Ellipsis))
	}
}

// facts are the lines above the text.
func (v *docView) facts(w int) []string {
	st, dot := v.sh.st, " "+v.sh.g.Dot+" "
	if !v.known {
		return []string{st.Dim.Render("Loading" + v.sh.g.Ellipsis)}
	}
	d := v.doc
	var lines []string
	row := func(name, text string) {
		for i, l := range wrapText(text, w-12) {
			if i > 0 {
				name = ""
			}
			lines = append(lines, st.Dim.Render(fit(name, 11))+" "+l)
		}
	}
	if d.Title != "" {
		row("title", d.Title)
	}
	lines = append(lines, v.whyNot(w)...)
	if v.err == nil {
		what := []string{size(d.Bytes), plural(d.Chunks, "chunk", "chunks"), plural(d.TotalChars, "character", "characters")}
		row("content", strings.Join(slices.DeleteFunc(append([]string{d.Format}, what...), func(s string) bool { return s == "" }), dot))
		var times []string
		if !d.Modified.IsZero() {
			times = append(times, "file changed "+ago(v.sh.now(), d.Modified))
		}
		if !d.IndexedAt.IsZero() {
			times = append(times, "indexed "+ago(v.sh.now(), d.IndexedAt))
		}
		if d.Stale {
			times = append(times, "the file has changed since")
		}
		if len(times) > 0 {
			row("times", strings.Join(times, dot))
		}
	}
	if q := qualityWords(d.Quality); len(q) > 0 {
		row("quality", strings.Join(q, dot))
	}
	for _, key := range sortedKeys(d.Meta) {
		row(key, d.Meta[key])
	}
	for _, key := range sortedKeys(d.FrontMatter) {
		row(key, frontText(d.FrontMatter[key]))
	}
	if d.FrontError != "" {
		row("front", d.FrontError)
	}
	for i, r := range d.Revisions {
		name := ""
		if i == 0 {
			name = "revisions"
		}
		text := v.sh.local(r.Created).Format("2006-01-02 15:04:05") + dot + plural(r.Chars, "character", "characters") + dot + clip(r.ID, 12)
		if r.Current {
			text += dot + "current"
		}
		row(name, text)
	}
	return append(lines, "")
}

// whyNot says why a document is not in the index, and what to do about it.
func (v *docView) whyNot(w int) []string {
	st := v.sh.st
	var texts []string
	switch {
	case v.err != nil:
		texts = append(texts, explain(v.err))
	case v.doc.Status == "indexed":
		return nil
	default:
		texts = append(texts, "Not in the index: "+cmp.Or(v.doc.Reason, strings.ReplaceAll(v.doc.Code, "_", " "), v.doc.Status)+".")
	}
	if x := v.verdict; x != nil && !x.Indexed {
		if x.Reason != "" && x.Reason != v.doc.Reason {
			texts = append(texts, sentence(x.Reason))
		}
		if x.Rule != "" {
			texts = append(texts, "The rule: "+x.Rule)
		}
	}
	if fix := fixes[v.doc.Code]; fix != "" && v.err == nil {
		texts = append(texts, fix)
	}
	var lines []string
	for _, t := range texts {
		for _, l := range wrapText(t, w-2) {
			lines = append(lines, st.Warn.Render(v.sh.g.Bar)+" "+l)
		}
	}
	return append(lines, "")
}

// frontText writes a value of the front matter; a list with commas.
func frontText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = fmt.Sprint(x)
	}
	return strings.Join(parts, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// text draws one page of text with a line before each chunk that begins in it.
func (v *docView) text(part wire.DocumentView, w, seen int) int {
	runes := []rune(part.Content)
	at := 0
	put := func(to int) {
		if to > at {
			if text := strings.TrimRight(string(runes[at:to]), "\n"); text != "" {
				v.lines = append(v.lines, wrapText(text, w)...)
			}
			at = to
		}
	}
	for _, c := range part.Borders {
		start := c.CharStart - part.Offset
		if c.Index <= seen || start < 0 || start > len(runes) {
			continue
		}
		put(start)
		seen = c.Index
		v.heads = append(v.heads, len(v.lines))
		v.lines = append(v.lines, v.border(c, w))
	}
	put(len(runes))
	return seen
}

func (v *docView) border(c wire.ChunkBorder, w int) string {
	st, g := v.sh.st, v.sh.g
	text := fmt.Sprintf("%s chunk %d", strings.Repeat(g.HLine, 2), c.Index)
	switch {
	case c.Page > 0:
		text += fmt.Sprintf(", page %d", c.Page)
	case c.FirstLine > 0:
		text += fmt.Sprintf(", lines %d-%d", c.FirstLine, c.LastLine)
	}
	if len(c.Headings) > 0 {
		text += ": " + visible(strings.Join(c.Headings, " › "))
	}
	text = clip(text, w-2) + " "
	return st.Border.Render(text + strings.Repeat(g.HLine, max(w-width(text), 0)))
}
