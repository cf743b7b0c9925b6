package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestFindDocs(t *testing.T) {
	files := map[string]string{
		"kbs/al/plan.md":         "---\ntitle: The plan\ntype: adr\nstatus: closed\ntags: [a, b]\ncreated: 2024-01-02\n---\nThe turbine plan.",
		"kbs/al/old.md":          "---\nstatus: superseded\n---\nThe turbine of old.",
		"kbs/al/canon.md":        "---\ncanon: true\ntags: x, y\n---\n" + strings.Repeat("Much else is said here about nothing in particular. ", 6) + "The turbine rules.",
		"kbs/al/off.md":          "---\nstatus: canon\n---\nNothing to do with it.",
		"kbs/al/sub/deep/[1].md": "# Turbine turbine\n\nturbine turbine manual of the turbine",
		"kbs/al/plain.md":        "# Heading as title\n\nquick brown fox jumps. steam engine. sha256 getUserName",
		"kbs/al/broken.md":       "---\ntitle: [unclosed\nstatus: closed\n---\nThe body with walrus survives.",
		"kbs/be/b.md":            "quick red fox of be",
		"kbs/be/.git/config":     "[remote \"origin\"]\n\turl = https://user:secret@example.org/be.git\n",
		"kbs/hidden/h.md":        "quick fox in hidden turbine",
	}
	files["kbs/long/huge.md"] = strings.Repeat("# Quokka\n\nquokka quokka quokka "+strings.Repeat("and other words ", 30)+"\n\n", 400)
	for i := range 30 {
		files[fmt.Sprintf("kbs/long/s%02d.md", i)] = strings.Repeat("Much else is said. ", 30) + fmt.Sprintf("And the quokka of %d.", i)
	}
	for i := range 501 {
		files[fmt.Sprintf("kbs/many/d%03d.md", i)] = fmt.Sprintf("number %d", i)
	}
	s := serve(t, "[[agent]]\nname = \"scoped\"\nkbs = [\"al\", \"b*\"]\n", files)
	c := s.fresh()
	scoped := s.agent("scoped")
	find := func(args obj) obj { return c.call("capsid_find_docs", args) }
	paths := func(args obj) string { return all(find(args).list("documents"), "path") }

	t.Run("action is list by default; an unknown one is refused", func(t *testing.T) {
		want(t, "list", paths(obj{"namespace": "be"}), "b.md")
		if r := c.refused("capsid_find_docs", obj{"action": "delete"}); !strings.Contains(r.str("message"), "namespaces") {
			t.Errorf("%v", r)
		}
	})
	t.Run("no action changes anything and all four hints say so", func(t *testing.T) {
		for _, tool := range obj(c.request("tools/list", obj{})).list("tools") {
			if tool.str("name") == "capsid_find_docs" {
				h := tool.obj("annotations")
				want(t, "hints", fmt.Sprint(h["readOnlyHint"], h["destructiveHint"], h["idempotentHint"], h["openWorldHint"]), "true false true false")
				return
			}
		}
		t.Error("not listed")
	})
	t.Run("list has metadata and no bodies, in order, and filters by type and status", func(t *testing.T) {
		want(t, "order", paths(obj{"namespace": "al"}), "broken.md canon.md off.md old.md plain.md plan.md sub/deep/[1].md")
		row := find(obj{"type": "adr"}).list("documents")[0]
		want(t, "row", fmt.Sprint(row["id"], row["namespace"], row["path"], row["title"], row["type"], row["status"], row["tags"], row["created_at"]),
			fmt.Sprint("al/plan.md", "al", "plan.md", "The plan", "adr", "closed", "[a b]", "2024-01-02"))
		if row["content"] != nil || row["snippet"] != nil || row["updated_at"] == nil {
			t.Errorf("%v", row)
		}
		want(t, "unknown status", paths(obj{"status": "nonsense"}), "")
	})
	t.Run("at most 500; exactly 500 is not truncated", func(t *testing.T) {
		r := find(obj{"namespace": "many"})
		if r.num("count") != 500 || r["truncated"] != true || !strings.Contains(r.str("note"), "namespace") || r.num("limit") != 500 {
			t.Errorf("count %d, truncated %v, note %q", r.num("count"), r["truncated"], r.str("note"))
		}
		if r = find(obj{"action": "glob", "namespace": "many", "glob": "d[0-4]*"}); r.num("count") != 500 || r["truncated"] != false || r["note"] != nil {
			t.Errorf("count %d, truncated %v", r.num("count"), r["truncated"])
		}
	})
	t.Run("glob is SQLite's: * crosses /, case counts, brackets are a class", func(t *testing.T) {
		for glob, is := range map[string]string{"*.md": "broken.md canon.md off.md old.md plain.md plan.md sub/deep/[1].md", "P*": "", "pl?n.md": "plan.md", "sub*": "sub/deep/[1].md", "[op]l*": "old.md plain.md plan.md", "*[[]1]*": "sub/deep/[1].md"} {
			want(t, glob, paths(obj{"action": "glob", "namespace": "al", "glob": glob}), is)
		}
		c.refused("capsid_find_docs", obj{"action": "glob"})
	})
	t.Run("keyword mode is FTS5 syntax and malformed syntax is plain words", func(t *testing.T) {
		search := func(q string) string {
			r := find(obj{"action": "search", "mode": "keyword", "query": q, "include_retired": true})
			for _, d := range r.list("documents") {
				if d.str("match") != "keyword" || d.str("snippet") == "" {
					t.Errorf("%v", d)
				}
			}
			return all(r.list("documents"), "path")
		}
		for q, is := range map[string]string{
			`"quick brown"`: "plain.md", `quick NOT brown AND be`: "b.md", `fox AND (red OR steam) NOT be`: "plain.md", `NEAR(quick jumps, 3)`: "plain.md",
			`NEAR(quick engine, 1)`: "", `walr*`: "broken.md", `sha25*`: "plain.md", `getUserNa*`: "plain.md", `title:heading`: "plain.md", `headings:fox`: "", `title:plan`: "plan.md",
			`"walrus`: "broken.md", `walrus AND`: "broken.md", `(walrus`: "broken.md", `walrus?!`: "broken.md", `Jumping`: "plain.md",
		} {
			want(t, q, search(q), is)
		}
	})
	t.Run("a query that was not taken as it was written says so in note", func(t *testing.T) {
		for q, word := range map[string]string{`walrus AND`: "plain words", strings.Repeat("walr* ", 9): "plain words", `walrus`: ""} {
			if note := find(obj{"action": "search", "mode": "keyword", "query": q}).str("note"); !strings.Contains(note, word) || word == "" && note != "" {
				t.Errorf("%s: note %q", q, note)
			}
		}
	})
	t.Run("closed and superseded are left out unless asked for; canon is first among relevant hits only", func(t *testing.T) {
		got := strings.Fields(paths(obj{"action": "search", "query": "turbine", "namespace": "al"}))
		if strings.Join(got, " ") != "canon.md sub/deep/[1].md" && strings.Join(got, " ") != "sub/deep/[1].md canon.md" {
			t.Errorf("%v", got)
		}
		got = strings.Fields(paths(obj{"action": "search", "query": "turbine", "namespace": "al", "include_retired": true}))
		if len(got) != 4 || strings.Contains(strings.Join(got, " "), "off.md") {
			t.Errorf("%v", got)
		}
	})
	t.Run("search gives the 25 best documents however long one of them is, and says when there are more", func(t *testing.T) {
		for _, mode := range []string{"keyword", "hybrid"} {
			r := find(obj{"action": "search", "query": "quokka", "mode": mode})
			want(t, mode, fmt.Sprint(r["count"], r["limit"], r["truncated"], r.str("note") != ""), "25 25 true true")
		}
		r := find(obj{"action": "search", "query": "walrus"})
		want(t, "one", fmt.Sprint(r["count"], r["truncated"]), "1 false")
	})
	t.Run("when meaning cannot answer, keyword does and fallback says why", func(t *testing.T) {
		for _, mode := range []string{"hybrid", "semantic"} {
			r := find(obj{"action": "search", "query": "walrus", "mode": mode})
			want(t, mode, all(r.list("documents"), "path"), "broken.md")
			if r.str("fallback") == "" || r.list("documents")[0].str("match") != "keyword" {
				t.Errorf("%s: %v", mode, r)
			}
		}
		if r := find(obj{"action": "search", "query": "walrus", "mode": "keyword"}); r["fallback"] != nil {
			t.Errorf("%v", r)
		}
	})
	t.Run("namespaces lists the caller's, with git remotes and no secrets", func(t *testing.T) {
		r := scoped.call("capsid_find_docs", obj{"action": "namespaces"})
		want(t, "names", all(r.list("namespaces"), "namespace"), "al be")
		want(t, "repos", fmt.Sprint(r.list("namespaces")[0]["repos"], r.list("namespaces")[1]["repos"]), "[] [https://example.org/be.git]")
		c.refused("capsid_find_docs", obj{"action": "namespaces", "namespace": "al"})
	})
	t.Run("front matter gives the fields, and bad YAML never loses the body", func(t *testing.T) {
		r := find(obj{"namespace": "al"}).list("documents")
		want(t, "canon's tags", r[1]["tags"], "[x y]")
		want(t, "defaults", r[4].str("title")+" "+r[4].str("type")+" "+r[4].str("status"), "Heading as title note published")
		read := c.call("rag_read", obj{"kb": "al", "path": "broken.md"})
		if !strings.Contains(read.str("content"), "walrus") || !strings.Contains(fmt.Sprint(read), "front matter: unreadable, line") {
			t.Errorf("%v", read)
		}
		want(t, "front matter", c.call("rag_read", obj{"kb": "al", "path": "plan.md"}).obj("front_matter")["type"], "adr")
	})
	t.Run("query and glob have 512 characters at most, names and filters 64", func(t *testing.T) {
		for _, args := range []obj{
			{"action": "search", "query": strings.Repeat("x", 513)}, {"action": "glob", "glob": strings.Repeat("x", 513)},
			{"namespace": strings.Repeat("x", 65)}, {"type": strings.Repeat("x", 65)}, {"status": strings.Repeat("x", 65)},
		} {
			if r := c.refused("capsid_find_docs", args); !strings.Contains(r.str("message"), "512") && !strings.Contains(r.str("message"), "64") {
				t.Errorf("%v", r)
			}
		}
	})
	t.Run("a scoped agent sees its own scope and never more", func(t *testing.T) {
		for _, args := range []obj{{}, {"action": "glob", "glob": "*"}, {"action": "search", "query": "quick fox turbine"}} {
			r := scoped.call("capsid_find_docs", args)
			if ns := all(r.list("documents"), "namespace"); strings.Contains(ns, "hidden") || strings.Contains(ns, "many") || ns == "" {
				t.Errorf("%v: %s", args, ns)
			}
		}
		foreign := scoped.refused("capsid_find_docs", obj{"namespace": "hidden"})
		none := scoped.refused("capsid_find_docs", obj{"namespace": "absent"})
		want(t, "foreign and absent", strings.ReplaceAll(fmt.Sprint(foreign), "hidden", "X"), strings.ReplaceAll(fmt.Sprint(none), "absent", "X"))
	})
}
