package tui

import (
	"errors"
	"fmt"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/fault"
	"ragd/internal/wire"
)

const (
	minWidth, minHeight = 40, 12
	toastTime           = 4 * time.Second
	reloadPause         = time.Second // least time between two loads that events caused
)

// Model is the root: it keeps the link and the world up to date, routes
// messages to the pages, and draws the frame around them.
type Model struct {
	sh      *shared
	events  <-chan wire.Event
	pages   [pageCount]page
	cur     int
	trail   []int // pages visited before, for Esc
	overlay overlay
	w, h    int

	toast     string
	toastBad  bool
	toastSeq  int
	reloading bool      // a reloadMsg is on its way
	loadedAt  time.Time // of the last load that events caused
	polledAt  time.Time // of the last status
	tickSeq   int
	quitting  bool
	pinned    bool // frames go to a terminal: see finishFrame
}

func newModel(sh *shared, events <-chan wire.Event, first int) *Model {
	m := &Model{sh: sh, events: events, cur: first}
	m.pages = [pageCount]page{
		newOverview(sh), newQueue(sh), newFailed(sh), newSearch(sh), newDocuments(sh), newAgents(sh),
	}
	return m
}

// Init starts listening; the first hello loads everything else.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(nextEvents(m.events), m.tick(), m.pages[pageSearch].(*searchPage).loadHistory())
}

// Update is the only place where anything changes.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyMsg); ok && k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste {
		return m, m.oneByOne(k)
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		return m, nil
	case tea.KeyMsg:
		return m, m.key(msg)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	case eventsMsg:
		return m, m.takeEvents(msg)
	case statusMsg:
		if msg.err == nil && m.sh.world.status != nil {
			m.sh.world.status = &msg.status
		}
		return m, nil
	case kbsMsg:
		if msg.err == nil {
			m.sh.world.kbs, m.sh.world.kbsKnown = msg.kbs, true
		}
		return m, m.broadcast(msg)
	case tickMsg:
		if msg.seq != m.tickSeq {
			return m, nil
		}
		return m, tea.Batch(m.poll(), m.tick())
	case reloadMsg:
		m.reloading, m.loadedAt = false, m.sh.now()
		if p, ok := m.pages[m.cur].(*searchPage); ok {
			return m, tea.Batch(m.sh.loadKBs(), p.renew())
		}
		return m, m.loadAll()
	case doneMsg:
		return m, m.finish(msg)
	case toastMsg:
		return m, m.say(msg.text, msg.bad)
	case toastGoneMsg:
		if msg.seq == m.toastSeq {
			m.toast = ""
		}
		return m, nil
	case goMsg:
		cmd := m.open(msg.page)
		if msg.then != nil {
			cmd = tea.Batch(cmd, m.pages[m.cur].Update(msg.then))
		}
		return m, cmd
	case runMsg:
		return m, msg.do(m.sh)
	case quitMsg:
		return m, m.quit()
	case backMsg:
		if msg.err != nil {
			return m, m.say("the editor ended with: "+msg.err.Error(), true)
		}
		return m, m.loadAll()
	case editorMsg: // without a terminal, as in snapshots, there is only its error
		if msg.err != nil {
			return m, m.say(explain(msg.err), true)
		}
		return m, nil
	case verdictMsg:
		if msg.err != nil {
			return m, m.say(explain(msg.err), true)
		}
		m.overlay = newNote(m.sh, verdictNote(msg.verdict))
		return m, nil
	case noteMsg:
		m.overlay = newNote(m.sh, msg)
		return m, nil
	case helpMsg:
		m.overlay = newHelp(m.sh, titles[m.cur], m.pages[m.cur].Keys())
		return m, nil
	case askMsg:
		m.overlay = newAsk(m.sh, msg)
		return m, nil
	case promptMsg:
		m.overlay = newPrompt(m.sh, msg)
		return m, nil
	}
	return m, m.broadcast(msg)
}

func (m *Model) broadcast(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, pageCount)
	for _, p := range m.pages {
		cmds = append(cmds, p.Update(msg))
	}
	return tea.Batch(cmds...)
}

func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	k := m.sh.keys
	// Of a paste that no input would take whole, the rest is not even compared with keys.
	msg.Runes = msg.Runes[:min(len(msg.Runes), maxQuery)]
	if msg.Type == tea.KeyCtrlC {
		m.quitting = true
		return tea.Quit
	}
	if msg.Type == tea.KeyCtrlZ {
		return send(suspendMsg{})
	}
	if m.toastBad {
		m.toast, m.toastBad = "", false
	}
	if m.overlay != nil {
		cmd, open := m.overlay.Update(msg)
		if !open {
			m.overlay = nil
		}
		return cmd
	}
	p := m.pages[m.cur]
	typing := p.Typing()
	switch {
	case key.Matches(msg, k.Back):
		if !p.Back() {
			m.back()
		}
		return nil
	case key.Matches(msg, k.Page) && (!typing || len(msg.String()) > 1):
		s := msg.String()
		return m.open(int(s[len(s)-1] - '1'))
	case msg.String() == "ctrl+k":
		m.overlay = newPalette(m.sh, m.commands())
		return nil
	case key.Matches(msg, k.Refresh):
		return tea.Batch(m.loadAll(), m.say("loading again", false))
	case typing:
		return p.Update(msg)
	case key.Matches(msg, k.Help):
		m.overlay = newHelp(m.sh, titles[m.cur], p.Keys())
	case key.Matches(msg, k.Palette):
		m.overlay = newPalette(m.sh, m.commands())
	case key.Matches(msg, k.NextPage):
		step := 1
		if msg.String() == "[" {
			step = pageCount - 1
		}
		return m.open((m.cur + step) % pageCount)
	case key.Matches(msg, k.Quit):
		return m.quit()
	default:
		return p.Update(msg)
	}
	return nil
}

