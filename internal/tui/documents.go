package tui

import (
	"context"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

const docPage = 1000 // documents asked for at once, the most that the daemon gives

// What the list of documents shows.
const (
	showAll = iota
	showMissing
	showIndexed
	showCount
)

var showNames = [showCount]string{"all", "not indexed", "indexed"}

// documentsPage is the tree of KBs, folders and documents, and the page of one document.
type documentsPage struct {
	sh      *shared
	entered bool
	tree    docTree
	dirty   bool // rows have to be built again before they are drawn
	filter  filter
	show    int
	ls      list
	rowY    int
	seq     int
	doc     *docView // nil = the tree
}

type (
	docsMsg struct {
		kb   string
		seq  int
		page wire.Documents
		err  error
	}
	showKB  struct{ kb string }
	showDoc struct{ kb, path string }
)

func newDocuments(sh *shared) page {
	p := &documentsPage{sh: sh, filter: newFilter()}
	p.tree.folds = map[string]bool{}
	return p
}

func (p *documentsPage) Load() tea.Cmd {
	p.entered = true
	p.sync()
	if p.doc != nil {
		return tea.Batch(p.loadSets(), p.doc.reload())
	}
	return p.loadSets()
}

// loadSets begins the listings that are wanted and not there, or out of date.
func (p *documentsPage) loadSets() tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range p.tree.sets {
		if s.open && (!s.loaded || s.stale) && !s.loading {
			cmds = append(cmds, p.begin(s))
		}
	}
	return tea.Batch(cmds...)
}

func (p *documentsPage) Ready() bool {
	for _, s := range p.tree.sets {
		if s.loading {
			return false
		}
	}
	return p.sh.world.kbsKnown && (p.doc == nil || !p.doc.loading)
}

func (p *documentsPage) Typing() bool    { return p.filter.typing && p.doc == nil }
func (p *documentsPage) Unsaved() string { return "" }

func (p *documentsPage) Back() bool {
	switch {
	case p.doc != nil:
		p.doc = nil
	case p.filter.back():
		p.dirty = true
	case p.show != showAll:
		p.show, p.dirty = showAll, true
	default:
		return false
	}
	return true
}

func (p *documentsPage) Keys() []key.Binding {
	k := p.sh.keys
	if p.doc != nil {
		return p.doc.keys()
	}
	if p.filter.typing {
		return p.filter.keys()
	}
	return []key.Binding{as(k.Enter, "open"), k.Filter, as(k.Sort, "show"), as(k.Why, "why not indexed"), as(k.Expand, "unfold"), as(k.Collapse, "fold"),
		k.Edit, as(k.Opener, "open with the system"), as(k.CopyRef, "copy path"), k.Toggle}
}

// sync follows the list of KBs; listings of those that stay are kept.
func (p *documentsPage) sync() {
	old := map[string]*docSet{}
	for _, s := range p.tree.sets {
		old[s.name] = s
	}
	p.tree.sets = p.tree.sets[:0]
	kbs := p.sh.world.kbs
	for _, kb := range kbs {
		s := old[kb.Name]
		if s == nil {
			s = &docSet{name: kb.Name, open: len(kbs) == 1}
		}
		p.tree.sets = append(p.tree.sets, s)
	}
	p.dirty = true
}

func (p *documentsPage) begin(s *docSet) tea.Cmd {
	p.seq++
	s.seq, s.loading, s.err, s.next = p.seq, true, nil, nil
	return p.loadPage(s.name, s.seq, "")
}

func (p *documentsPage) loadPage(kb string, seq int, cursor string) tea.Cmd {
	return func() tea.Msg {
		page, err := p.sh.backend.Documents(context.Background(), kb, cursor, docPage)
		return docsMsg{kb, seq, page, err}
	}
}

