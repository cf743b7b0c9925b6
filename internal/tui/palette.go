package tui

import (
	"context"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/sahilm/fuzzy"
)

// command is one entry of the palette.
type command struct {
	name string
	run  tea.Cmd
}

// palette finds a command by a few of its letters.
type palette struct {
	sh   *shared
	all  []command
	in   input
	hits []fuzzy.Match
	ls   list
}

type commands []command

func (c commands) String(i int) string { return c[i].name }
func (c commands) Len() int            { return len(c) }

func newPalette(sh *shared, all []command) overlay {
	p := &palette{sh: sh, all: all, in: newInput(80)}
	p.match()
	return p
}

func (p *palette) match() {
	p.hits = p.hits[:0]
	if q := strings.TrimSpace(p.in.text); q != "" {
		p.hits = fuzzy.FindFrom(q, commands(p.all))
	} else {
		for i := range p.all {
			p.hits = append(p.hits, fuzzy.Match{Str: p.all[i].name, Index: i})
		}
	}
	p.ls.cur, p.ls.off = 0, 0
	p.ls.resize(len(p.hits), max(p.ls.h, 1))
}

func (p *palette) Keys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "do it")),
		key.NewBinding(key.WithKeys("up"), key.WithHelp("↑ ↓", "choose")),
		key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "close")),
	}
}

func (p *palette) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		switch msg.String() {
		case "esc", "ctrl+k":
			return nil, false
		case "enter":
			if p.ls.cur < len(p.hits) {
				return p.all[p.hits[p.ls.cur].Index].run, false
			}
			return nil, true
		case "up", "ctrl+p", "shift+tab":
			p.ls.moveTo(p.ls.cur - 1)
		case "down", "ctrl+n", "tab":
			p.ls.moveTo(p.ls.cur + 1)
		case "pgup":
			p.ls.moveTo(p.ls.cur - p.ls.h)
		case "pgdown":
			p.ls.moveTo(p.ls.cur + p.ls.h)
		default:
			if changed, _ := p.in.key(msg); changed {
				p.match()
			}
		}
	case tea.MouseMsg:
		p.ls.wheel(msg)
	}
	return nil, true
}

func (p *palette) View(w, h int) []string {
	inner := min(w-6, 60)
	rows := max(min(len(p.all), h-6, 12), 1)
	p.ls.resize(len(p.hits), rows)
	lines := []string{p.sh.st.Key.Render(": ") + p.in.view(inner-2, p.sh.st, true, "what do you want to do?"), ""}
	from, to := p.ls.window()
	for i := from; i < to; i++ {
		lines = append(lines, p.row(p.hits[i], i == p.ls.cur, inner))
	}
	if len(p.hits) == 0 {
		lines = append(lines, p.sh.st.Dim.Render("no such command"))
	}
	for len(lines) < rows+2 {
		lines = append(lines, "")
	}
	return p.sh.box("Commands", lines, inner)
}

func (p *palette) row(m fuzzy.Match, on bool, w int) string {
	name := visible(m.Str)
	if on {
		return p.sh.st.Cursor.Render(fit(p.sh.g.Cursor+" "+name, w))
	}
	if len(m.MatchedIndexes) == 0 || name != m.Str {
		return "  " + clip(name, w-2)
	}
	// MatchedIndexes are byte offsets of the matched characters.
	lit := map[int]bool{}
	for _, i := range m.MatchedIndexes {
		lit[i] = true
	}
	var b strings.Builder
	for i, r := range name {
		if lit[i] {
			b.WriteString(p.sh.st.Accent.Render(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return "  " + cut(b.String(), w-2)
}

// commands lists what can be done from anywhere, and then per KB.
func (m *Model) commands() []command {
	sh := m.sh
	all := []command{}
	add := func(name string, run tea.Cmd) { all = append(all, command{name, run}) }
	for i, t := range titles {
		add("go to "+strings.ToLower(t), send(goMsg{page: i}))
	}
	add("keys of this page", send(helpMsg{}))
	add("add a folder", addFolderPrompt(sh))
	add("why is a file not indexed", whyPrompt(sh, ""))
	add("retry all failed", send(runMsg{retryAll}))
	add("pause indexing", send(runMsg{pauseOf("", true)}))
	add("resume indexing", send(runMsg{pauseOf("", false)}))
	add("reindex: compare disk and index now", send(runMsg{reindexOf("", false)}))
	add("reindex by force: queue everything again", send(askMsg{
		"Queue every file of every KB again? Searches go on with the old content meanwhile.", send(runMsg{reindexOf("", true)})}))
	for _, kb := range sh.world.kbs {
		name := kb.Name
		add("search in "+name, send(goMsg{pageSearch, searchIn{name}}))
		add("documents of "+name, send(goMsg{pageDocuments, showKB{name}}))
		add("pause "+name, send(runMsg{pauseOf(name, true)}))
		add("resume "+name, send(runMsg{pauseOf(name, false)}))
		add("reindex "+name, send(runMsg{reindexOf(name, false)}))
	}
	add("quit", send(quitMsg{}))
	return all
}

// runMsg carries an action that the palette started; the root runs it.
type runMsg struct {
	do func(sh *shared) tea.Cmd
}

type quitMsg struct{}

func retryAll(sh *shared) tea.Cmd {
	return sh.act(func(ctx context.Context) (string, error) {
		n, err := sh.backend.RetryAll(ctx)
		return "retrying " + plural(n, "file", "files"), err
	})
}

func pauseOf(kb string, on bool) func(sh *shared) tea.Cmd {
	return func(sh *shared) tea.Cmd {
		return sh.act(func(ctx context.Context) (string, error) {
			what := kb
			if kb == "" {
				what = "indexing"
			}
			if on {
				return what + " is paused", sh.backend.Pause(ctx, kb)
			}
			return what + " goes on", sh.backend.Resume(ctx, kb)
		})
	}
}

func reindexOf(kb string, force bool) func(sh *shared) tea.Cmd {
	return func(sh *shared) tea.Cmd {
		return sh.act(func(ctx context.Context) (string, error) {
			n, err := sh.backend.Reindex(ctx, kb, force)
			return plural(n.Enqueued, "file", "files") + " queued: " + count(n.Added) + " new, " + count(n.Modified) + " changed, " + count(n.Deleted) + " gone", err
		})
	}
}
