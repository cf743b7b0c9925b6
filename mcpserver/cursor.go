package mcpserver

import (
	"encoding/base64"
	"encoding/json"

	"ragd/internal/fault"
)

// cursor marks where a listing goes on: after this KB and path (or job). It
// goes out as an opaque string and stays good while the listing changes.
type cursor struct {
	Tool string `json:"t"` // the listing it belongs to
	KB   []byte `json:"k,omitempty"`
	Path []byte `json:"p,omitempty"`
	Job  int64  `json:"j,omitempty"`
}

const maxCursor = 16 << 10 // characters; two names of 4,096 bytes fit

func (c cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		return "" // bytes, numbers and our own strings cannot fail
	}
	return base64.StdEncoding.EncodeToString(b)
}

// parseCursor reads the cursor of a listing; "" is its beginning.
func parseCursor(tool, s string) (cursor, error) {
	c := cursor{Tool: tool}
	if s == "" {
		return c, nil
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && len(s) <= maxCursor {
		var got cursor
		if json.Unmarshal(b, &got) == nil && got.Tool == tool {
			return got, nil
		}
	}
	return c, fault.New(fault.Invalid, "bad_cursor", "cursor %q was not given out by %s", clip(s, 40), tool).
		WithHint("Use next_cursor of the page before as it is, or leave cursor out to start again.")
}