func (p *documentsPage) set(name string) *docSet {
	for _, s := range p.tree.sets {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (p *documentsPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case kbsMsg:
		p.sync()
		if p.entered { // nothing is loaded for a page that nobody has looked at
			return p.loadSets()
		}
	case docsMsg:
		return p.take(msg)
	case wire.Event:
		p.event(msg)
	case showKB:
		return p.reveal(msg.kb)
	case showDoc:
		p.doc = newDocView(p.sh, msg.kb, msg.path)
		return p.doc.reload()
	case docTextMsg:
		if p.doc != nil {
			p.doc.take(msg)
		}
	case tea.KeyMsg:
		if p.doc != nil {
			return p.doc.key(msg)
		}
		return p.key(msg)
	case tea.MouseMsg:
		return p.mouse(msg)
	}
	return nil
}

func (p *documentsPage) take(msg docsMsg) tea.Cmd {
	s := p.set(msg.kb)
	if s == nil || s.seq != msg.seq || !s.loading {
		return nil
	}
	p.dirty = true
	if msg.err != nil {
		s.loading, s.err = false, msg.err
		return nil
	}
	s.total = msg.page.Total
	s.take(msg.page.Documents)
	if msg.page.NextCursor == "" || len(msg.page.Documents) == 0 {
		s.finish()
		return nil
	}
	return p.loadPage(s.name, s.seq, msg.page.NextCursor)
}

func (p *documentsPage) event(ev wire.Event) {
	switch {
	case ev.Type == "hello":
		for _, s := range p.tree.sets {
			s.stale = true
		}
	case ev.Document != nil:
		if s := p.set(ev.Document.KB); s != nil {
			s.apply(*ev.Document)
			p.dirty = true
		}
	}
}

// reveal opens a KB and puts the cursor on it.
func (p *documentsPage) reveal(kb string) tea.Cmd {
	p.doc = nil
	p.filter.back()
	s := p.set(kb)
	if s == nil {
		return nil
	}
	s.open, p.dirty = true, true
	p.refresh()
	for i, r := range p.tree.rows {
		if r.kind == treeKB && p.tree.sets[r.kb] == s {
			p.ls.moveTo(len(p.tree.rows) - 1) // so that the KB comes to the top of the window
			p.ls.moveTo(i)
		}
	}
	return p.Load()
}

// refresh builds the rows where something has changed, and keeps the cursor on its row.
func (p *documentsPage) refresh() {
	if !p.dirty {
		return
	}
	p.dirty = false
	on := ""
	if p.ls.cur < len(p.tree.rows) && p.valid(p.tree.rows[p.ls.cur]) {
		on = p.tree.key(p.tree.rows[p.ls.cur])
	}
	p.tree.show = nil
	if p.filter.on() || p.show != showAll {
		p.tree.show = p.shows
	}
	p.tree.build()
	p.ls.resize(len(p.tree.rows), max(p.ls.h, 1))
	if p.ls.cur < len(p.tree.rows) && p.tree.key(p.tree.rows[p.ls.cur]) == on {
		return
	}
	for i, r := range p.tree.rows {
		if p.tree.key(r) == on {
			p.ls.moveTo(i)
			return
		}
	}
}

// valid says that a row built earlier still points into its listing.
func (p *documentsPage) valid(r treeRow) bool {
	return int(r.kb) < len(p.tree.sets) && (r.kind == treeKB || r.kind == treeNote || int(r.to) <= len(p.tree.sets[r.kb].rows) && int(r.plen) <= len(p.tree.sets[r.kb].rows[r.from].path))
}

func (p *documentsPage) shows(kb string, d *docRow) bool {
	switch {
	case p.show == showMissing && d.status == docIndexed, p.show == showIndexed && d.status != docIndexed:
		return false
	}
	return p.filter.match(d.path, kb)
}

func (p *documentsPage) row() (treeRow, bool) {
	p.refresh()
	if p.ls.cur < len(p.tree.rows) {
		return p.tree.rows[p.ls.cur], true
	}
	return treeRow{}, false
}

func (p *documentsPage) key(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	p.refresh()
	if p.filter.typing {
		if p.filter.key(msg) {
			p.dirty = true
			return p.openAll()
		}
		return nil
	}
	switch {
	case key.Matches(msg, k.Expand):
		return p.unfold(true)
	case key.Matches(msg, k.Collapse):
		return p.unfold(false)
	case p.ls.key(msg, k):
	case key.Matches(msg, k.Filter):
		p.filter.typing = true
		return p.openAll()
	case key.Matches(msg, k.Sort):
		p.show, p.dirty = (p.show+1)%showCount, true
		return p.openAll()
	case key.Matches(msg, k.Enter, k.Toggle):
		return p.enter()
	default:
		return p.fileKey(msg)
	}
	return nil
}

// openAll opens every KB, for a filter is about all of them.
func (p *documentsPage) openAll() tea.Cmd {
	for _, s := range p.tree.sets {
		s.open = true
	}
	return p.Load()
}

func (p *documentsPage) enter() tea.Cmd {
	r, ok := p.row()
	if !ok {
		return nil
	}
	s := p.tree.sets[r.kb]
	switch r.kind {
	case treeKB:
		return p.unfold(!s.open)
	case treeDir:
		return p.unfold(!p.tree.isOpen(s, s.rows[r.from].path[:r.plen]))
	case treeDoc:
		p.doc = newDocView(p.sh, s.name, s.rows[r.from].path)
		return p.doc.reload()
	}
	return nil
}

// unfold opens or closes the KB or folder under the cursor; closing on a
// document closes the folder it is in.
func (p *documentsPage) unfold(open bool) tea.Cmd {
	r, ok := p.row()
	if !ok {
		return nil
	}
	s := p.tree.sets[r.kb]
	switch {
	case r.kind == treeKB:
		s.open = open
	case r.kind == treeDir && (open || p.tree.isOpen(s, s.rows[r.from].path[:r.plen])):
		p.tree.folds[s.name+"\x00"+s.rows[r.from].path[:r.plen]] = open
	case !open:
		p.toParent(r)
		return nil
	}
	p.dirty = true
	return p.Load()
}

func (p *documentsPage) toParent(r treeRow) {
	for i := p.ls.cur - 1; i >= 0; i-- {
		if p.tree.rows[i].depth < r.depth {
			p.ls.moveTo(i)
			return
		}
	}
}

// fileKey are the keys that need a document under the cursor.
func (p *documentsPage) fileKey(msg tea.KeyMsg) tea.Cmd {
	k := p.sh.keys
	r, ok := p.row()
	if !ok || r.kind == treeNote {
		return nil
	}
	s := p.tree.sets[r.kb]
	path := ""
	switch r.kind {
	case treeDoc:
		path = s.rows[r.from].path
	case treeDir:
		path = s.rows[r.from].path[:r.plen]
	}
	file := strings.TrimSuffix(p.sh.filePath(s.name, path), "/")
	switch {
	case key.Matches(msg, k.Why):
		if r.kind == treeDoc {
			return why(p.sh, file)
		}
		return whyPrompt(p.sh, file+"/")
	case key.Matches(msg, k.Edit) && r.kind == treeDoc:
		return p.sh.edit(file, 1)
	case key.Matches(msg, k.Opener):
		return p.sh.openPath(file, visible(path))
	case key.Matches(msg, k.CopyRef):
		return p.sh.copy(file, "the path")
	}
	return nil
}

func (p *documentsPage) mouse(msg tea.MouseMsg) tea.Cmd {
	switch {
	case p.doc != nil:
		p.doc.sc.wheel(msg)
		return p.doc.more()
	case p.ls.wheel(msg) || !isClick(msg):
	default:
		if hit, again := p.ls.click(msg.Y - p.rowY); hit && again {
			return p.enter()
		}
	}
	return nil
}
