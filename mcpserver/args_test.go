package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ragd/internal/fault"
)

// argCase is one value of one argument, and the code that must come of it
// ("" = the value is accepted; what the tool then says is its own matter).
type argCase struct{ name, value, code string }

// argCases are made from an argument's description.
func argCases(a arg) []argCase {
	str := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	missing := ""
	if a.required {
		missing = "missing_argument"
	}
	cases := []argCase{{"null", `null`, missing}, {"an object", `{"a":1}`, "invalid_argument"}, {"a list", `["a"]`, "invalid_argument"}}
	switch a.kind {
	case argInt, argFloat:
		over := "out_of_range"
		if a.clamp {
			over = ""
		}
		cases = append(cases,
			argCase{"least", fmt.Sprint(a.low), ""}, argCase{"greatest", fmt.Sprint(a.high), ""}, argCase{"as a string", fmt.Sprintf(`"%d"`, a.high), ""},
			argCase{"below", fmt.Sprint(a.low - 1), over}, argCase{"above", fmt.Sprint(a.high + 1), over}, argCase{"far above", `1e300`, over},
			argCase{"beyond a float", `1e999`, "invalid_argument"}, argCase{"words", `"many"`, "invalid_argument"}, argCase{"hex", `"0x10"`, "invalid_argument"},
			argCase{"true", `true`, "invalid_argument"}, argCase{"NaN", `"NaN"`, "invalid_argument"}, argCase{"spaces", `" 5 "`, "invalid_argument"})
		if a.kind == argInt {
			cases = append(cases, argCase{"a fraction", fmt.Sprint(a.low) + `.5`, "invalid_argument"})
		}
	case argBool:
		cases = append(cases, argCase{"true", `true`, ""}, argCase{"as a string", `"true"`, ""}, argCase{"false", `false`, ""}, argCase{"False", `"False"`, "invalid_argument"},
			argCase{"one", `1`, "invalid_argument"}, argCase{"yes", `"yes"`, "invalid_argument"})
	default:
		empty := missing
		if a.empty {
			empty = ""
		}
		any := ""
		if len(a.enum) > 0 {
			any = "invalid_argument"
			cases = append(cases, argCase{"allowed", str(a.enum[0]), ""})
		}
		cases = append(cases,
			argCase{"a number", `5`, "invalid_argument"}, argCase{"true", `true`, "invalid_argument"}, argCase{"empty", `""`, empty},
			argCase{"4-byte characters", str("𠜎😀"), any}, argCase{"quotes", str(`"'%_*`), any},
			argCase{"half a surrogate pair", `"a\ud800b"`, "invalid_argument"}, argCase{"wrong half first", `"\udc00\ud800"`, "invalid_argument"},
			argCase{"not UTF-8", "\"a\xffb\"", "invalid_argument"})
		if a.bound() < 1<<20 { // longer than a request may be
			cases = append(cases, argCase{"too long", str(strings.Repeat("é", a.bound()+1)), "too_long"})
		}
		if len(a.enum) == 0 && a.bound() < 1<<20 {
			cases = append(cases, argCase{"longest", str(strings.Repeat("é", a.bound())), ""})
		}
		if a.kind != argOpaque {
			cases = append(cases, argCase{"NUL", `"a\u0000b"`, "invalid_argument"})
		}
		if a.kind == argText {
			cases = append(cases, argCase{"escape", `"a\u001b[31mb"`, "invalid_argument"}, argCase{"C1 control", `"a\u0085b"`, "invalid_argument"})
			if len(a.enum) == 0 {
				cases = append(cases, argCase{"line breaks", `"a\r\n\tb"`, ""}, argCase{"only spaces", `"  \n"`, empty})
			}
		}
	}
	return cases
}

// plainArgs are valid arguments of every tool, such that arg may be added.
func plainArgs(name, arg string) m {
	switch name {
	case "list_chunks":
		return m{"prefix": ""}
	case "knowledge_status":
		return m{"projectId": "notes"}
	case "search_knowledge":
		switch arg {
		case "knowledge_item_id", "knowledge_revision_id", "offset", "limit_chars":
			return m{"knowledge_item_id": "notes/a.md"}
		}
		return m{"query": "fox"}
	case "capsid_find_docs":
		switch arg {
		case "glob":
			return m{"action": "glob", "glob": "*"}
		case "query", "mode", "include_retired":
			return m{"action": "search", "query": "fox"}
		case "action":
			return m{"namespace": "notes"}
		}
	case "rag_search":
		return m{"query": "fox"}
	case "rag_list_documents", "rag_delete_kb":
		return m{"kb": "notes"}
	case "rag_read", "rag_delete_document":
		return m{"kb": "notes", "path": "a.md"}
	case "rag_add_document":
		return m{"kb": "notes", "path": "new.md", "content": "x"}
	}
	return m{}
}

// codeOf is what a tool with codes of its own calls a general one.
func codeOf(tool, code string) string {
	switch {
	case code == "":
		return ""
	case tool == "list_chunks":
		return "INVALID_ARGUMENT"
	case tool == "search_knowledge":
		return "knowledge_invalid_request"
	}
	return code
}

// callCodes are the codes an accepted value may still lead to.
var callCodes = map[string]bool{
	"": true, "kb_not_found": true, "document_not_found": true, "bad_path": true, "bad_cursor": true, "revision_not_found": true,
	"confirm_required": true, "ignored_path": true, "bad_kb_name": true, "missing_argument": true, "knowledge_query_required": true, "knowledge_resource_unavailable": true, "document_not_indexed": true,
}

