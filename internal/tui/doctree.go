package tui

import (
	"sort"
	"strings"

	"ragd/internal/wire"
)

// docRow is a document in as little memory as it takes: there may be 100,000.
type docRow struct {
	path   string // as the file system has it
	code   string // why it is not indexed
	bytes  int64
	chunks int32
	status docStatus
	poor   bool // its text is
}

type docStatus uint8

const (
	docIndexed docStatus = iota
	docPending
	docFailed
	docExcluded
)

var docStatusNames = [...]string{"indexed", "pending", "failed", "excluded"}

func parseDocStatus(s string) docStatus {
	for i, n := range docStatusNames {
		if n == s {
			return docStatus(i)
		}
	}
	return docPending
}

// docSet is the listing of one KB, in path order.
type docSet struct {
	name    string
	rows    []docRow
	bad     []int32 // bad[i] = documents before i that are not indexed
	open    bool
	loaded  bool // rows are a whole listing
	stale   bool // a gap may have hidden changes
	loading bool
	next    []docRow // the listing being loaded; it replaces rows when it is whole
	seq     int      // of that loading
	total   int64
	err     error
}

func (s *docSet) take(docs []wire.Document) {
	for _, d := range docs {
		row := docRow{path: rawPath(d.Path, d.PathBytes), code: intern(d.Code), bytes: d.Bytes, chunks: int32(min(d.Chunks, 1<<30)), status: parseDocStatus(d.Status), poor: d.Quality != nil && d.Quality.Flag != ""}
		s.next = append(s.next, row)
	}
	if !s.loaded {
		s.rows = s.next // what is there already can be looked at
	}
	s.sum()
}

// intern lets the few codes there are share one string each.
func intern(code string) string {
	for known := range fixes {
		if known == code {
			return known
		}
	}
	return strings.Clone(code)
}

func (s *docSet) finish() {
	s.rows, s.next = s.next, nil
	s.loaded, s.loading, s.stale = true, false, false
	s.sum()
}

func (s *docSet) sum() {
	if cap(s.bad) < len(s.rows)+1 {
		s.bad = make([]int32, len(s.rows)+1, cap(s.rows)+1)
	}
	s.bad = s.bad[:len(s.rows)+1]
	n := int32(0)
	for i := range s.rows {
		s.bad[i] = n
		if s.rows[i].status == docPending || s.rows[i].status == docFailed {
			n++
		}
	}
	s.bad[len(s.rows)] = n
}

func (s *docSet) find(path string) (int, bool) {
	i := sort.Search(len(s.rows), func(i int) bool { return s.rows[i].path >= path })
	return i, i < len(s.rows) && s.rows[i].path == path
}

// apply follows an event, so that one change does not load 100,000 rows again.
func (s *docSet) apply(ev wire.DocEvent) {
	if !s.loaded {
		return
	}
	i, ok := s.find(ev.Path)
	switch ev.What {
	case "deleted":
		if ok {
			s.rows = append(s.rows[:i], s.rows[i+1:]...)
		}
	case "indexed", "queued", "failed", "excluded":
		if !ok {
			s.rows = append(s.rows, docRow{})
			copy(s.rows[i+1:], s.rows[i:])
			s.rows[i] = docRow{path: ev.Path}
		}
		r := &s.rows[i]
		switch ev.What {
		case "indexed":
			r.status, r.chunks, r.code, r.poor = docIndexed, int32(ev.Chunks), "", false // a listing tells again
		case "queued":
			// The old revision stays searchable until the new one is in.
			if r.chunks == 0 {
				r.status = docPending
			}
		case "failed":
			r.status = docFailed
		case "excluded":
			r.status, r.chunks = docExcluded, 0
		}
	default:
		return
	}
	s.sum()
}

// treeRow is a line of the tree: a KB, a folder or a document.
type treeRow struct {
	kb       int32
	from, to int32 // documents in it
	plen     int32 // of a folder: length of its path with the final slash
	depth    int16
	kind     treeKind
}

type treeKind uint8

const (
	treeKB treeKind = iota
	treeDir
	treeDoc
	treeNote // a line that says that there is nothing, or why
)

// docTree flattens the open KBs and folders into rows.
type docTree struct {
	sets  []*docSet
	folds map[string]bool // kb \0 folder → open, where a person has said so
	rows  []treeRow
	show  func(kb string, d *docRow) bool // nil = all, as a tree; else the flat list of those
}

// autoOpen is the size up to which a KB's folders stand open by themselves.
const autoOpen = 200

func (t *docTree) isOpen(s *docSet, dir string) bool {
	if open, ok := t.folds[s.name+"\x00"+dir]; ok {
		return open
	}
	return len(s.rows) <= autoOpen
}

func (t *docTree) build() {
	t.rows = t.rows[:0]
	for k, s := range t.sets {
		t.rows = append(t.rows, treeRow{kb: int32(k), to: int32(len(s.rows)), kind: treeKB})
		if !s.open {
			continue
		}
		n := len(t.rows)
		if t.show == nil {
			t.level(k, s, 0, len(s.rows), 0, 1)
		} else {
			for i := range s.rows {
				if t.show(s.name, &s.rows[i]) {
					t.rows = append(t.rows, treeRow{int32(k), int32(i), int32(i + 1), 0, 1, treeDoc})
				}
			}
		}
		if len(t.rows) == n {
			t.rows = append(t.rows, treeRow{kb: int32(k), depth: 1, kind: treeNote})
		}
	}
}

// level adds the folders and documents whose paths share the first plen bytes.
// Paths are sorted by bytes, so a folder's documents lie together.
func (t *docTree) level(k int, s *docSet, from, to, plen int, depth int16) {
	for i := from; i < to; {
		path := s.rows[i].path
		slash := strings.IndexByte(path[plen:], '/')
		if slash < 0 || depth > 200 {
			t.rows = append(t.rows, treeRow{int32(k), int32(i), int32(i + 1), int32(plen), depth, treeDoc})
			i++
			continue
		}
		dir := path[:plen+slash+1]
		end := i + sort.Search(to-i, func(j int) bool { return !strings.HasPrefix(s.rows[i+j].path, dir) })
		end = max(end, i+1)
		t.rows = append(t.rows, treeRow{int32(k), int32(i), int32(end), int32(len(dir)), depth, treeDir})
		if t.isOpen(s, dir) {
			t.level(k, s, i, end, len(dir), depth+1)
		}
		i = end
	}
}

// key names what a row stands for, so that the cursor can stay on it.
func (t *docTree) key(r treeRow) string {
	s := t.sets[r.kb]
	switch r.kind {
	case treeDir:
		return s.name + "\x00" + s.rows[r.from].path[:r.plen]
	case treeDoc:
		return s.name + "\x00" + s.rows[r.from].path
	case treeNote:
		return s.name + "\x00\x00"
	}
	return s.name
}