func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.overlay != nil {
		cmd, open := m.overlay.Update(msg)
		if !open {
			m.overlay = nil
		}
		return cmd
	}
	if msg.Y == 0 {
		if isClick(msg) {
			for _, t := range m.tabs(m.w) {
				if msg.X >= t.x && msg.X < t.x+width(t.text) {
					return m.open(t.page)
				}
			}
		}
		return nil
	}
	if msg.Y > m.h-2 {
		return nil
	}
	msg.Y--
	return m.pages[m.cur].Update(msg)
}

// open shows a page and remembers where one came from.
func (m *Model) open(p int) tea.Cmd {
	if p < 0 || p >= pageCount {
		return nil
	}
	if p != m.cur {
		m.trail = append(m.trail[max(len(m.trail)-16, 0):], m.cur)
		m.cur = p
		m.toast, m.toastBad = "", false
	}
	return m.pages[p].Load()
}

// back goes to the page before; on the first one it says how to leave.
func (m *Model) back() {
	if n := len(m.trail); n > 0 {
		m.cur, m.trail = m.trail[n-1], m.trail[:n-1]
		return
	}
	m.cur = pageOverview
}

func (m *Model) quit() tea.Cmd {
	lost := ""
	for _, p := range m.pages {
		if s := p.Unsaved(); s != "" {
			lost = s
		}
	}
	if m.sh.actions > 0 {
		lost = plural(m.sh.actions, "action is", "actions are") + " still under way"
	}
	if lost != "" {
		m.overlay = newAsk(m.sh, askMsg{question: lost + ". Quit?", yes: tea.Quit})
		return nil
	}
	m.quitting = true
	return tea.Quit
}

func (m *Model) takeEvents(msg eventsMsg) tea.Cmd {
	cmds := []tea.Cmd{}
	if !msg.closed {
		cmds = append(cmds, nextEvents(m.events))
	}
	w := m.sh.world
	wasMoving := m.moving()
	hello := false
	for _, ev := range msg.events {
		if ev.Type == "log" {
			defer m.pages[pageAgents].Update(ev)
		}
		if w.apply(ev, m.sh.now()) {
			hello = true
			w.changed = false
		}
		cmds = append(cmds, m.pages[pageDocuments].Update(ev))
	}
	switch {
	case hello:
		m.polledAt, m.loadedAt = m.sh.now(), m.sh.now()
		cmds = append(cmds, m.loadAll())
	case w.changed && !m.reloading:
		w.changed, m.reloading = false, true
		wait := max(reloadPause-m.sh.now().Sub(m.loadedAt), 150*time.Millisecond)
		cmds = append(cmds, tea.Tick(wait, func(time.Time) tea.Msg { return reloadMsg{} }))
	}
	if m.moving() && !wasMoving {
		cmds = append(cmds, m.tick())
	}
	return tea.Batch(cmds...)
}

func (m *Model) loadAll() tea.Cmd {
	return tea.Batch(m.sh.loadKBs(), m.pages[m.cur].Load())
}

// tick keeps ages and rates honest: every second while numbers move, rarely otherwise.
func (m *Model) tick() tea.Cmd {
	m.tickSeq++
	seq := m.tickSeq
	every := 10 * time.Second
	if m.moving() {
		every = time.Second
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{seq} })
}

func (m *Model) moving() bool {
	w := m.sh.world
	recent := newest(w.activity, 1)
	return w.busy() || len(recent) > 0 && m.sh.now().Sub(recent[0].at) < 70*time.Second
}

// poll asks for what no event tells: rates, the backlog, the disk.
func (m *Model) poll() tea.Cmd {
	every := time.Minute
	if m.moving() {
		every = 2 * time.Second
	}
	if !m.sh.world.live() || m.sh.now().Sub(m.polledAt) < every {
		return nil
	}
	m.polledAt = m.sh.now()
	return m.sh.loadStatus()
}

func (m *Model) finish(msg doneMsg) tea.Cmd {
	m.sh.actions = max(m.sh.actions-1, 0)
	if msg.err != nil {
		return m.say(explain(msg.err), true)
	}
	if msg.text == "" {
		return m.loadAll()
	}
	return tea.Batch(m.say(msg.text, false), m.loadAll())
}

func (m *Model) say(text string, bad bool) tea.Cmd {
	m.toast, m.toastBad = text, bad
	m.toastSeq++
	seq := m.toastSeq
	if bad {
		return nil // it stays until the next key
	}
	return tea.Tick(toastTime, func(time.Time) tea.Msg { return toastGoneMsg{seq} })
}

// explain writes an error in one line for a person.
func explain(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		if f.Hint != "" {
			return fmt.Sprintf("%s (%s)", f.Message, f.Hint)
		}
		return f.Message
	}
	return err.Error()
}

// oneByOne takes keys that came in one read, as they do when one types fast or
// the machine is busy, as the keys they are.
func (m *Model) oneByOne(keys tea.KeyMsg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(keys.Runes))
	for _, r := range keys.Runes {
		one := keys
		one.Runes = []rune{r}
		_, cmd := m.Update(one)
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}