func TestEveryArgumentOfEveryToolIsCheckedByName(t *testing.T) {
	w := newWorld(t, "notes")
	s, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	in, out := schemas(t, c)
	total := 0
	for _, tl := range s.tools {
		t.Run(tl.name, func(t *testing.T) {
			c.t = t
			check := func(name, args, code string, arg string) {
				total++
				code = codeOf(tl.name, code)
				w.mu.Lock()
				if w.kbs["notes"] == nil {
					w.addKB("notes")
				}
				w.mu.Unlock()
				w.put("notes", "a.md", "the quick fox")
				c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tl.name + `","arguments":` + args + `}}`)
				r := c.resultOf(tl.name, c.recv())
				var f failure
				if r.IsError {
					if err := json.Unmarshal(r.Data, &f); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
				}
				if code != "" && f.Code != code || code == "" && !callCodes[f.Code] {
					t.Errorf("%s: %.100s gave %q (%s), want %q", name, args, f.Code, f.Message, code)
				}
				if code != "" && !strings.Contains(f.Message, arg) {
					t.Errorf("%s: %q does not name %s", name, f.Message, arg)
				}
				if !utf8.Valid(r.raw) || strings.ContainsAny(r.text(), "\x00\x1b") {
					t.Errorf("%s: control characters in the answer", name)
				}
				if err := fits(out[tl.name], r.Data); err != nil {
					t.Errorf("%s: the answer does not fit the output schema: %v", name, err)
				}
				if runes(f.Message) > 1000 {
					t.Errorf("%s: message of %d characters", name, runes(f.Message))
				}
			}
			for _, a := range tl.args {
				for _, tc := range argCases(a) {
					args := plainArgs(tl.name, a.name)
					args[a.name] = json.RawMessage(`"PLACE"`)
					b, _ := json.Marshal(args)
					check(a.name+" "+tc.name, strings.Replace(string(b), `"PLACE"`, tc.value, 1), tc.code, a.name)
				}
				if a.required {
					args := plainArgs(tl.name, a.name)
					delete(args, a.name)
					b, _ := json.Marshal(args)
					check(a.name+" left out", string(b), "missing_argument", a.name)
					if fits(in[tl.name], b) == nil {
						t.Errorf("the input schema allows leaving out %s", a.name)
					}
				}
			}
			args := plainArgs(tl.name, "")
			args["nonsense"] = 1
			b, _ := json.Marshal(args)
			check("unknown argument", string(b), "unknown_argument", "nonsense")
			if fits(in[tl.name], b) == nil {
				t.Error("the input schema allows unknown arguments")
			}
			b, _ = json.Marshal(plainArgs(tl.name, ""))
			if err := fits(in[tl.name], b); err != nil {
				t.Errorf("plain arguments do not fit the input schema: %v", err)
			}
			check("as a list", `[]`, "invalid_argument", "arguments")
			check("as a string", `"x"`, "invalid_argument", "arguments")
			check("as a number", `5`, "invalid_argument", "arguments")
		})
	}
	t.Logf("%d cases", total)
}

func TestPathTricksGetOneAnswer(t *testing.T) {
	w := newWorld(t, "notes")
	w.put("notes", "a.md", "x")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	hints := map[string]bool{}
	for _, p := range []string{
		"..", "../notes/a.md", "a/../a.md", "./a.md", "a/./b", "/etc/passwd", "//a", "a//b", "a/", "/", ".", "a/..", "../../../../etc/passwd",
		strings.Repeat("x", 5000), strings.Repeat("../", 1000) + "etc/passwd",
	} {
		for _, tool := range []string{"rag_read", "rag_delete_document", "rag_add_document"} {
			args := m{"kb": "notes", "path": p}
			if tool == "rag_add_document" {
				args["content"] = "x"
			}
			hints[c.refused(tool, args, "bad_path").Hint] = true
		}
	}
	if len(hints) != 1 {
		t.Errorf("%d different answers", len(hints))
	}
	for _, p := range []string{"%2e%2e/x", "..foo", "...", `..\x`, "a%2f..", "~root"} { // plain names, of nothing
		c.refused("rag_read", m{"kb": "notes", "path": p}, "document_not_found")
	}
	for _, uri := range []string{"rag://notes/%2e%2e/x", "rag://notes/..%2Fx", "rag://notes/%00", "rag://notes/", "rag://notes", "file:///etc/passwd", "rag://notes/a%zz", "rag://notes/a.md?x=1", "rag:///a.md", "x"} {
		if got := c.request("resources/read", m{"uri": uri}); got.Error == nil || got.Error.Code != codeInvalidParams {
			t.Errorf("%s: %+v %s", uri, got.Error, got.Result)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"query":"x","top_k":5}`, `{"query":"\ud800"}`, `{"top_k":"5"}`, `[1]`, `{"a":{"b":[]}}`, "{\"query\":\"\xff\"}", `{"wait_ms":1e999}`, `{"force":"true"}`} {
		f.Add(seed)
	}
	var args []arg
	for _, t := range New(Options{}, Deps{}).tools {
		args = append(args, t.args...)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return // the envelope is refused before
		}
		v, err := decodeArgs("tool", args, json.RawMessage(raw))
		if err != nil {
			if e, ok := fault.As(err); !ok || e.Kind != fault.Invalid || e.Code == "" || !utf8.ValidString(e.Message) {
				t.Fatalf("%#v", err)
			}
			return
		}
		for name, x := range v {
			if s, ok := x.(string); ok && !utf8.ValidString(s) {
				t.Fatalf("%s is not UTF-8: %q", name, s)
			}
		}
	})
}
