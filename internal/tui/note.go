package tui

import (
	"cmp"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

// noteMsg opens a window with text.
type noteMsg struct {
	title string
	texts []string
}

// note is a window with text, closed by any key that does not scroll it.
type note struct {
	sh  *shared
	msg noteMsg
	sc  scroll
}

func newNote(sh *shared, msg noteMsg) overlay { return &note{sh: sh, msg: msg} }

func (n *note) Keys() []key.Binding {
	return []key.Binding{key.NewBinding(key.WithKeys("esc"), key.WithHelp("any key", "close"))}
}

func (n *note) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return nil, n.sc.n > n.sc.h && n.sc.key(msg, n.sh.keys)
	case tea.MouseMsg:
		return nil, n.sc.wheel(msg) || !isClick(msg)
	}
	return nil, true
}

func (n *note) View(w, h int) []string {
	inner := min(w-6, 76)
	lines := []string{""}
	for _, t := range n.msg.texts {
		lines = append(lines, wrapText(t, inner)...)
	}
	lines = append(lines, "")
	n.sc.resize(len(lines), max(h-2, 1))
	return n.sh.box(n.msg.title, lines[n.sc.off:min(n.sc.off+n.sc.h, len(lines))], inner)
}

// verdictNote puts a verdict into words.
func verdictNote(v wire.Verdict) noteMsg {
	texts := []string{visible(v.Path), ""}
	switch {
	case v.Indexed && v.State != "" && v.State != "indexed":
		texts = append(texts, "It belongs to the index of "+v.KB+"; its state: "+v.State+".")
	case v.Indexed:
		texts = append(texts, "It is indexed, in "+v.KB+".")
	default:
		texts = append(texts, "It is not indexed: "+cmp.Or(v.Reason, v.Code)+".")
	}
	if v.Indexed && v.Reason != "" {
		texts = append(texts, sentence(v.Reason))
	}
	if v.Rule != "" {
		texts = append(texts, "The rule: "+v.Rule)
	}
	return noteMsg{"Is it indexed?", texts}
}
