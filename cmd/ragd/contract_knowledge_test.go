package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestKnowledgeStatus(t *testing.T) {
	s := serve(t, "[[agent]]\nname = \"scoped\"\nkbs = [\"al\"]\n[[agent]]\nname = \"tenant\"\nroot = \"other\"\n", map[string]string{
		"kbs/al/a.md": "one", "kbs/al/b.md": "two\n\nthree", "kbs/bad/x.pdf": "%PDF-1.4 but not really", "other/far/f.md": "four",
	})
	c := s.fresh()
	must(t, mkdirAll(s.path("kbs/empty")))
	c.settle()
	status := func(c *mcpClient, id string) obj { return c.call("knowledge_status", obj{"projectId": id}) }

	t.Run("projectId is required", func(t *testing.T) {
		c.refused("knowledge_status", obj{})
		c.refused("knowledge_status", obj{"projectId": ""})
	})
	t.Run("true and true: indexed, with the ids of all items, and no hint", func(t *testing.T) {
		r := status(c, "al")
		ids, _ := r["importedItemIds"].([]any)
		if r["indexed"] != true || r["registeredInUserIndex"] != true || r.num("chunkCount") != 2 || r.num("itemCount") != 2 || len(ids) != 2 || r["hint"] != nil {
			t.Errorf("%v", r)
		}
		if _, ok := r["tenantId"].(string); !ok || r.str("projectId") != "al" {
			t.Errorf("%v", r)
		}
	})
	t.Run("false and true: indexed under another root, which the hint names", func(t *testing.T) {
		r := status(s.agent("tenant"), "al")
		if r["indexed"] != false || r["registeredInUserIndex"] != true || r.num("chunkCount") != 0 || r.num("itemCount") != 0 || !strings.Contains(r.str("hint"), "main") {
			t.Errorf("%v", r)
		}
		want(t, "tenantId", r.str("tenantId"), "other")
		if r := status(s.agent("tenant"), "far"); r["indexed"] != true {
			t.Errorf("%v", r)
		}
	})
	t.Run("false and false: never indexed, and the hint says what is missing", func(t *testing.T) {
		for id, word := range map[string]string{"absent": "no knowledge base", "bad": "failed", "empty": "no documents"} {
			r := status(c, id)
			ids, ok := r["importedItemIds"].([]any)
			if r["indexed"] != false || r["registeredInUserIndex"] != false || !strings.Contains(r.str("hint"), word) || !ok || len(ids) != 0 || r.num("itemCount") != 0 {
				t.Errorf("%s: %v", id, r)
			}
		}
	})
	t.Run("indexed exactly when a search could match", func(t *testing.T) {
		for _, id := range []string{"al", "bad", "empty", "far"} {
			r := c.call("rag_search", obj{"query": "one two three four", "kb": id})
			want(t, id, status(c, id)["indexed"], len(r.list("results")) > 0)
		}
	})
	t.Run("a KB outside my scope is false for me, like one that does not exist", func(t *testing.T) {
		sc := s.agent("scoped")
		foreign, none := fmt.Sprint(status(sc, "far")), fmt.Sprint(status(sc, "xyz"))
		want(t, "foreign and absent", strings.ReplaceAll(foreign, "far", "X"), strings.ReplaceAll(none, "xyz", "X"))
	})
}

