package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// badValues are what every argument of every tool is tried with.
func badValues(outside string) map[string]string {
	str := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	values := map[string]string{
		"null": "null", "a number": "5", "a negative": "-1", "a fraction": "1.5", "huge": "1e300", "beyond a float": "1e999", "zero": "0", "true": "true", "false": "false",
		"a list": `["a"]`, "an object": `{"a":{"b":[]}}`, "five as text": `"5"`, "true as text": `"true"`, "hex": `"0x10"`, "NaN": `"NaN"`, "empty": `""`, "blanks": `"  \t\n "`,
		"long": str(strings.Repeat("é", 5000)), "very long": str(strings.Repeat("x", 200_000)), "4-byte characters": str("𠜎😀👩‍👩‍👧"), "half a pair": `"a\ud800b"`, "not UTF-8": "\"a\xffb\"",
		"NUL": `"a\u0000b"`, "escape": `"\u001b[31m\u0007"`, "C1": `"\u0085\u009b"`, "right to left": `"\u202eabc"`, "SQL": str(`'; DROP TABLE chunks; --`), "FTS": str(`" AND ( NEAR(`), "glob": str("[[[a*?"), "format": str("%s%n%x"),
		"foreign KB": str("theirs"), "foreign item": str("theirs/secret.md"), "foreign address": str("rag://theirs/secret.md"),
	}
	for i, p := range []string{"..", "../x", "a/../../x", "/etc/passwd", outside, "//a", "a//b", "./a.md", "a/", "way/secret.md", "way/../a.md", "%2e%2e/%2e%2e/etc/passwd", `..\..\x`, "~root/x", "a.md/x", ".git/config", ".env"} {
		values[fmt.Sprintf("path trick %d", i)] = str(p)
	}
	return values
}

// TestAnyInputIsAnsweredInOrder calls every tool with every bad value in every
// argument: each call is answered, in the tool's shape, with a code, and shows
// nothing of what is not the caller's.
func TestAnyInputIsAnsweredInOrder(t *testing.T) {
	s := serve(t, "[[agent]]\nname = \"mine\"\nkbs = [\"mine*\"]\n", map[string]string{
		"kbs/mine/a.md": "# Mine\n\nThe pump.", "kbs/theirs/secret.md": "xyzzy of theirs", "outside/secret.md": "xyzzy outside",
	})
	must(t, os.Symlink(s.path("outside"), s.path("kbs/mine/way")))
	s.fresh()
	c := s.agent("mine")
	b := newToolbox(c)
	plain := map[string]obj{
		"rag_search": {"query": "pump"}, "rag_list_documents": {"kb": "mine"}, "rag_read": {"kb": "mine", "path": "a.md"}, "rag_add_document": {"kb": "mine", "path": "n.md", "content": "new"},
		"rag_delete_document": {"kb": "mine", "path": "no.md"}, "rag_delete_kb": {"kb": "mine-none"}, "list_chunks": {"prefix": ""}, "knowledge_status": {"projectId": "mine"}, "search_knowledge": {"query": "pump"},
	}
	cases := 0
	try := func(tool, what, args string) {
		cases++
		c.id++
		_, err := fmt.Fprintf(c.conn, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":%q,\"arguments\":%s}}\n", c.id, tool, args)
		must(t, err)
		line, err := c.r.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s, %s: the connection was dropped: %v", tool, what, err)
		}
		var m obj
		must(t, json.Unmarshal(line, &m))
		if strings.Contains(string(line), "xyzzy") || strings.Contains(string(line), "goroutine") || strings.Contains(string(line), "SQL logic") {
			t.Errorf("%s, %s: %.300s", tool, what, line)
		}
		r := m.obj("result")
		if m["error"] != nil { // only what is no JSON of UTF-8, or no object
			return
		}
		if err := b.out[tool].Validate(map[string]any(r.obj("structuredContent"))); err != nil {
			t.Errorf("%s, %s: the answer does not fit the schema: %v", tool, what, err)
		}
		code := r.obj("structuredContent").str("code")
		if failed := r["isError"] == true; failed != (code != "") || code == "internal_error" || code == "DATABASE_ERROR" {
			t.Errorf("%s, %s: isError %v, code %q", tool, what, r["isError"], code)
		}
	}
	for _, tool := range obj(c.request("tools/list", obj{})).list("tools") {
		name := tool.str("name")
		props := tool.obj("inputSchema").obj("properties")
		for arg := range props {
			for what, value := range badValues(s.path("outside/secret.md")) {
				if name == "rag_add_document" && arg == "kb" && (what == "five as text" || what == "true as text") || arg == "wait_ms" {
					continue // makes a KB; waits
				}
				args := obj{arg: json.RawMessage(`"PLACE"`)}
				for k, v := range plain[name] {
					if k != arg {
						args[k] = v
					}
				}
				text, err := json.Marshal(args)
				must(t, err)
				try(name, arg+" "+what, strings.Replace(string(text), `"PLACE"`, value, 1))
			}
		}
		for what, args := range map[string]string{"a list": "[]", "text": `"x"`, "a number": "5", "unknown": `{"nonsense":1}`, "a key of control characters": `{"\u0000\u001b":1}`, "the same twice": `{"query":"x","query":5}`, "deep": strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)} {
			try(name, "arguments: "+what, args)
		}
	}
	for path, text := range map[string]string{"outside/secret.md": "xyzzy outside", "kbs/theirs/secret.md": "xyzzy of theirs"} {
		got, err := os.ReadFile(s.path(path))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	for _, dir := range []string{"kbs", "outside"} {
		entries, err := os.ReadDir(s.path(dir))
		must(t, err)
		for _, e := range entries {
			if n := e.Name(); n != "mine" && n != "theirs" && n != "secret.md" && !strings.HasPrefix(n, "mine") {
				t.Errorf("%s was made in %s", n, dir)
			}
		}
	}
	b.call("rag_search", obj{"query": "pump"})
	t.Logf("%d cases", cases)
}
