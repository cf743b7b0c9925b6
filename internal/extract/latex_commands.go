package extract

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

func compose(s string) string { return norm.NFC.String(s) }

// latexLevels are the commands that begin a part.
var latexLevels = map[string]int{"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6, "frametitle": 3}

// latexDropped are commands whose arguments say nothing to a reader; the
// number is how many they have.
var latexDropped = map[string]int{
	"label": 1, "cite": 1, "citep": 1, "citet": 1, "citeauthor": 1, "autocite": 1, "nocite": 1, "bibliographystyle": 1, "bibliography": 1,
	"includegraphics": 1, "input": 1, "include": 1, "usepackage": 1, "documentclass": 1, "newcommand": 2, "renewcommand": 2, "providecommand": 2,
	"def": 0, "newenvironment": 3, "setlength": 2, "addtolength": 2, "vspace": 1, "hspace": 1, "pagestyle": 1, "thispagestyle": 1,
	"setcounter": 2, "addtocounter": 2, "bibitem": 1, "index": 1, "graphicspath": 1, "definecolor": 3, "color": 1, "fontsize": 2, "cline": 1,
	"cmidrule": 1, "rule": 2, "hypersetup": 1, "newtheorem": 2, "DeclareMathOperator": 2, "rowcolor": 1, "cellcolor": 1, "phantom": 1,
	"hphantom": 1, "vphantom": 1, "resizebox": 2, "scalebox": 1, "pagenumbering": 1, "hyphenation": 1, "multirow": 2, "multicolumn": 2, "textcolor": 1,
	"href": 1, "raisebox": 1, "parbox": 1, "colorbox": 1, "ref": 1, "eqref": 1, "autoref": 1, "cref": 1, "Cref": 1, "pageref": 1,
}

// latexWords are commands that stand for characters.
var latexWords = map[string]string{
	"LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…", "textendash": "–", "textemdash": "—", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ",
	"OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "textbackslash": "\\", "textasciitilde": "~", "textbar": "|",
	"textless": "<", "textgreater": ">", "copyright": "©", "S": "§", "quad": " ", "qquad": " ", "newline": " ", "times": "×", "eg": "e.g.", "ie": "i.e.", "etal": "et al.",
}

// command carries out a command whose arguments begin at i.
func (x *latex) command(s, name string, i, depth int) int {
	i = x.option(s, i)
	switch {
	case name == "begin" || name == "end":
		return x.environment(s, name, i)
	case name == "item":
		x.out.WriteString("- ")
		return i
	case name == "title":
		return x.heading(s, i, 1, depth)
	case name == "verb":
		return x.verb(s, i)
	case latexLevels[name] > 0:
		return x.heading(s, i, latexLevels[name], depth)
	case name == "c" || name == "v" || name == "u" || name == "H" || name == "r" || name == "k":
		return x.accent(s, i, latexAccents[name[0]])
	}
	if w, ok := latexWords[name]; ok {
		x.out.WriteString(w)
		return i
	}
	if n, ok := latexDropped[name]; ok {
		return x.drop(s, i, n)
	}
	inner, end, ok := x.argument(s, i)
	if !ok || depth >= latexNesting || i < len(s) && s[i] != '{' {
		return i
	}
	x.scan(inner, depth+1)
	if end < len(s) && s[end] == '{' {
		x.out.WriteByte(' ')
	}
	return end
}

// drop passes n arguments and the options between them.
func (x *latex) drop(s string, i, n int) int {
	for range n {
		i = x.option(s, i)
		if i < len(s) && s[i] == '\\' { // \newcommand\name{…}
			name := letters(s[i+1:])
			i += 1 + len(name)
			continue
		}
		_, end, ok := x.argument(s, i)
		if !ok {
			return i
		}
		x.owed += strings.Count(s[i:end], "\n")
		i = x.option(s, end)
	}
	return i
}

// heading writes a title on a line of its own.
func (x *latex) heading(s string, i, level, depth int) int {
	inner, end, ok := x.argument(s, i)
	if !ok || depth >= latexNesting {
		return i
	}
	sub := latex{work: x.work}
	sub.scan(inner, depth+1)
	x.work = sub.work
	title := oneLine(tidyLaTeX.Replace(sub.out.String()))
	if level == 1 && x.title == "" {
		x.title = clip(title, titleMax)
	}
	if title != "" {
		x.out.WriteString(strings.Repeat("#", level) + " " + title)
	}
	x.owed += strings.Count(s[i:end], "\n")
	return end
}

// environment passes \begin{name} and \end{name}; the text of verbatim ones is
// copied as it is.
func (x *latex) environment(s, word string, i int) int {
	name, end, ok := x.argument(s, i)
	if !ok {
		return i
	}
	name = strings.TrimSuffix(name, "*")
	switch name {
	case "verbatim", "lstlisting", "minted", "Verbatim", "comment":
		if word == "begin" {
			stop := x.find(s, end, "\\end{"+name)
			if stop < 0 {
				return end
			}
			if name == "comment" {
				x.owed += strings.Count(s[end:stop], "\n")
				return stop
			}
			x.out.WriteString(s[min(x.option(s, end), stop):stop])
			return stop
		}
	case "equation", "align", "gather", "multline", "eqnarray", "math", "displaymath":
		if word == "begin" {
			if stop := x.find(s, end, "\\end{"+name); stop >= 0 {
				x.out.WriteString(s[end:stop])
				return stop
			}
		}
	case "abstract":
		if word == "begin" {
			x.out.WriteString("## Abstract")
		}
		return end
	}
	if word == "begin" {
		switch name {
		case "tabular", "array", "longtable", "minipage", "tabularx", "thebibliography", "wraptable", "wrapfigure", "multicols", "subfigure", "subtable":
			end = x.drop(s, x.option(s, end), 1)
			if name == "tabularx" || strings.HasPrefix(name, "wrap") {
				end = x.drop(s, end, 1)
			}
		default:
			end = x.option(s, end)
		}
	}
	return end
}

// find is the offset of mark at or after i; -1 when there is none, or when too
// much has been searched.
func (x *latex) find(s string, i int, mark string) int {
	if x.work <= 0 {
		return -1
	}
	n := strings.Index(s[i:], mark)
	if n < 0 {
		x.work -= len(s) - i
		return -1
	}
	x.work -= n
	return i + n
}

func (x *latex) verb(s string, i int) int {
	if i >= len(s) || s[i] == '\n' {
		return i
	}
	line := s[i+1 : lineEnd(s, i+1)]
	end := strings.IndexByte(line, s[i])
	if end < 0 {
		return i
	}
	x.out.WriteString(line[:end])
	return i + end + 2
}
