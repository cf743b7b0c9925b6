package extract

import (
	"errors"
	"runtime"
	"strings"
	"time"

	sitter "github.com/tree-sitter/go-tree-sitter"

	"ragd/internal/chunk"
)

const (
	codeSourceMax   = 1 << 20     // bytes of a file that is parsed
	codeTimeMax     = time.Second // of processor time for parsing one and looking at the tree
	codeReadBytes   = 32 << 10    // handed to the parser at a time; it copies them
	codeNestingMax  = 64          // nodes in nodes that are looked into
	codePathMax     = 8           // names in a heading path
	codeHeadingMax  = 200         // bytes of a name
	codeErrorShare  = 0.5         // of a file inside errors: its language is another one
	codeLinesWhole  = 2           // a definition of fewer lines stays with what is around it
	codeLeadsMax    = 200         // nodes before a body that are looked at for comments
	codeCheckEveryN = 256         // nodes between two looks at the clock
)

// codeSections parses source code and returns a section for each function,
// method and type with its comment, under the names that enclose it, and for
// what lies between them. It returns nil when there is no definition in it,
// when the text is mostly not of the language, or when it takes too long: the
// chunker then goes by blank lines and indentation.
func codeSections(body, language string) (sections []chunk.Section) {
	defer func() {
		if recover() != nil {
			sections = nil // the text is there all the same
		}
	}()
	if len(body) > codeSourceMax {
		return nil
	}
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	deadline := threadTime() + codeTimeMax
	best, err := parseCode(body, language, deadline)
	if language == "c" && (err != nil || best.flawed) { // a header of C++ is named like one of C
		if other, err := parseCode(body, "cpp", deadline); err == nil && (best == nil || other.errorBytes <= best.errorBytes) {
			best = other
		}
	}
	if best == nil || float64(best.errorBytes) > codeErrorShare*float64(len(body)) {
		return nil
	}
	return best.sections()
}

var (
	errNoGrammar = errors.New("no grammar")
	errCodeTime  = errors.New("parsing takes too long")
)

func parseCode(body, language string, deadline time.Duration) (*codeTree, error) {
	g, ok := grammars[language]
	if !ok {
		return nil, errNoGrammar
	}
	parser := sitter.NewParser()
	defer parser.Close()
	if err := parser.SetLanguage(sitter.NewLanguage(g.language())); err != nil {
		return nil, err
	}
	text := []byte(body)
	read := func(at int, _ sitter.Point) []byte {
		if at < 0 || at >= len(text) {
			return nil
		}
		return text[at:min(at+codeReadBytes, len(text))]
	}
	late := func(sitter.ParseState) bool { return threadTime() > deadline }
	tree := parser.ParseWithOptions(read, nil, &sitter.ParseOptions{ProgressCallback: late})
	if tree == nil {
		return nil, errCodeTime
	}
	defer tree.Close()
	root := tree.RootNode()
	t := &codeTree{body: body, grammar: g, deadline: deadline, flawed: root.HasError()}
	if root.IsError() {
		t.errorBytes = len(body)
	}
	t.children(root, nil, -1, 0)
	if t.late {
		return nil, errCodeTime
	}
	return t, nil
}

// codeTree collects where definitions begin and end.
type codeTree struct {
	body       string
	grammar    grammar
	deadline   time.Duration // of the thread
	marks      []codeMark
	flawed     bool // something in it is not of the language
	errorBytes int  // of text that the grammar has no place for
	seen       int  // nodes
	late       bool
}

// codeMark is a place from which on a heading path holds.
type codeMark struct {
	at   int
	path []string
	back bool // a definition has ended; otherwise one begins
}

func (t *codeTree) tooLate() bool {
	if t.seen++; t.seen%codeCheckEveryN == 0 && threadTime() > t.deadline {
		t.late = true
	}
	return t.late
}

// children looks at the nodes below one. outer is where the first definition
// among them begins, if that is before itself; -1 = nowhere.
func (t *codeTree) children(n *sitter.Node, path []string, outer, depth int) {
	t.childrenAfter(codeLead{body: t.body, start: -1}, n, path, outer, depth)
}

// childrenAfter is children where comments came before the first of them.
func (t *codeTree) childrenAfter(lead codeLead, n *sitter.Node, path []string, outer, depth int) {
	if n == nil || depth > codeNestingMax {
		return
	}
	cursor := n.Walk()
	defer cursor.Close()
	for ok := cursor.GotoFirstChild(); ok && !t.tooLate(); ok = cursor.GotoNextSibling() {
		child := cursor.Node()
		start, end := int(child.StartByte()), int(child.EndByte())
		if end > len(t.body) || start > end {
			continue
		}
		kind := child.Kind()
		r := t.grammar.roles[kind]
		if r == roleLead {
			lead.add(start, end)
			continue
		}
		from := lead.before(start)
		if outer >= 0 && r != roleNone {
			from, outer = min(outer, from), -1
		}
		switch r {
		case roleThrough:
			if kind == "ERROR" {
				t.errorBytes += end - start
			}
			t.children(child, path, -1, depth+1)
		case roleWrap:
			t.children(child, path, from, depth+1)
		case roleWhole, roleHolder:
			t.definition(child, kind, r, from, end, path, depth)
		}
		lead.reset(r == roleWhole || r == roleHolder || r == roleWrap)
	}
}

