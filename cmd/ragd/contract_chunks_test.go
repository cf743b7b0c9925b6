package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestListChunks(t *testing.T) {
	long := strings.Repeat("A paragraph about pumps and valves, with enough words to fill a chunk.\n\n", 120)
	s := serve(t, "", map[string]string{
		"kbs/al/a%b/x.md": "# One\n\nfirst text", "kbs/al/aXb/y.md": "# Two\n\nsecond text", "kbs/al/a_b.md": "third", "kbs/al/A.md": "fourth",
		"kbs/al/long.md": long, "kbs/al/id.md": "---\nartifact_id: ART-7\n---\nfifth", "kbs/al/empty.md": "", "kbs/be/z.md": "sixth", "kbs/al.x/q.md": "seventh",
	})
	c := s.fresh()
	paths := func(args obj) string { return all(c.call("list_chunks", args).list("entries"), "source_path") }

	t.Run("prefix is required, limit is 1 to 1000, default 100", func(t *testing.T) {
		for _, args := range []obj{{}, {"prefix": "", "limit": 0}, {"prefix": "", "limit": 1001}, {"prefix": 5}, {"prefix": "", "nope": 1}} {
			r := c.refused("list_chunks", args)
			if r.str("code") != "INVALID_ARGUMENT" || r["error"] != true || r.str("message") == "" || r.str("aiInstruction") == "" {
				t.Errorf("%v: %v", args, r)
			}
		}
		want(t, "limit as text", paths(obj{"prefix": "be", "limit": "5"}), "be/z.md")
	})
	t.Run("the prefix is a literal, case-sensitive start of kb/path", func(t *testing.T) {
		for prefix, is := range map[string]string{
			"al/a%": "al/a%b/x.md", "al/a_": "al/a_b.md", "al/A": "al/A.md", "AL": "", "al/": "al/A.md al/a%b/x.md al/aXb/y.md al/a_b.md al/id.md al/long.md",
			"be/z.md": "be/z.md", "b": "be/z.md", "al.": "al.x/q.md",
			"": "al.x/q.md al/A.md al/a%b/x.md al/aXb/y.md al/a_b.md al/id.md al/long.md be/z.md",
		} {
			want(t, prefix, paths(obj{"prefix": prefix}), is)
		}
	})
	t.Run("one entry per source_path with exactly six fields", func(t *testing.T) {
		r := c.call("list_chunks", obj{"prefix": "al/long.md"})
		e := r.list("entries")[0]
		if len(e) != 6 || e.num("chunk_count") < 2 || e.num("chunk_count") != e.num("active_count") || e["identity_id"] != nil || r["success"] != true {
			t.Errorf("%v", r)
		}
		want(t, "identity_id", c.call("list_chunks", obj{"prefix": "al/id.md"}).list("entries")[0]["identity_id"], "ART-7")
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", e.str("last_synced_at")); err != nil {
			t.Error(err)
		}
	})
	t.Run("total is before the limit and truncated says so", func(t *testing.T) {
		r := c.call("list_chunks", obj{"prefix": "al", "limit": 2})
		if r.num("total") != 7 || r["truncated"] != true || len(r.list("entries")) != 2 || r.str("prefix") != "al" || !strings.Contains(r.str("summary"), "7") {
			t.Errorf("%v", r)
		}
		r = c.call("list_chunks", obj{"prefix": "al", "limit": 7})
		if r["truncated"] != false {
			t.Errorf("%v", r)
		}
	})
	t.Run("content_hash follows the text, not the time", func(t *testing.T) {
		hash := func(path string) string {
			return c.call("list_chunks", obj{"prefix": path}).list("entries")[0].str("content_hash")
		}
		one := sha256.Sum256([]byte("third"))
		sum := sha256.Sum256(one[:])
		want(t, "hash of one chunk", hash("al/a_b.md"), hex.EncodeToString(sum[:]))
		before := hash("al/long.md")
		must(t, os.Chtimes(s.path("kbs/al/long.md"), time.Now(), time.Now()))
		c.call("rag_reindex", obj{"force": true})
		c.settle()
		want(t, "after a forced reindex", hash("al/long.md"), before)
		s.write("kbs/al/long.md", long+"!")
		c.settle()
		if hash("al/long.md") == before {
			t.Error("one more character, same hash")
		}
	})
	t.Run("superseded and deleted chunks appear only with includeDeprecated, never in search", func(t *testing.T) {
		s.write("kbs/be/z.md", "a replacement")
		must(t, os.Remove(s.path("kbs/al/A.md")))
		c.settle()
		e := c.call("list_chunks", obj{"prefix": "be/z.md"}).list("entries")[0]
		want(t, "chunks", fmt.Sprint(e.num("chunk_count"), e.num("active_count")), "1 1")
		e = c.call("list_chunks", obj{"prefix": "be/z.md", "includeDeprecated": true}).list("entries")[0]
		want(t, "chunks with deprecated", fmt.Sprint(e.num("chunk_count"), e.num("active_count")), "2 1")
		want(t, "deleted", paths(obj{"prefix": "al/A"}), "")
		e = c.call("list_chunks", obj{"prefix": "al/A", "includeDeprecated": "true"}).list("entries")[0]
		want(t, "deleted with deprecated", fmt.Sprint(e.num("chunk_count"), e.num("active_count")), "1 0")
		for _, q := range []string{"sixth", "fourth"} {
			if r := c.call("rag_search", obj{"query": q}); len(r.list("results")) != 0 {
				t.Errorf("%s is still found: %v", q, r)
			}
		}
	})
}