func TestSearchKnowledge(t *testing.T) {
	files := map[string]string{
		"kbs/al/a.md": "# Pumps\n\nThe pump manual, first edition. " + strings.Repeat("Ünïcode 🚰 wörds. ", 400),
		"kbs/al/d.md": "---\nstatus: draft\n---\nA draft about the pump.", "kbs/be/b.md": "The pump of be.",
		"kbs/drafts/published.md": strings.Repeat("Much else is said. ", 40) + "One okapi.",
	}
	for i := range 320 {
		files[fmt.Sprintf("kbs/drafts/d%03d.md", i)] = "---\nstatus: draft\n---\nokapi okapi okapi"
	}
	s := serve(t, "[[agent]]\nname = \"scoped\"\nkbs = [\"al\"]\n[[agent]]\nname = \"without\"\nknowledge = false\n", files)
	c := s.fresh()
	code := func(c *mcpClient, args obj) string { return c.refused("search_knowledge", args).str("code") }

	t.Run("two exclusive shapes", func(t *testing.T) {
		for is, list := range map[string][]obj{
			"knowledge_invalid_request": {{"query": "x", "knowledge_item_id": "al/a.md"}, {"query": "x", "offset": 1}, {"knowledge_item_id": "al/a.md", "max_results": 5}, {"query": "x", "max_results": 51}, {"query": "x", "max_results": 0}},
			"knowledge_query_required":  {{}, {"query": ""}, {"query": "", "knowledge_item_id": ""}},
			"knowledge_item_required":   {{"knowledge_revision_id": "0123"}},
		} {
			for _, args := range list {
				want(t, fmt.Sprint(args), code(c, args), is)
			}
		}
	})
	t.Run("only published items at their current revision", func(t *testing.T) {
		r := c.call("search_knowledge", obj{"query": "pump", "mode": "no such mode", "alpha": 7})
		if r.str("type") != "knowledge_search" || all(r.list("results"), "knowledge_item_id") == "" || strings.Contains(fmt.Sprint(r), "draft") {
			t.Errorf("%v", r)
		}
		h := r.list("results")[0]
		for _, field := range []string{"knowledge_item_id", "knowledge_revision_id", "title", "excerpt", "source", "reference", "scores"} {
			if h[field] == nil {
				t.Errorf("no %s in %v", field, h)
			}
		}
		if n := len([]rune(h.str("excerpt"))); n > 500 {
			t.Errorf("excerpt of %d characters", n)
		}
	})
	t.Run("drafts take no places from what is published, however many match better", func(t *testing.T) {
		for _, mode := range []string{"hybrid", "lexical", "semantic", "rrf"} {
			want(t, mode, all(c.call("search_knowledge", obj{"query": "okapi", "mode": mode, "max_results": 1}).list("results"), "knowledge_item_id"), "drafts/published.md")
		}
	})
	t.Run("pages rebuild the text exactly, in characters", func(t *testing.T) {
		var text strings.Builder
		for offset := 0; ; {
			r := c.call("search_knowledge", obj{"knowledge_item_id": "al/a.md", "offset": offset, "limit_chars": 999})
			if r.str("type") != "knowledge" || r.num("content_offset") != offset || r.num("content_limit") != 999 {
				t.Fatalf("%v", r)
			}
			text.WriteString(r.str("content"))
			offset += len([]rune(r.str("content")))
			if r["content_truncated"] != true {
				want(t, "total", r.num("content_total_chars"), offset)
				break
			}
		}
		want(t, "text", text.String(), c.call("rag_read", obj{"kb": "al", "path": "a.md"}).str("content"))
		for _, args := range []obj{{"offset": -1}, {"limit_chars": 0}, {"limit_chars": 10001}} {
			args["knowledge_item_id"] = "al/a.md"
			want(t, fmt.Sprint(args), code(c, args), "knowledge_invalid_request")
		}
	})
	t.Run("a revision once addressed returns the same text while it is retained, and is no search result", func(t *testing.T) {
		first := c.call("search_knowledge", obj{"knowledge_item_id": "be/b.md"})
		s.write("kbs/be/b.md", "An entirely different text about valves.")
		c.settle()
		rev := first.str("knowledge_revision_id")
		again := c.call("search_knowledge", obj{"knowledge_item_id": "be/b.md", "knowledge_revision_id": rev})
		want(t, "text", again.str("content"), "The pump of be.")
		read := c.call("rag_read", obj{"kb": "be", "path": "b.md", "revision": rev})
		want(t, "rag_read", read.str("content"), "The pump of be.")
		want(t, "rag_read's revision", read.str("revision_id"), rev)
		r := c.call("search_knowledge", obj{"query": "pump", "knowledge_base_id": "be"})
		want(t, "found", all(r.list("results"), "knowledge_item_id"), "")
		now := c.call("search_knowledge", obj{"knowledge_item_id": "be/b.md"})
		if now.str("knowledge_revision_id") == rev {
			t.Error("the revision id stayed")
		}
		s.write("kbs/be/b.md", "The pump of be.")
		c.settle()
		want(t, "back again", c.call("search_knowledge", obj{"knowledge_item_id": "be/b.md"}).str("knowledge_revision_id"), rev)
		if out := s.ok("status"); !strings.Contains(out, "kept of earlier states") {
			t.Errorf("status does not show what retention costs:\n%s", out)
		}
	})
	t.Run("missing, foreign, inactive or unpublished are one answer", func(t *testing.T) {
		sc := s.agent("scoped")
		var answers []string
		for _, id := range []string{"al/no.md", "be/b.md", "no/b.md", "al/d.md", "nonsense"} {
			r := sc.refused("search_knowledge", obj{"knowledge_item_id": id})
			want(t, id, r.str("code")+" "+r.str("type"), "knowledge_resource_unavailable knowledge_unavailable")
			answers = append(answers, strings.ReplaceAll(fmt.Sprint(r), id, "X"))
		}
		for _, a := range answers[1:] {
			want(t, "answers", a, answers[0])
		}
		want(t, "revision", code(sc, obj{"knowledge_item_id": "al/a.md", "knowledge_revision_id": strings.Repeat("0", 32)}), "knowledge_resource_unavailable")
		want(t, "base", code(sc, obj{"query": "pump", "knowledge_base_id": "be"}), code(sc, obj{"query": "pump", "knowledge_base_id": "nothing"}))
	})
	t.Run("it needs the scope knowledge:read, which arguments cannot give", func(t *testing.T) {
		w := s.agent("without")
		want(t, "code", code(w, obj{"query": "pump"}), "knowledge_scope_required")
		w.refused("search_knowledge", obj{"query": "pump", "scope": "knowledge:read"})
	})
	t.Run("knowledge.enabled = false is one clear answer, taken up without a restart", func(t *testing.T) {
		s.settings("[knowledge]\nenabled = false\n")
		s.ok("reload")
		r := c.refused("search_knowledge", obj{"query": "pump"})
		want(t, "answer", r.str("code")+" "+r.str("type"), "knowledge_runtime_disabled knowledge_unavailable")
		s.settings("")
		s.ok("reload")
		c.call("search_knowledge", obj{"query": "pump"})
	})
}

