package extract

import (
	"encoding/xml"
	"strings"
)

// mathText reads an Office formula as text in the manner of LaTeX: x^{2},
// \frac{a}{b}, \sqrt{x}. It reads up to the end of the element that has begun.
func mathText(x *xmlReader, depth int) (string, error) {
	var b strings.Builder
	if depth > 64 {
		return "", x.skip()
	}
	for open := 1; open > 0; {
		t, err := x.next()
		if err != nil {
			return b.String(), unexpectedEnd(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			open--
		case xml.StartElement:
			before, after := mathMarks(t.Name.Local)
			switch t.Name.Local {
			case "t":
				s, err := x.text(64 << 10)
				if err != nil {
					return b.String(), err
				}
				b.WriteString(s)
				continue
			case "chr":
				b.WriteString(attrOf(t, "val"))
			case "rPr", "ctrlPr":
				if err := x.skip(); err != nil {
					return b.String(), err
				}
				continue
			}
			if before == "" {
				open++
				continue
			}
			inner, err := mathText(x, depth+1)
			if err != nil {
				return b.String(), err
			}
			b.WriteString(before + inner + after)
		}
	}
	return b.String(), nil
}

func mathMarks(element string) (before, after string) {
	switch element {
	case "sup":
		return "^{", "}"
	case "sub":
		return "_{", "}"
	case "f":
		return "\\frac", ""
	case "num", "den":
		return "{", "}"
	case "rad":
		return "\\sqrt{", "}"
	case "d":
		return "(", ")"
	}
	return "", ""
}
