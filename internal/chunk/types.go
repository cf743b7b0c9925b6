// Package chunk cuts text with structure into chunks: slices that know their
// byte, character and line range in the source file, their heading path and
// their page. It is pure: no I/O, no clock, the same input gives the same
// chunks. It owns the cutting rules and their Version; it does not read files
// (that is extract) and does not make index terms (that is analysis).
package chunk

// Version is part of a document's staleness key: raise it whenever the same
// text would be cut otherwise.
const Version = 1

// Format says how a text's structure is found when it has no Sections.
type Format string

// The formats. Anything else is cut as FormatPlain.
const (
	FormatPlain    Format = "plain"    // paragraphs at blank lines
	FormatMarkdown Format = "markdown" // block structure of CommonMark with tables
	FormatCode     Format = "code"     // blank lines and indentation, under the definitions found by them
	FormatStanzas  Format = "stanzas"  // blank lines and indentation, under the Section's Headings alone
)

// Text is normalised text: valid UTF-8, lines ended by "\n" alone, no BOM, no
// front matter.
type Text struct {
	Body     string
	Format   Format
	Language string    // of code: "go", "python"; else empty
	Sections []Section // borders the extractor knows; nil = find them by Format
	Source   SourceMap // where Body came from; zero = Body is the source
}

// Section is a stretch of Body the extractor knows the place of: a page, a
// sheet, a slide, a function. Sections are ordered, do not overlap, and what
// lies between two belongs to the earlier one. No chunk crosses a border of
// two sections whose Headings or Page differ.
type Section struct {
	Start, End int      // bytes in Body, End exclusive
	Headings   []string // path from the outermost; put before those found inside
	Page       int      // 1-based; 0 = no pages
	Format     Format   // empty = the Text's
}

// SourceMap maps lines of Body to the file. Line i (0-based) of Body begins
// at byte Bytes[i] and character Chars[i] of the file and stands on line
// FirstLine+i of it. Characters are code points of the decoded file, BOM
// excluded, CR counted. Nil slices mean that offsets in Body are offsets in
// the file; FirstLine 0 means 1.
type SourceMap struct {
	FirstLine int
	Bytes     []int64
	Chars     []int64
}

// Chunk is a slice of Text.Body.
type Chunk struct {
	Index      int
	Start, End int    // bytes in Body, End exclusive
	Prefix     string // repeated context that is not in the slice: a split table's header rows, a fence's opening line; may be empty

	CharStart, CharEnd         int   // code points in Body
	SourceStart, SourceEnd     int64 // bytes in the file
	SourceCharS, SourceCharEnd int64 // code points in the file
	FirstLine, LastLine        int   // 1-based lines of the file, inclusive

	Headings []string // path from the outermost
	Page     int      // 1-based; 0 = no pages
}

// Content is what is indexed and shown of the chunk.
func (c Chunk) Content(body string) string { return c.Prefix + body[c.Start:c.End] }
