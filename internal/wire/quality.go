package wire

// Quality says how far a document's text can be trusted.
type Quality struct {
	Chars      int     `json:"chars"`
	BadShare   float64 `json:"bad_share,omitempty"` // replacement and control characters / characters
	Pages      int     `json:"pages,omitempty"`
	EmptyPages int     `json:"empty_pages,omitempty"` // without text
	Language   string  `json:"language,omitempty"`    // ISO 639-1; empty = unsure, or not prose
	Charset    string  `json:"charset,omitempty"`     // when it was not UTF-8
	OCR        bool    `json:"ocr,omitempty"`         // read from a picture
	Note       string  `json:"note,omitempty"`        // sentences: what is guessed, what was not read
	Flag       string  `json:"flag,omitempty"`        // why the text is poor; empty = it is not
}