// definition notes one and looks into it when it may hold others.
func (t *codeTree) definition(n *sitter.Node, kind string, r role, from, end int, path []string, depth int) {
	names := t.names(n, kind)
	if len(names) == 0 {
		if r == roleHolder {
			t.children(n, path, -1, depth+1)
		}
		return
	}
	own := append(path[:len(path):len(path)], names...)
	own = own[:min(len(own), codePathMax)]
	line := lineStart(t.body, from)
	marked := strings.TrimSpace(t.body[line:from]) == "" && strings.Count(t.body[from:end], "\n")+1 >= codeLinesWhole
	if marked {
		t.marks = append(t.marks, codeMark{at: line, path: own})
	}
	if r == roleHolder {
		t.bodies(n, own, depth+1)
	}
	if marked {
		t.marks = append(t.marks, codeMark{at: nextLine(t.body, end), path: path, back: true})
	}
}

// bodies looks into a holder: only what its body holds can be a definition.
// Some grammars let the body begin after the comments at its top.
func (t *codeTree) bodies(n *sitter.Node, path []string, depth int) {
	body := n.ChildByFieldName("body")
	if body == nil {
		t.children(n, path, -1, depth)
		return
	}
	lead := codeLead{body: t.body, start: -1}
	for i := range min(n.ChildCount(), codeLeadsMax) {
		child := n.Child(i)
		if child == nil || child.StartByte() >= body.StartByte() {
			break
		}
		if start, end := int(child.StartByte()), int(child.EndByte()); t.grammar.roles[child.Kind()] == roleLead && start <= end && end <= len(t.body) {
			lead.add(start, end)
		}
	}
	t.childrenAfter(lead, body, path, -1, depth)
}

// sections turns the marks into sections that do not overlap; nil when there
// are no definitions.
func (t *codeTree) sections() []chunk.Section {
	if len(t.marks) == 0 {
		return nil
	}
	var out []chunk.Section
	at, path := 0, []string(nil)
	add := func(end int) {
		if end <= at {
			return
		}
		if n := len(out); strings.TrimSpace(t.body[at:end]) == "" || n > 0 && onlyClosers(t.body[at:end]) {
			if n > 0 {
				out[n-1].End = end
			}
			return
		}
		s := chunk.Section{Start: at, End: end, Headings: path, Format: chunk.FormatCode}
		if len(path) > 0 {
			s.Format = chunk.FormatStanzas
		}
		out = append(out, s)
	}
	for _, m := range t.marks {
		add(m.at)
		at, path = max(at, m.at), m.path
	}
	add(len(t.body))
	return out
}

// onlyClosers reports whether text holds nothing but what ends definitions.
func onlyClosers(text string) bool {
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " \t\r\n})];,")
		closed := len(strings.TrimSpace(line)) > len(strings.TrimSpace(rest))
		rest = strings.TrimSpace(rest)
		switch {
		case rest == "", rest == "end", rest == "fi", strings.HasPrefix(rest, "#endif"):
		case closed && (strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "#")):
		default:
			return false
		}
	}
	return true
}

// codeLead is the run of comments and attributes before a definition.
type codeLead struct {
	body       string
	start, end int
	defined    bool // a definition came before in the same body
}

func (l *codeLead) add(start, end int) {
	if strings.TrimSpace(l.body[lineStart(l.body, start):start]) != "" {
		return // behind something in its line, to which it belongs
	}
	if l.start < 0 || !l.touches(start) {
		l.start = start
	}
	l.end = end
}

// touches reports whether what begins at start goes with the run. Between two
// definitions all comments go with the second.
func (l *codeLead) touches(start int) bool {
	between := l.body[len(strings.TrimRight(l.body[:l.end], "\n")):start]
	return strings.TrimSpace(between) == "" && (l.defined || strings.Count(between, "\n") <= 1)
}

// before returns where what begins at start begins with its comments.
func (l *codeLead) before(start int) int {
	if l.start >= 0 && l.touches(start) {
		return l.start
	}
	return start
}

func (l *codeLead) reset(defined bool) { l.start, l.defined = -1, defined }

func lineStart(s string, at int) int { return strings.LastIndexByte(s[:at], '\n') + 1 }

func nextLine(s string, at int) int {
	if at > 0 && s[at-1] == '\n' {
		return at
	}
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}
