package chunk

import (
	"slices"
	"unicode/utf8"
)

// Options say how large chunks are, in characters (code points).
type Options struct {
	Target  int // the size aimed at; 0 = 1400
	Max     int // hard cap of a chunk's Content, Prefix included; 0 = 3200, at least 16
	Overlap int // most that a chunk repeats of the one before when a paragraph is cut; 0 = 160, negative = none
}

const (
	defaultTarget  = 1400
	defaultMax     = 3200
	defaultOverlap = 160
	smallestMax    = 16
)

// withDefaults returns o with every field set and in proportion.
func (o Options) withDefaults() Options {
	if o.Max <= 0 {
		o.Max = defaultMax
	}
	o.Max = max(o.Max, smallestMax)
	if o.Target <= 0 {
		o.Target = defaultTarget
	}
	o.Target = min(o.Target, o.Max)
	o.Target = max(o.Target, smallestMax)
	if o.Overlap == 0 {
		o.Overlap = defaultOverlap
	}
	o.Overlap = max(0, min(o.Overlap, o.Target/4))
	return o
}

// Split cuts t into chunks. They are in order, every character that is not
// white space lies in at least one of them, none is longer than o.Max, and no
// cut is inside a grapheme (unless one grapheme alone exceeds the cap). The
// slice is nil when there is nothing but white space. The chunks' Headings
// share memory and must not be changed.
func Split(t Text, o Options) []Chunk {
	s := splitter{body: t.Body, opt: o.withDefaults()}
	for _, st := range stretches(t) {
		s.stretch(st, t.Language)
	}
	p := newPlacer(t)
	for i := range s.chunks {
		s.chunks[i].Index = i
		p.place(&s.chunks[i])
	}
	return s.chunks
}

// splitter holds what the scanners and the packer share.
type splitter struct {
	body   string
	opt    Options
	units  []unit // of the stretch at work
	chunks []Chunk

	counted, chars int // code points in body[:counted]

	stretchHeadings []string // the extractor's, of the stretch at work
	open            []openHeading
	page            int
	sectionEnds     []int
}

// openHeading is a heading that what follows stands under.
type openHeading struct {
	level int
	path  []string // with the heading itself
}

// stretch is a part of the body that no chunk leaves.
type stretch struct {
	start, end int
	headings   []string
	page       int
	format     Format
}

// stretches cuts the body at the borders of sections; neighbours alike in
// headings, page and format are one stretch.
func stretches(t Text) []stretch {
	format := t.Format
	all := []stretch{{start: 0, format: format}}
	for _, sec := range t.Sections {
		last := &all[len(all)-1]
		start := runeStart(t.Body, min(max(sec.Start, last.start), len(t.Body)))
		next := stretch{start: start, headings: sec.Headings, page: sec.Page, format: sec.Format}
		if next.format == "" {
			next.format = format
		}
		if last.page == next.page && last.format == next.format && slices.Equal(last.headings, next.headings) {
			continue
		}
		last.end = start
		all = append(all, next)
	}
	all[len(all)-1].end = len(t.Body)
	return all
}

// runeStart moves i back to the start of a character.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// stretch scans one stretch into units and packs them into chunks.
func (s *splitter) stretch(st stretch, language string) {
	if st.start >= st.end {
		return
	}
	s.units = s.units[:0]
	if len(st.headings) > 0 || len(s.stretchHeadings) > 0 || st.format != FormatMarkdown {
		s.open = s.open[:0] // otherwise a heading still counts on the next page
	}
	s.stretchHeadings, s.page = st.headings, st.page
	switch st.format {
	case FormatMarkdown:
		scanMarkdown(s, st.start, st.end)
	case FormatCode, FormatStanzas:
		scanCode(s, st.start, st.end, st.format == FormatCode)
	default:
		scanPlain(s, st.start, st.end)
	}
	s.pack()
}
