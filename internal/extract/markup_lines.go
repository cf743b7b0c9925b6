package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The light markup languages are rewritten line by line into Markdown as far
// as headings and code blocks go; the rest of them reads well as it is.

var (
	orgLink    = regexp.MustCompile(`\[\[[^\]\n]+\]\[([^\]\n]+)\]\]`)
	orgTags    = regexp.MustCompile(`\s+:[\w@:]+:\s*$`)
	adocSource = regexp.MustCompile(`^\[(?:source|listing)(?:,\s*([\w+-]+))?[^\]]*\]$`)
	adocBlock  = regexp.MustCompile(`^(?:\[[^\]]*\]|:[\w-]+!?:.*|//.*)$`)
)

// rewriteOrg reads Org mode.
func rewriteOrg(t *lineText) {
	inCode := false
	for i, l := range t.lines {
		trimmed := strings.TrimSpace(l)
		lower := strings.ToLower(trimmed)
		switch {
		case strings.HasPrefix(lower, "#+end_src"), strings.HasPrefix(lower, "#+end_example"):
			t.lines[i], inCode = "```", false
		case inCode:
		case strings.HasPrefix(lower, "#+begin_src"), strings.HasPrefix(lower, "#+begin_example"):
			language := ""
			if f := strings.Fields(trimmed); len(f) > 1 && strings.HasPrefix(lower, "#+begin_src") {
				language = f[1]
			}
			t.lines[i], inCode = "```"+language, true
		case strings.HasPrefix(lower, "#+title:"):
			if t.title == "" {
				t.title = strings.TrimSpace(trimmed[len("#+title:"):])
			}
			t.lines[i] = t.title
		case strings.HasPrefix(lower, "#+begin_"), strings.HasPrefix(lower, "#+end_"), lower == ":end:", lower == ":properties:":
			t.lines[i] = ""
		case strings.HasPrefix(l, "*"):
			if n := len(l) - len(strings.TrimLeft(l, "*")); n < len(l) && l[n] == ' ' {
				t.lines[i] = strings.Repeat("#", min(n, 6)) + orgTags.ReplaceAllString(l[n:], "")
			}
		case strings.HasPrefix(l, "#"): // a keyword or comment, never a heading
			t.lines[i] = " " + strings.TrimLeft(strings.TrimPrefix(l, "#+"), "# ")
		}
		if !inCode && len(l) < cueMax && strings.Contains(t.lines[i], "][") {
			t.lines[i] = orgLink.ReplaceAllString(t.lines[i], "$1")
		}
	}
}

// rewriteAsciiDoc reads AsciiDoc.
func rewriteAsciiDoc(t *lineText) {
	language, fence := "", ""
	for i, l := range t.lines {
		s := strings.TrimRight(l, " ")
		switch {
		case fence != "":
			if s == fence {
				t.lines[i], fence = "```", ""
			}
		case isRun(s, '-', 4) || isRun(s, '.', 4):
			fence, t.lines[i], language = s, "```"+language, ""
		case adocSource.MatchString(s):
			language = adocSource.FindStringSubmatch(s)[1]
			t.lines[i] = ""
		case isRun(s, '=', 4) || isRun(s, '*', 4) || isRun(s, '_', 4) || isRun(s, '+', 4) || isRun(s, '/', 4):
			t.lines[i] = ""
		case adocBlock.MatchString(s):
			t.lines[i] = ""
			if attribute, ok := strings.CutPrefix(s, ":"); ok {
				if _, value, found := strings.Cut(attribute, ": "); found && utf8.RuneCountInString(value) > 20 {
					t.lines[i] = value
				}
			}
		default:
			if n := len(s) - len(strings.TrimLeft(s, "=")); n > 0 && n <= 6 && n < len(s) && s[n] == ' ' {
				t.lines[i] = strings.Repeat("#", n) + s[n:]
			}
		}
	}
}

func isRun(s string, c byte, least int) bool {
	return len(s) >= least && strings.Trim(s, string(c)) == ""
}

// rewriteTypst reads Typst: its headings are lines of "=".
func rewriteTypst(t *lineText) {
	inCode := false
	for i, l := range t.lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			inCode = !inCode
			continue
		}
		if n := len(l) - len(strings.TrimLeft(l, "=")); !inCode && n > 0 && n <= 6 && n < len(l) && l[n] == ' ' {
			t.lines[i] = strings.Repeat("#", n) + l[n:]
		}
	}
}

// rewriteRST reads reStructuredText: a title has a line of one punctuation
// character under it, or under and over it. The order in which the kinds of
// lines appear makes their levels.
func rewriteRST(t *lineText) {
	var kinds []string
	level := func(kind string) int {
		for i, k := range kinds {
			if k == kind {
				return i + 1
			}
		}
		kinds = append(kinds, kind)
		return len(kinds)
	}
	lines := t.lines
	for i := 0; i+1 < len(lines); i++ {
		title := strings.TrimSpace(lines[i])
		width := utf8.RuneCountInString(title)
		under := strings.TrimRight(lines[i+1], " ")
		if title == "" || !isAdornment(under) || isAdornment(title) || len(under) < width || lines[i][0] == '.' && strings.HasPrefix(title, "..") {
			continue
		}
		over := i > 0 && strings.TrimRight(lines[i-1], " ") == under
		if !over && (lines[i][0] == ' ' || i > 0 && strings.TrimSpace(lines[i-1]) != "") {
			continue // indented, or the last line of a paragraph before a table or a rule
		}
		kind := under[:1]
		if over {
			kind += kind
			lines[i-1] = ""
		}
		lines[i] = strings.Repeat("#", min(level(kind), 6)) + " " + title
		lines[i+1] = ""
	}
}

// isAdornment reports whether a line is one punctuation character repeated.
func isAdornment(s string) bool {
	return len(s) >= 2 && strings.ContainsRune("=-`:.'\"~^_*+#<>", rune(s[0])) && strings.Trim(s, s[:1]) == ""
}
