package main

import (
	"fmt"
	"strings"
	"testing"
)

// An agent whose patterns cover very many KBs, but not all, sees into each of
// them, by every way there is to search.
func TestAnAgentOfVeryManyKBsFindsWhatIsInEach(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		kb := fmt.Sprintf("mine-%03d", i)
		if i >= 450 {
			kb = fmt.Sprintf("secret-%03d", i)
		}
		files["kbs/"+kb+"/n.md"] = fmt.Sprintf("The pump and valve%d.", i)
	}
	s := serve(t, "[[agent]]\nname = \"many\"\nkbs = [\"mine-*\"]\n", files)
	s.fresh()
	c := s.agent("many")
	for _, i := range []int{0, 7, 399, 400, 401, 449} {
		q, kb := fmt.Sprintf("valve%d", i), fmt.Sprintf("mine-%03d", i)
		want(t, "rag_search "+q, all(c.call("rag_search", obj{"query": q}).list("results"), "kb"), kb)
		want(t, "search_knowledge "+q, all(c.call("search_knowledge", obj{"query": q}).list("results"), "knowledge_item_id"), kb+"/n.md")
		for _, mode := range []string{"keyword", "hybrid"} {
			want(t, mode+" "+q, all(c.call("capsid_find_docs", obj{"action": "search", "query": q, "mode": mode}).list("documents"), "namespace"), kb)
		}
	}
	for _, args := range []obj{{"query": "valve450"}, {"query": "valve499"}} {
		want(t, "of others", len(c.call("rag_search", args).list("results")), 0)
	}
	pump := c.call("rag_search", obj{"query": "pump", "top_k": 100, "explain": true})
	if n := len(pump.list("results")); n < 20 || strings.Contains(fmt.Sprint(pump), "secret") {
		t.Errorf("%d results", n)
	}
	if text := fmt.Sprint(pump.list("results")[0]["explain"]); !strings.Contains(text, "df=450 ") {
		t.Errorf("the word is counted in others' documents: %s", text)
	}
	var named []string // more than one expression has phrases, by name
	for i := range 450 {
		named = append(named, fmt.Sprintf("mine-%03d", i))
	}
	r := s.agent("").call("rag_search", obj{"query": "valve449", "kb": strings.Join(named, ",")})
	want(t, "KBs by name", all(r.list("results"), "kb"), "mine-449")
}

// What is told to a scoped agent is made of its own KBs: another's documents
// change no count, no score and no verdict in it.
func TestDocumentsOfOthersChangeNoCountAndNoScore(t *testing.T) {
	files := map[string]string{"kbs/secret/first.md": "Something of others.", "kbs/work-1/w.md": "A valve at work."}
	for i := range 12 {
		files[fmt.Sprintf("kbs/mine/n%02d.md", i)] = fmt.Sprintf("# Note %d\n\nThe pump number %d%s.", i, i, strings.Repeat(" and its valve", i%3))
	}
	s := serve(t, "[[agent]]\nname = \"scoped\"\nkbs = [\"mine\", \"work-*\"]\n[[agent]]\nname = \"tenant\"\nroot = \"main\"\n", files)
	owner := s.fresh()
	ask := func(c *mcpClient) (out string) {
		for _, args := range []obj{{"query": "valve pump"}, {"query": "zebra valve"}, {"query": "zebra"}, {"query": "number", "kb": "mine"}} {
			args["explain"] = true
			r := c.call("rag_search", args)
			out += fmt.Sprintln(args["query"], r["weak"], r["results"], r["reason"])
		}
		for _, q := range []string{"val*", "zeb*", "number AND pump"} {
			r := c.call("capsid_find_docs", obj{"action": "search", "mode": "keyword", "query": q})
			out += fmt.Sprintln(q, all(r.list("documents"), "path"), r["note"])
		}
		for _, h := range c.call("search_knowledge", obj{"query": "valve pump"}).list("results") {
			out += fmt.Sprintln(h["knowledge_item_id"], h["scores"])
		}
		return out
	}
	scoped, tenant := s.agent("scoped"), s.agent("tenant")
	before, ofRoot, ofAll := ask(scoped), ask(tenant), ask(owner)
	if !strings.Contains(before, "valve") || !strings.Contains(before, "5 ") {
		t.Fatalf("nothing is explained: %s", before)
	}
	for i := range 40 {
		s.write(fmt.Sprintf("kbs/secret/z%02d.md", i), "A zebra and a valve. "+strings.Repeat("number ", i))
		s.write(fmt.Sprintf("other/far/z%02d.md", i), "A valve for the zebra.")
	}
	owner.settle()
	want(t, "a scoped agent", ask(scoped), before)
	if ask(owner) == ofAll {
		t.Error("the documents are not in the index: nothing was tested")
	}
	mine := ask(tenant)
	if mine == ofRoot {
		t.Error("another's documents under the agent's root are not counted, though it sees them")
	}
	for i := range 40 {
		s.write(fmt.Sprintf("other/far/y%02d.md", i), "One more valve for the zebra.")
	}
	owner.settle()
	want(t, "an agent of one root", ask(tenant), mine)
}
