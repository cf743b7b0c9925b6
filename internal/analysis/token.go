package analysis

// Kind says what sort of text a token is.
type Kind uint8

// The kinds.
const (
	KindWord       Kind = iota // letters, stemmed when English can be meant
	KindIdentifier             // several parts: getUserName, a/b.go, v1.2.3, C++
	KindNumber                 // digits, perhaps with separators: 38.101, 1,000
	KindCJK                    // one or two characters of Han, Kana or Hangul
	KindThai                   // up to three characters of Thai, Lao, Khmer or Burmese
	KindSymbol                 // one emoji or other symbol
)

// Token is a stretch of the input with its index terms.
type Token struct {
	// Terms are the token's terms, at least one. When Whole is set the first
	// is the whole identifier and the rest are its parts in order.
	Terms []string
	Whole bool
	// Glued says that parts came apart at a border of letters and digits
	// only (sha256, v2): single parts mean little without one another.
	Glued      bool
	Text       string // input[Start:End]
	Start, End int    // bytes in the input, End exclusive
	Kind       Kind
	Stop       bool // every term is an English stop word

	tail bool // stands only behind the running text
}

// Parts returns the terms that stand in the running text, which is where
// phrases are matched: the parts of an identifier, or the only term.
func (t Token) Parts() []string {
	if t.Whole {
		return t.Terms[1:]
	}
	return t.Terms
}
