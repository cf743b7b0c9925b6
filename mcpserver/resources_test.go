package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestResourcesAreListedInPagesAndReadByTheirAddress(t *testing.T) {
	w := newWorld(t, "a", "b c", "d\xff")
	texts := map[string]string{}
	put := func(kb, path string) {
		text := "text of " + encodeName(path)
		w.put(kb, path, text)
		texts[docURI(kb, path)] = text
	}
	for i := range 150 {
		put("a", fmt.Sprintf("f%03d.md", i))
	}
	for _, p := range []string{"x y/ü?#%41.md", "new\nline", "caf\xe9", "a+b&c=d", "日本語/メモ.md"} {
		put("b c", p)
		put("d\xff", p)
	}
	w.set("a", "pending.md", func(*fakeDoc) {})
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	var uris []string
	params := m{}
	for pages := 0; ; pages++ {
		var page struct {
			Resources  []struct{ URI, Name, MimeType string }
			NextCursor string
		}
		got := c.request("resources/list", params)
		if err := json.Unmarshal(got.Result, &page); err != nil || got.Error != nil {
			t.Fatal(err, got.Error)
		}
		if len(page.Resources) > resourcesPage {
			t.Fatalf("a page of %d", len(page.Resources))
		}
		for _, r := range page.Resources {
			uris = append(uris, r.URI)
		}
		if page.NextCursor == "" {
			if pages == 0 {
				t.Error("not in pages")
			}
			break
		}
		params["cursor"] = page.NextCursor
	}
	if len(uris) != len(texts) {
		t.Fatalf("%d resources, want %d", len(uris), len(texts))
	}
	for _, uri := range slices.Concat(uris[:3], uris[150:]) {
		var r struct {
			Contents []struct {
				URI, Text string
				Meta      map[string]any `json:"_meta"`
			}
		}
		got := c.request("resources/read", m{"uri": uri})
		if got.Error != nil {
			t.Errorf("%s: %+v", uri, got.Error)
			continue
		}
		if err := json.Unmarshal(got.Result, &r); err != nil || len(r.Contents) != 1 || r.Contents[0].Text != texts[uri] || r.Contents[0].URI != uri || r.Contents[0].Meta["content_truncated"] != false {
			t.Errorf("%s: %v %s", uri, err, got.Result)
		}
	}
	if got := c.request("resources/read", m{"uri": "RAG://b c/x y/ü%3F#frag"}); got.Error == nil || got.Error.Code != codeNoResource {
		t.Errorf("%+v", got.Error)
	}
	if got := c.request("resources/read", m{"uri": "rag://B%20C/new%0aline"}); got.Error != nil {
		t.Errorf("%+v", got.Error)
	}
	if got := c.request("resources/templates/list", m{}); got.Error != nil || !strings.Contains(string(got.Result), "rag://{kb}/{+path}") {
		t.Errorf("%+v %s", got.Error, got.Result)
	}
}

func TestLongResourcesAreReadInParts(t *testing.T) {
	w := newWorld(t, "a")
	text := strings.Repeat("0123456789é", 25_000)
	w.put("a", "big.md", text)
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	var got strings.Builder
	for uri := "rag://a/big.md"; uri != ""; {
		var r struct {
			Contents []struct {
				Text string
				Meta struct{ Next string } `json:"_meta"`
			}
		}
		if err := json.Unmarshal(c.request("resources/read", m{"uri": uri}).Result, &r); err != nil || len(r.Contents) != 1 {
			t.Fatal(err)
		}
		got.WriteString(r.Contents[0].Text)
		uri = r.Contents[0].Meta.Next
	}
	if got.String() != text {
		t.Error("the parts do not give the text back")
	}
}

func TestNamesOfKBsAndPathsAreCompleted(t *testing.T) {
	w := newWorld(t, "notes", "Notebook", "other")
	for i := range 250 {
		w.put("notes", fmt.Sprintf("dir/f%03d.md", i), "x")
	}
	w.put("notes", "dis", "x")
	w.put("notes", "e\xff.md", "x")
	_, addr := startServer(t, w, Options{})
	c := dial(t, addr)
	complete := func(name, value string, given m) (values []string, more bool) {
		t.Helper()
		got := c.request("completion/complete", m{"ref": m{"type": "ref/resource", "uri": uriTemplate}, "argument": m{"name": name, "value": value}, "context": m{"arguments": given}})
		var r struct {
			Completion struct {
				Values  []string
				HasMore bool
			}
		}
		if err := json.Unmarshal(got.Result, &r); err != nil || got.Error != nil || r.Completion.Values == nil {
			t.Fatal(err, got.Error, string(got.Result))
		}
		return r.Completion.Values, r.Completion.HasMore
	}
	for value, want := range map[string][]string{"": {"Notebook", "notes", "other"}, "no": {"Notebook", "notes"}, "x": {}} {
		if got, _ := complete("kb", value, nil); !slices.Equal(got, want) {
			t.Errorf("%q: %v", value, got)
		}
	}
	all, more := complete("path", "dir/", m{"kb": "notes"})
	if len(all) != maxCompletions || !more || all[0] != "dir/f000.md" {
		t.Errorf("%d %v", len(all), more)
	}
	for value, want := range map[string][]string{"dir/f24": {"dir/f240.md", "dir/f241.md", "dir/f242.md", "dir/f243.md", "dir/f244.md", "dir/f245.md", "dir/f246.md", "dir/f247.md", "dir/f248.md", "dir/f249.md"},
		"dis": {"dis"}, "e": {"e�FF.md"}, "e�FF": {"e�FF.md"}, "zz": {}} {
		if got, _ := complete("path", value, m{"kb": "notes"}); !slices.Equal(got, want) {
			t.Errorf("%q: %v", value, got)
		}
	}
	if got, _ := complete("path", "", m{"kb": "nope"}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
