package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// docxLevel is one level of a list: how its number is written.
type docxLevel struct {
	format string // "decimal", "bullet", …
	text   string // "%1.%2."
	start  int
}

// docxNumbering counts lists as Word does, since the numbers that a reader
// sees are not in the text.
type docxNumbering struct {
	levels   map[string]*[9]docxLevel // by abstract id
	lists    map[string]string        // numbering id → abstract id
	counters map[string]*[9]int       // by abstract id
}

func (n *docxNumbering) load(pack *zipPackage, part string) error {
	n.levels, n.lists, n.counters = map[string]*[9]docxLevel{}, map[string]string{}, map[string]*[9]int{}
	current, num, level := "", "", 0
	at := func() *docxLevel {
		if l := n.levels[current]; l != nil && num == "" {
			return &l[level]
		}
		return &docxLevel{} // set and forgotten: an override of one list
	}
	return pack.xmlPart(part, func(x *xmlReader) error {
		return x.each(func(e xml.StartElement) error {
			if len(n.levels)+len(n.lists) > 20_000 {
				return nil
			}
			switch e.Name.Local {
			case "abstractNum":
				current, num = attrOf(e, "abstractNumId"), ""
				n.levels[current] = &[9]docxLevel{}
			case "lvl":
				level = min(max(attrInt(e, "ilvl", 0), 0), 8)
				at().start = 1
			case "start":
				at().start = attrInt(e, "val", 1)
			case "numFmt":
				at().format = attrOf(e, "val")
			case "lvlText":
				at().text = clip(attrOf(e, "val"), 100)
			case "num":
				num = attrOf(e, "numId")
			case "abstractNumId":
				n.lists[num] = attrOf(e, "val")
			}
			return nil
		})
	})
}

// next counts a paragraph of a list and returns its label: "2.1.", or "-" for
// a bullet; ok is false when the list has none.
func (n *docxNumbering) next(list string, level int) (label string, ok bool) {
	id, known := n.lists[list]
	levels := n.levels[id]
	if !known || levels == nil {
		return "-", true
	}
	l := levels[level]
	switch l.format {
	case "bullet":
		return "-", true
	case "none", "":
		return "", false
	}
	c := n.counters[id]
	if c == nil {
		c = &[9]int{}
		for i := range c {
			c[i] = levels[i].start - 1
		}
		n.counters[id] = c
	}
	c[level]++
	for i := range level { // a level that was skipped counts as begun
		c[i] = max(c[i], levels[i].start)
	}
	for i := level + 1; i < 9; i++ {
		c[i] = levels[i].start - 1
	}
	label = l.text
	for i := range 9 {
		mark := "%" + strconv.Itoa(i+1)
		if strings.Contains(label, mark) {
			label = strings.ReplaceAll(label, mark, countLabel(levels[i].format, c[i]))
		}
	}
	return strings.TrimSpace(label), label != ""
}

// countLabel writes a number in a list's format.
func countLabel(format string, n int) string {
	if n < 1 || n > 100_000 {
		return strconv.Itoa(n)
	}
	switch format {
	case "lowerLetter", "upperLetter":
		s := strings.Repeat(string(rune('a'+(n-1)%26)), min((n-1)/26+1, 10))
		if format == "upperLetter" {
			return strings.ToUpper(s)
		}
		return s
	case "lowerRoman":
		return roman(n)
	case "upperRoman":
		return strings.ToUpper(roman(n))
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	if n > 5000 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for n >= d.value {
			b.WriteString(d.text)
			n -= d.value
		}
	}
	return b.String()
}
