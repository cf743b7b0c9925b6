package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ragd/internal/config"
)

// toolbox calls tools and holds every reply against the tool's schemas and
// against what holds for all of them.
type toolbox struct {
	*mcpClient
	in, out map[string]*jsonschema.Schema
	calls   int
}

func newToolbox(c *mcpClient) *toolbox {
	b := &toolbox{c, map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}, 0}
	for _, tool := range obj(c.request("tools/list", obj{})).list("tools") {
		b.in[tool.str("name")] = compiled(c.t, tool.obj("inputSchema"))
		b.out[tool.str("name")] = compiled(c.t, tool.obj("outputSchema"))
	}
	return b
}

func compiled(t testing.TB, schema obj) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema", map[string]any(schema)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reply is a tool's whole answer.
type toolReply struct {
	data   obj
	text   string
	failed bool
	size   int // characters, as the client gets them
}

func (b *toolbox) reply(tool string, args obj) toolReply {
	b.t.Helper()
	b.calls++
	r := obj(b.request("tools/call", obj{"name": tool, "arguments": args}))
	raw, err := json.Marshal(r)
	if err != nil {
		b.t.Fatal(err)
	}
	content := r.list("content")
	if len(content) != 1 || content[0].str("type") != "text" || content[0].str("text") == "" || r.obj("structuredContent") == nil {
		b.t.Fatalf("%s %v: not one text block and structured content: %s", tool, args, raw)
	}
	if err := b.out[tool].Validate(map[string]any(r.obj("structuredContent"))); err != nil {
		b.t.Errorf("%s %v: the answer does not fit the output schema: %v\n%v", tool, args, err, r["structuredContent"])
	}
	out := toolReply{r.obj("structuredContent"), content[0].str("text"), r["isError"] == true, utf8.RuneCount(raw)}
	b.shape(tool, args, out)
	return out
}

// shape checks what holds for every answer.
func (b *toolbox) shape(tool string, args obj, r toolReply) {
	b.t.Helper()
	jsonText := map[string]bool{"search_knowledge": true, "list_chunks": true, "knowledge_status": true, "capsid_find_docs": true}[tool]
	var same obj
	if err := json.Unmarshal([]byte(r.text), &same); jsonText && (err != nil || fmt.Sprint(same) != fmt.Sprint(r.data)) || !jsonText && err == nil {
		b.t.Errorf("%s %v: the text block is %.300s", tool, args, r.text)
	}
	if !r.failed {
		return
	}
	next := r.data.str("hint")
	if tool == "list_chunks" {
		next = r.data.str("aiInstruction")
	}
	if r.data.str("code") == "" || r.data.str("message") == "" || next == "" {
		b.t.Errorf("%s %v: a failure without code, message or next step: %v", tool, args, r.data)
	}
	for _, leak := range []string{"SELECT", "sqlite", "goroutine", ".go:", "/tmp/", "/home/", "/root/"} {
		if strings.Contains(fmt.Sprint(r.data), leak) && !strings.Contains(fmt.Sprint(args), leak) {
			b.t.Errorf("%s %v: the answer shows %s: %v", tool, args, leak, r.data)
		}
	}
}