// TestAlphaWeighsMeaningAgainstWords runs with the built-in model.
func TestAlphaWeighsMeaningAgainstWords(t *testing.T) {
	s := serveWith(t, "", map[string]string{
		"kbs/al/car.md": "The automobile needs petrol and a driver.", "kbs/al/law.md": "A vehicle inspection is due each year, says the law about inspections.",
		"kbs/al/vehicle.md": "A vehicle.", "kbs/al/truck.md": "Lorries carry freight by road.", "kbs/al/cook.md": "Boil the pasta for nine minutes.",
	}, "EMBEDDINGS_ENABLED", "true")
	c := s.fresh()
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		e := c.call("rag_status", obj{}).obj("embedder")
		if e.str("state") == "ready" && e.num("backlog") == 0 {
			break
		}
		if e.str("state") == "failed" || time.Since(start) > time.Minute {
			t.Fatal("no vectors: ", e)
		}
	}
	ids := func(args obj) []string {
		args["query"] = "vehicle inspection"
		return strings.Fields(all(c.call("search_knowledge", args).list("results"), "knowledge_item_id"))
	}
	lexical, semantic := ids(obj{"mode": "lexical"}), ids(obj{"mode": "semantic"})
	if len(lexical) != 2 || len(semantic) < 3 {
		t.Fatal(lexical, semantic)
	}
	startsWith := func(what string, list, order []string) {
		t.Helper()
		n := min(len(list), len(order))
		want(t, what, list[:n], order[:n])
	}
	for _, alpha := range []any{1, 7, "1", 1e9} {
		startsWith(fmt.Sprint("alpha ", alpha), ids(obj{"alpha": alpha}), lexical)
	}
	for _, alpha := range []any{0, -3, "0"} {
		startsWith(fmt.Sprint("alpha ", alpha), ids(obj{"alpha": alpha}), semantic)
	}
	want(t, "an unknown mode is hybrid", ids(obj{"mode": "no such"}), ids(obj{"mode": "hybrid"}))
	r := c.call("search_knowledge", obj{"query": "vehicle inspection"}).list("results")[0].obj("scores")
	for _, score := range []string{"lexical", "semantic", "fused"} {
		if v, ok := r[score].(float64); !ok || v <= 0 || v > 1 {
			t.Errorf("%s is %v", score, r[score])
		}
	}
	for mode, match := range map[string]string{"keyword": "keyword", "semantic": "meaning", "hybrid": "both"} {
		d := c.call("capsid_find_docs", obj{"action": "search", "query": "vehicle inspection", "mode": mode})
		want(t, "match of "+mode, d.list("documents")[0].str("match"), match)
		want(t, "fallback of "+mode, d.str("fallback"), "")
	}
}
