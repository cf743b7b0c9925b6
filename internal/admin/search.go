package admin

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ragd/internal/fault"
	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
)

func (s *Server) search(_ http.ResponseWriter, c *call) (any, error) {
	began := time.Now()
	req, err := searchRequest(c)
	if err != nil {
		return nil, err
	}
	stats, err := s.sv.Index.KBStats(c.Context(), nil)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(stats, c.str("kb"))
	if err != nil {
		return nil, err
	}
	if c.str("kb") != "" {
		for _, k := range scope {
			req.KBs = append(req.KBs, k.ID)
		}
	}
	resp, err := s.sv.Search.Search(c.Context(), req)
	if err != nil {
		return nil, err
	}
	out := wire.SearchResult{Query: req.Query, Results: make([]wire.Hit, 0, len(resp.Hits)), Fallback: resp.Fallback, Weak: resp.Weak}
	ids := make([]int64, len(resp.Hits))
	for i, h := range resp.Hits {
		ids[i] = h.DocumentID
	}
	poor, err := s.sv.Index.Flagged(c.Context(), ids)
	if err != nil {
		return nil, err
	}
	for _, h := range resp.Hits {
		hit := wireHit(h)
		hit.Poor = poor[h.DocumentID]
		out.Results = append(out.Results, hit)
	}
	if out.Freshness, err = s.freshness(c.Context(), req.KBs); err != nil {
		return nil, err
	}
	out.Freshness.PendingVectors = resp.PendingVectors
	if len(resp.Hits) == 0 {
		out.Reason = whyEmpty(scope, out.Freshness, resp)
	}
	out.TookMS = float64(time.Since(began).Microseconds()) / 1000
	return out, nil
}

func searchRequest(c *call) (search.Request, error) {
	var req search.Request
	query, err := c.text("query", maxQuery)
	if err != nil {
		return req, err
	}
	if strings.TrimSpace(query) == "" {
		return req, fault.New(fault.Invalid, "query_required", "query is empty; allowed: 1 to %d characters", maxQuery)
	}
	topK, err := c.number("top_k", 10, 1, 100)
	if err != nil {
		return req, err
	}
	mode, err := c.oneOf("mode", "hybrid", "keyword", "meaning", "rrf")
	if err != nil {
		return req, err
	}
	explain, err := c.boolean("explain")
	if err != nil {
		return req, err
	}
	req = search.Request{Query: query, TopK: int(topK), Mode: search.Mode(mode), Explain: explain}
	if v := c.str("alpha"); v != "" {
		a, err := strconv.ParseFloat(v, 64)
		if err != nil || !(a >= 0 && a <= 1) { // NaN is refused too
			return req, invalid("alpha", v, "a number from 0 to 1")
		}
		req.Alpha = &a
	}
	return req, nil
}

// scopeOf resolves the kb parameter: "" is all, an exact name wins over a list with commas.
func scopeOf(stats []store.KBStats, names string) ([]store.KBStats, error) {
	if names == "" {
		return stats, nil
	}
	byName := make(map[string]store.KBStats, len(stats))
	for _, k := range stats {
		byName[k.Name] = k
	}
	if k, ok := byName[names]; ok {
		return []store.KBStats{k}, nil
	}
	var out []store.KBStats
	seen := map[int64]bool{}
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		k, ok := byName[name]
		if !ok {
			return nil, noSuchKB(name)
		}
		if !seen[k.ID] {
			seen[k.ID] = true
			out = append(out, k)
		}
	}
	if out == nil {
		return nil, noSuchKB(names)
	}
	return out, nil
}

func (s *Server) freshness(ctx context.Context, kbs []int64) (wire.Freshness, error) {
	pending, failed, err := s.sv.Index.Freshness(ctx, kbs)
	f := wire.Freshness{Pending: pending, Failed: failed}
	for _, w := range s.sv.Daemon.Watchers() {
		if w.Mode == "degraded" || w.Mode == "unavailable" {
			f.Degraded = append(f.Degraded, strings.TrimSuffix(w.Root+": "+w.Reason, ": "))
		}
	}
	return f, err
}

// whyEmpty tells an empty result from an empty index.
func whyEmpty(scope []store.KBStats, f wire.Freshness, resp *search.Response) string {
	var documents int64
	for _, k := range scope {
		documents += k.Documents
	}
	switch {
	case len(scope) == 0:
		return "there is no knowledge base yet"
	case documents == 0 && f.Pending > 0:
		return fmt.Sprintf("nothing is indexed yet; %d pending", f.Pending)
	case documents == 0 && f.Failed > 0:
		return fmt.Sprintf("nothing is indexed; %d failed", f.Failed)
	case documents == 0:
		return "nothing is indexed here"
	case len(resp.Dropped) > 0:
		return "no match; words that say little were left out: " + strings.Join(resp.Dropped, ", ")
	case f.Pending > 0:
		return fmt.Sprintf("no match so far; %d documents are not indexed yet", f.Pending)
	}
	return "no match"
}
