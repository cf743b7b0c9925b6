package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// overlay is a small window over the page that takes all keys while it is open.
type overlay interface {
	Update(msg tea.Msg) (cmd tea.Cmd, open bool)
	View(w, h int) []string
	Keys() []key.Binding
}

// layOver draws a window into the middle of a page.
func layOver(body string, win []string, w, h int) string {
	lines := strings.Split(body, "\n")
	top := max((h-len(win))/2, 0)
	for i, row := range win {
		y := top + i
		if y >= len(lines) {
			break
		}
		ww := min(width(row), w)
		x := (w - ww) / 2
		left := cut(lines[y], x)
		left += spaces(x - width(left))
		right := ""
		if width(lines[y]) > x+ww {
			right = ansi.TruncateLeft(lines[y], x+ww, "")
		}
		lines[y] = left + cut(row, w) + right
	}
	return strings.Join(lines, "\n")
}

// box frames lines; every line is fitted to the inner width.
func (s *shared) box(title string, lines []string, inner int) []string {
	st, g := s.st, s.g
	title = clip(title, inner-2)
	fill := inner + 2 - width(title) - 3
	out := []string{st.Border.Render(g.TL+g.HLine) + " " + st.Title.Render(title) + " " + st.Border.Render(strings.Repeat(g.HLine, max(fill, 0))+g.TR)}
	for _, l := range lines {
		l = cut(l, inner)
		out = append(out, st.Border.Render(g.VLine)+" "+l+spaces(inner-width(l))+" "+st.Border.Render(g.VLine))
	}
	return append(out, st.Border.Render(g.BL+strings.Repeat(g.HLine, inner+2)+g.BR))
}

// ask is a question with yes and no.
type ask struct {
	sh  *shared
	msg askMsg
}

func newAsk(sh *shared, msg askMsg) overlay { return &ask{sh, msg} }

func (a *ask) Keys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("y", "enter"), key.WithHelp("y/enter", "yes")),
		key.NewBinding(key.WithKeys("n", "esc"), key.WithHelp("n/esc", "no")),
	}
}

func (a *ask) Update(msg tea.Msg) (tea.Cmd, bool) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, true
	}
	switch k.String() {
	case "y", "Y", "enter":
		return a.msg.yes, false
	case "n", "N", "esc", "q":
		return nil, false
	}
	return nil, true
}

func (a *ask) View(w, _ int) []string {
	inner := min(w-6, 60)
	lines := append([]string{""}, wrapText(a.msg.question, inner)...)
	st := a.sh.st
	lines = append(lines, "", st.Key.Render("y")+" yes    "+st.Key.Render("n")+" no", "")
	return a.sh.box("Sure?", lines, inner)
}

// prompt asks for a line of text.
type prompt struct {
	sh  *shared
	msg promptMsg
	in  input
}

func newPrompt(sh *shared, msg promptMsg) overlay {
	p := &prompt{sh: sh, msg: msg, in: newInput(4096)}
	p.in.set(msg.text)
	return p
}

func (p *prompt) Keys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "go on")),
		key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "leave it")),
	}
}

func (p *prompt) Update(msg tea.Msg) (tea.Cmd, bool) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil, true
	}
	switch k.String() {
	case "esc":
		return nil, false
	case "enter":
		if text := strings.TrimSpace(p.in.text); text != "" {
			return p.msg.done(text), false
		}
		return nil, false
	}
	p.in.key(k)
	return nil, true
}

func (p *prompt) View(w, _ int) []string {
	inner := min(w-6, 70)
	lines := []string{""}
	for _, l := range wrapText(p.msg.hint, inner) {
		lines = append(lines, p.sh.st.Dim.Render(l))
	}
	lines = append(lines, "", p.sh.st.Key.Render("> ")+p.in.view(inner-2, p.sh.st, true, ""), "")
	return p.sh.box(p.msg.title, lines, inner)
}

// help lists the keys of a page.
type help struct {
	sh    *shared
	title string
	keys  []key.Binding
	sc    scroll
}

func newHelp(sh *shared, title string, keys []key.Binding) overlay {
	return &help{sh: sh, title: title, keys: keys}
}

func (h *help) Keys() []key.Binding {
	return []key.Binding{key.NewBinding(key.WithKeys("esc"), key.WithHelp("any key", "close")), as(h.sh.keys.Down, "scroll")}
}

func (h *help) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return nil, h.sc.n > h.sc.h && h.sc.key(msg, h.sh.keys)
	case tea.MouseMsg:
		return nil, h.sc.wheel(msg) || !isClick(msg)
	}
	return nil, true
}

func (h *help) View(w, ht int) []string {
	k := h.sh.keys
	st := h.sh.st
	inner := min(w-6, 64)
	col := 13
	row := func(b key.Binding) string {
		name := b.Help().Key
		if h.sh.g.ASCII {
			name = asciiKey(name)
		}
		return st.Key.Render(fit(name, col)) + " " + clip(b.Help().Desc, inner-col-1)
	}
	lines := []string{}
	for _, b := range h.keys {
		lines = append(lines, row(b))
	}
	lines = append(lines, "", st.Dim.Render("In every list"))
	for _, b := range []key.Binding{k.Up, k.Down, k.HalfUp, k.HalfDown, k.PageUp, k.PageDown, k.Top, k.Bottom} {
		lines = append(lines, row(b))
	}
	lines = append(lines, "", st.Dim.Render("Everywhere"))
	for _, b := range []key.Binding{k.Page, k.NextPage, k.Palette, k.Refresh, k.Back, k.Quit} {
		lines = append(lines, row(b))
	}
	h.sc.resize(len(lines), ht-2)
	return h.sh.box("Keys: "+h.title, lines[h.sc.off:min(h.sc.off+h.sc.h, len(lines))], inner)
}