func TestEveryTool(t *testing.T) {
	long := strings.Repeat("A paragraph about the pump and its valves, with enough words to fill chunks. ", 400)
	files := map[string]string{
		"kbs/al/a.md": "# Pumps\n\nThe pump of house one 🚰.\n\n## Valves\n\nA valve for the pump.", "kbs/al/long.md": long, "kbs/al/bad.pdf": "%PDF-1.4 no", "kbs/al/.hidden/x.md": "never",
		"kbs/be/b.md": "The pump of be.", "kbs/a,b/c.md": "The pump of a comma.", "kbs/a/d.md": "The pump of a.", "kbs/b/e.md": "The pump of b.",
		"kbs/only bad/x.pdf": "%PDF-1.4 no",
	}
	for i := range 30 {
		files[fmt.Sprintf("kbs/many/m%02d.md", i)] = fmt.Sprintf("# Note %d\n\n%s pump number %d. %s", i, strings.Repeat("Words before it. ", 60), i, strings.Repeat("Words behind it. ", 60))
	}
	s := serve(t, "", files)
	must(t, mkdirAll(s.path("kbs/empty")))
	c := s.fresh()
	b := newToolbox(c)

	t.Run("fourteen are listed with both schemas and all four hints", func(t *testing.T) {
		list := obj(c.request("tools/list", obj{})).list("tools")
		want(t, "tools", len(list), 14)
		for _, name := range config.AgentTools() {
			if b.in[name] == nil || b.out[name] == nil {
				t.Errorf("%s is not listed", name)
			}
		}
		for _, tool := range list {
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				if _, ok := tool.obj("annotations")[hint].(bool); !ok {
					t.Errorf("%s does not state %s", tool.str("name"), hint)
				}
			}
			if n := len(tool.str("description")); n < 60 || n > 1200 {
				t.Errorf("%s: description of %d bytes", tool.str("name"), n)
			}
		}
	})
	t.Run("rag_list_kbs counts, by name", func(t *testing.T) {
		r := b.reply("rag_list_kbs", obj{})
		want(t, "names", all(r.data.list("kbs"), "name"), "a a,b al b be empty many only bad")
		for _, k := range r.data.list("kbs") {
			if k.str("name") == "be" && (k.num("documents") != 1 || k.num("chunks") != 1 || k.num("bytes") != 15) {
				t.Errorf("%v", k)
			}
		}
	})
	t.Run("rag_list_documents has chunks, bytes and status, by path, in pages that add up", func(t *testing.T) {
		r := b.reply("rag_list_documents", obj{"kb": "al"})
		want(t, "paths", all(r.data.list("documents"), "path"), "a.md bad.pdf long.md")
		want(t, "status", all(r.data.list("documents"), "status"), "indexed failed indexed")
		if d := r.data.list("documents")[1]; d.str("reason") == "" || r.data.num("total") != 3 {
			t.Errorf("%v", r.data)
		}
		var paths []string
		for args := (obj{"kb": "many", "limit": 7}); ; {
			r := b.reply("rag_list_documents", args)
			paths = append(paths, all(r.data.list("documents"), "path"))
			if args["cursor"] = r.data.str("next_cursor"); args["cursor"] == "" {
				break
			}
		}
		want(t, "pages", strings.Join(paths, " "), all(b.reply("rag_list_documents", obj{"kb": "many"}).data.list("documents"), "path"))
	})
	t.Run("rag_search cites, and content keeps to its limit and is marked when cut", func(t *testing.T) {
		r := b.reply("rag_search", obj{"query": "valve pump", "kb": "al"})
		h := r.data.list("results")[0]
		for _, field := range []string{"kb", "path", "title", "chunk_index", "lines", "headings", "score", "match", "revision_id", "content", "content_truncated"} {
			if h[field] == nil {
				t.Errorf("no %s in %v", field, h)
			}
		}
		for _, h := range r.data.list("results") {
			if n := len([]rune(h.str("content"))); n > 1000 {
				t.Errorf("content of %d characters", n)
			}
			if !strings.Contains(r.text, h.str("path")) || !strings.Contains(r.text, h.str("revision_id")) {
				t.Errorf("the text does not cite %s", h.str("path"))
			}
		}
		want(t, "match", h.str("match"), "keyword")
	})
	t.Run("kb is one name, several by commas, and an exact name wins over splitting", func(t *testing.T) {
		kbs := func(kb any) string {
			args := obj{"query": "pump", "top_k": 100}
			if kb != nil {
				args["kb"] = kb
			}
			seen := map[string]bool{}
			for _, h := range b.reply("rag_search", args).data.list("results") {
				seen[h.str("kb")] = true
			}
			return fmt.Sprint(seen)
		}
		want(t, "one", kbs("be"), "map[be:true]")
		want(t, "two", kbs("be, a"), "map[a:true be:true]")
		want(t, "exact", kbs("a,b"), "map[a,b:true]")
		want(t, "all", kbs(nil), "map[a:true a,b:true al:true b:true be:true many:true]")
		if r := b.reply("rag_search", obj{"query": "pump", "kb": "be,nope"}); r.data.str("code") != "kb_not_found" || !strings.Contains(r.data.str("message"), "nope") {
			t.Errorf("%v", r.data)
		}
	})
	t.Run("top_k is 1 to 100, and a search with defaults keeps to 12,000 characters", func(t *testing.T) {
		for _, k := range []any{0, -1, 101, 1e9, "0", 1.5} {
			if r := b.reply("rag_search", obj{"query": "pump", "top_k": k}); !r.failed || !strings.Contains(r.data.str("message"), "1 to 100") {
				t.Errorf("%v: %v", k, r.data)
			}
		}
		want(t, "as text", len(b.reply("rag_search", obj{"query": "pump", "kb": "many", "top_k": "2"}).data.list("results")), 2)
		for _, q := range []string{"pump", "words before pump number", "a paragraph about the valves"} {
			r := b.reply("rag_search", obj{"query": q})
			if r.size > 12000 || len(r.data.list("results")) < 5 {
				t.Errorf("%q: %d characters, %d results", q, r.size, len(r.data.list("results")))
			}
		}
		if r := b.reply("rag_search", obj{"query": "pump", "kb": "many"}); r.data["truncated"] != true || !strings.Contains(r.text, "top_k") {
			t.Errorf("ten of thirty are not said to be truncated: %v", r.data["truncated"])
		}
	})
	t.Run("the same question gets the same answer", func(t *testing.T) {
		first := b.reply("rag_search", obj{"query": "pump words", "top_k": 50})
		for range 5 {
			want(t, "answer", b.reply("rag_search", obj{"query": "pump words", "top_k": 50}), first)
		}
	})
	t.Run("an empty search says which kind of nothing it is", func(t *testing.T) {
		for kb, word := range map[string]string{"al": "no match", "empty": "nothing indexed yet", "only bad": "failed: 1"} {
			for _, tool := range []string{"rag_search", "capsid_find_docs", "search_knowledge"} {
				args := map[string]obj{
					"rag_search": {"query": "xylophone", "kb": kb}, "capsid_find_docs": {"action": "search", "query": "xylophone", "namespace": kb}, "search_knowledge": {"query": "xylophone", "knowledge_base_id": kb},
				}[tool]
				r := b.reply(tool, args)
				if !strings.HasPrefix(r.data.str("reason"), word) || r.data.obj("freshness") == nil {
					t.Errorf("%s in %s: %v", tool, kb, r.data)
				}
			}
		}
	})
	t.Run("rag_read gives the whole text, or pages that rebuild it", func(t *testing.T) {
		whole := b.reply("rag_read", obj{"kb": "al", "path": "long.md"}).data
		want(t, "whole", whole.str("content") == long, true)
		want(t, "truncated", whole["content_truncated"], false)
		var text strings.Builder
		for offset := 0; ; {
			r := b.reply("rag_read", obj{"kb": "al", "path": "long.md", "offset": offset, "limit_chars": 999}).data
			text.WriteString(r.str("content"))
			offset += len([]rune(r.str("content")))
			if r["content_truncated"] != true {
				want(t, "total", r.num("content_total_chars"), offset)
				break
			}
		}
		want(t, "pages", text.String() == long, true)
	})
	t.Run("every capped listing says so and how to get the rest", func(t *testing.T) {
		for tool, args := range map[string]obj{
			"rag_list_documents": {"kb": "many", "limit": 3}, "list_chunks": {"prefix": "many", "limit": 3}, "search_knowledge": {"query": "pump", "max_results": 3}, "rag_search": {"query": "pump", "top_k": 3}, "rag_jobs": {"limit": 1},
			"capsid_find_docs": {"action": "search", "query": "pump"},
		} {
			r := b.reply(tool, args)
			if r.data["truncated"] != true && r.data.str("next_cursor") == "" {
				t.Errorf("%s does not say that there is more: %v", tool, r.data)
			}
		}
	})
	t.Run("rag_status and rag_jobs tell the queue, embedder and watchers", func(t *testing.T) {
		st := b.reply("rag_status", obj{}).data
		want(t, "kbs", st.num("kbs"), 8)
		for _, field := range []string{"documents", "chunks", "queue", "embedder", "watchers", "version", "uptime_seconds"} {
			if st[field] == nil {
				t.Errorf("no %s in %v", field, st)
			}
		}
		one := b.reply("rag_status", obj{"kb": "be"}).data
		want(t, "one KB", fmt.Sprint(one.num("kbs"), one.num("documents"), one.num("chunks")), "1 1 1")
		jobs := b.reply("rag_jobs", obj{})
		first, _, _ := strings.Cut(jobs.text, "\n")
		want(t, "first line", first, "Queue: 0 pending, 0 processing, 2 failed")
		for _, j := range jobs.data.list("jobs") {
			if j.str("stage") != "extract" || j.str("class") == "" || j.str("message") == "" || j.num("attempts") < 1 || j["id"] == nil {
				t.Errorf("%v", j)
			}
		}
	})
	t.Run("with mcp.surface = core the advanced ones are not listed but stay callable", func(t *testing.T) {
		s.settings("[mcp]\nsurface = \"core\"\n")
		s.ok("reload")
		names := c.toolNames()
		for _, hidden := range []string{"search_knowledge", "list_chunks", "knowledge_status", "rag_delete_kb"} {
			if strings.Contains(names, hidden) {
				t.Errorf("%s is listed", hidden)
			}
		}
		want(t, "tools", len(strings.Fields(names)), 10)
		b.reply("knowledge_status", obj{"projectId": "al"})
		b.reply("list_chunks", obj{"prefix": "al"})
	})
	t.Logf("%d replies were held against their schemas", b.calls)
}
