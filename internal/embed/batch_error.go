package embed

import (
	"fmt"
	"sort"

	"ragd/internal/fault"
)

// BatchError says which texts of a batch could not be embedded, and why; the
// others were. It is made only if at least one text failed.
type BatchError struct {
	Errs map[int]error // by index of the text; each is a *fault.Error
	Size int           // texts in the batch
}

// Indexes returns the failed indexes in ascending order.
func (e *BatchError) Indexes() []int {
	out := make([]int, 0, len(e.Errs))
	for i := range e.Errs {
		out = append(out, i)
	}
	sort.Ints(out)
	return out
}

// Error names the first failed text and how many there are.
func (e *BatchError) Error() string {
	at := e.Indexes()
	if len(at) == 0 {
		return "no text of the batch failed"
	}
	return fmt.Sprintf("%d of %d texts were not embedded, the first at %d: %v", len(at), e.Size, at[0], e.Errs[at[0]])
}

// Unwrap lets fault.KindOf see the first text's error.
func (e *BatchError) Unwrap() error {
	if at := e.Indexes(); len(at) > 0 {
		return e.Errs[at[0]]
	}
	return nil
}

func (e *BatchError) set(i int, err error) {
	if e.Errs == nil {
		e.Errs = map[int]error{}
	}
	e.Errs[i] = err
}

// orNil returns e as an error only if a text failed.
func (e *BatchError) orNil() error {
	if len(e.Errs) == 0 {
		return nil
	}
	return e
}

func errNoWords() error {
	return fault.New(fault.Permanent, "embed_no_words", "the text has no words to embed")
}
