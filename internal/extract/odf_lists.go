package extract

import (
	"encoding/xml"
	"strings"
)

const (
	odfLevelsMax = 10     // of a list style, as the format has it
	odfStylesMax = 20_000 // list styles of a document
)

// odfLevel is how a level of a list style counts. The zero value is a bullet.
type odfLevel struct {
	format         string // as countLabel takes it; empty = a bullet or nothing
	prefix, suffix string
	start, display int // display: levels whose numbers are shown
}

// odfLists knows the list styles of a document and counts its items.
type odfLists struct {
	styles map[string]*[odfLevelsMax]odfLevel
	open   []odfList
	counts map[string]int // where the last list of a style and level ended
}

// odfList is a list that is being read.
type odfList struct {
	style string
	count int
	fresh bool // no paragraph of the item has been written
}

func newODFLists() odfLists {
	return odfLists{styles: map[string]*[odfLevelsMax]odfLevel{}, counts: map[string]int{}}
}

// collect reads the list styles of a part.
func (l *odfLists) collect(x *xmlReader) error {
	style := ""
	return x.each(func(e xml.StartElement) error {
		l.style(e, &style)
		return nil
	})
}

// style takes what an element says of list styles; name is the style at work.
func (l *odfLists) style(e xml.StartElement, name *string) {
	switch e.Name.Local {
	case "list-style":
		if *name = attrOf(e, "name"); l.styles[*name] == nil && len(l.styles) < odfStylesMax {
			l.styles[*name] = &[odfLevelsMax]odfLevel{}
		}
	case "list-level-style-number":
		levels, n := l.styles[*name], attrInt(e, "level", 0)
		format := map[string]string{"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}[attrOf(e, "num-format")]
		if levels != nil && n >= 1 && n <= odfLevelsMax && format != "" {
			levels[n-1] = odfLevel{
				format: format, prefix: clip(attrOf(e, "num-prefix"), 16), suffix: clip(attrOf(e, "num-suffix"), 16),
				start: attrInt(e, "start-value", 1), display: min(max(attrInt(e, "display-levels", 1), 1), n),
			}
		}
	}
}

func (l *odfLists) level(style string, depth int) odfLevel {
	if levels := l.styles[style]; levels != nil && depth >= 1 && depth <= odfLevelsMax {
		return levels[depth-1]
	}
	return odfLevel{}
}

func (l *odfLists) key(depth int) string { return l.open[depth-1].style + "\x00" + string(rune(depth)) }

// enter opens a list; one without a style has that of the list around it.
func (l *odfLists) enter(e xml.StartElement) {
	list := odfList{style: attrOf(e, "style-name")}
	if n := len(l.open); list.style == "" && n > 0 {
		list.style = l.open[n-1].style
	}
	l.open = append(l.open, list)
	depth := len(l.open)
	top := &l.open[depth-1]
	top.count = l.level(top.style, depth).start - 1
	if last, ok := l.counts[l.key(depth)]; ok && (attrOf(e, "continue-numbering") == "true" || attrOf(e, "continue-list") != "") {
		top.count = last
	}
}

func (l *odfLists) leave() {
	n := len(l.open)
	if len(l.counts) < odfStylesMax {
		l.counts[l.key(n)] = l.open[n-1].count
	}
	l.open = l.open[:n-1]
}

// item begins an item.
func (l *odfLists) item(e xml.StartElement) {
	if n := len(l.open); n > 0 {
		top := &l.open[n-1]
		top.count = attrInt(e, "start-value", top.count+1)
		top.fresh = true
	}
}

// mark is what stands before a paragraph of an item: its number, a bullet, or
// nothing for the further paragraphs of a numbered item.
func (l *odfLists) mark() string {
	n := len(l.open)
	if n == 0 {
		return "-"
	}
	top := &l.open[n-1]
	level := l.level(top.style, n)
	if level.format == "" {
		return "-"
	}
	if !top.fresh {
		return ""
	}
	top.fresh = false
	var numbers []string
	for depth := n - level.display + 1; depth <= n; depth++ {
		if f := l.level(l.open[depth-1].style, depth).format; f != "" {
			numbers = append(numbers, countLabel(f, l.open[depth-1].count))
		}
	}
	return level.prefix + strings.Join(numbers, ".") + level.suffix
}
