package mcpserver

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"ragd/internal/search"
)

const (
	minExcerpt      = 120     // characters; below that a result is dropped rather than cut further
	maxSearchReply  = 100_000 // characters of the largest reply, whatever was asked for
	fullExcerptTops = 3       // the first results are cut last
)

// searchBudget is the size in characters of a whole reply, both of its forms
// together: the default for ten results, and more where more was asked for
// or the owner wants longer excerpts.
func (c *call) searchBudget(topK int) int {
	base := float64(c.opts.Limits.SearchReplyChars)
	base *= max(1, float64(topK)/defaultTopK) * max(1, float64(c.opts.Limits.SnippetChars)/1000)
	return int(min(base, maxSearchReply))
}

// fitSearch fills out.Results so that the reply keeps to budget: excerpts get
// shorter, the lower-ranked ones first, and at the very end results are left
// off and out.Truncated says so.
func fitSearch(out *searchOut, hits []search.Hit, poor map[int64]string, budget, snippet int) {
	caps := excerptCaps(hits, budget, snippet)
	for try := range 10 {
		cutTo(out, hits, poor, caps)
		over := replyChars(out) - budget
		if over <= 0 && (try > 2 || !grow(caps, out, -over, snippet)) {
			return
		}
		if over > 0 && !shrink(caps, over) {
			break
		}
	}
	for len(out.Results) > 1 && replyChars(out) > budget {
		out.Results = out.Results[:len(out.Results)-1]
		out.Truncated = true
	}
}

// cutTo makes the results with excerpts of at most caps characters.
func cutTo(out *searchOut, hits []search.Hit, poor map[int64]string, caps []int) {
	out.Results = out.Results[:0]
	for i, h := range hits {
		r := hitOf(h)
		part, cut := window(h.Content, h.Marks, caps[i])
		r.Content, r.Cut = part, cut || h.Truncated
		r.Poor = clip(poor[h.DocumentID], 100)
		out.Results = append(out.Results, r)
	}
}

// excerptCaps guesses the caps from the sizes alone.
func excerptCaps(hits []search.Hit, budget, snippet int) []int {
	caps := make([]int, len(hits))
	total := 600 // the frame of the reply
	for i, h := range hits {
		caps[i] = min(snippet, utf8.RuneCountInString(h.Content))
		total += 2*caps[i] + 2*(len(h.KB)+len(h.Path)) + 400
	}
	if total > budget {
		shrink(caps, total-budget)
	}
	return caps
}

// shrink takes over characters of the reply (two for each of an excerpt) away
// from the caps: first from the lower-ranked results, then from the first
// ones, then from all, each time down to a floor. false when there is nothing
// left to take.
func shrink(caps []int, over int) bool {
	need := over/2 + 8
	took := false
	for _, pass := range []struct{ first, floor int }{{fullExcerptTops, 2 * minExcerpt}, {0, 4 * minExcerpt}, {0, minExcerpt}} {
		rest := caps[min(pass.first, len(caps)):]
		room := 0
		for _, c := range rest {
			room += max(0, c-pass.floor)
		}
		if need <= 0 || room == 0 {
			continue
		}
		share := min(1, float64(need)/float64(room))
		for i, c := range rest {
			cut := int(math.Ceil(share * float64(max(0, c-pass.floor))))
			rest[i] -= cut
			need -= cut
			took = took || cut > 0
		}
	}
	return took
}

// grow hands spare characters of the reply to the excerpts that were cut to
// make room. false when that is not worth another round.
func grow(caps []int, out *searchOut, spare, snippet int) bool {
	var cut []int
	for i, r := range out.Results {
		if r.Cut && caps[i] < snippet {
			cut = append(cut, i)
		}
	}
	if len(cut) == 0 || spare/2/len(cut) < 20 {
		return false
	}
	for _, i := range cut {
		caps[i] = min(snippet, caps[i]+spare/2/len(cut))
	}
	return true
}

// replyChars is the size of the reply as the client gets it.
func replyChars(out *searchOut) int {
	data, err := encode(out)
	if err != nil {
		return 0 // the call itself reports it
	}
	text, err := encode(searchText(out))
	if err != nil {
		return 0
	}
	const frame = 100 // {"content":[{"type":"text",…}],"structuredContent":…}
	return frame + utf8.RuneCount(data) + utf8.RuneCount(text)
}

func searchText(out *searchOut) string {
	var b strings.Builder
	switch {
	case len(out.Results) == 0:
		fmt.Fprintf(&b, "No results: %s.\n", showText(strings.TrimSuffix(out.Reason, ".")))
	default:
		b.WriteString(count(int64(len(out.Results)), "result"))
		if out.Truncated {
			b.WriteString(" (there are more: raise top_k or narrow the query)")
		}
		if out.Weak {
			b.WriteString("; none of them is a good match")
		}
		b.WriteByte('\n')
	}
	for i, r := range out.Results {
		fmt.Fprintf(&b, "\n[%d] %s/%s lines %d-%d", i+1, visible(r.KB, false), visible(r.Path, false), r.Lines.First, r.Lines.Last)
		if r.Page > 0 {
			fmt.Fprintf(&b, ", page %d", r.Page)
		}
		fmt.Fprintf(&b, " · chunk %d · %.4g %s · rev %s\n", r.ChunkIndex, r.Score, r.Match, r.RevisionID)
		if where := heading(r); where != "" {
			b.WriteString(where + "\n")
		}
		if r.Poor != "" {
			fmt.Fprintf(&b, "Poor text: %s\n", visible(r.Poor, false))
		}
		if r.Explain != nil {
			fmt.Fprintf(&b, "Why: %s\n", visible(r.Explain.String(), false))
		}
		b.WriteString(showText(r.Content))
		if r.Cut {
			b.WriteString(" […]")
		}
		b.WriteByte('\n')
	}
	if out.Fallback != "" {
		fmt.Fprintf(&b, "\nNote: %s", showText(out.Fallback))
	}
	if line := out.Freshness.line(); line != "" {
		b.WriteString("\n" + line)
	}
	return strings.TrimSpace(b.String())
}

func heading(r searchHit) string {
	parts := make([]string, 0, 1+len(r.Headings))
	if r.Title != "" {
		parts = append(parts, visible(r.Title, false))
	}
	for _, h := range r.Headings {
		if h = visible(h, false); len(parts) == 0 || h != parts[len(parts)-1] {
			parts = append(parts, h)
		}
	}
	return strings.Join(parts, " › ")
}
