package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

func mkdirAll(dir string) error { return os.MkdirAll(dir, 0o755) }

func (c *mcpClient) toolNames() string {
	c.t.Helper()
	return all(obj(c.request("tools/list", obj{})).list("tools"), "name")
}

func TestAgentsSeeTheirScopeAndNoMore(t *testing.T) {
	s := serve(t, "[[agent]]\nname = \"scoped\"\nkbs = [\"al\", \"work-*\"]\n[[agent]]\nname = \"reader\"\nkbs = [\"al\"]\nread_only = true\n"+
		"[[agent]]\nname = \"few\"\ntools = [\"rag_search\", \"rag_read\"]\n[[agent]]\nname = \"nothing\"\nkbs = []\n", map[string]string{
		"kbs/al/a.md": "the pump", "kbs/work-1/w.md": "the pump at work", "kbs/secret/s.md": "the secret pump", "kbs/secret/bad.pdf": "%PDF-1.4 no",
	})
	c := s.fresh()
	sc, reader := s.agent("scoped"), s.agent("reader")

	t.Run("in every tool, count and total", func(t *testing.T) {
		for tool, args := range map[string]obj{
			"rag_list_kbs": {}, "rag_search": {"query": "pump"}, "rag_status": {}, "rag_jobs": {}, "capsid_find_docs": {}, "list_chunks": {"prefix": "", "includeDeprecated": true}, "search_knowledge": {"query": "pump"},
		} {
			r := sc.call(tool, args)
			if text := fmt.Sprint(r); strings.Contains(text, "secret") {
				t.Errorf("%s shows what is not the agent's: %s", tool, text)
			}
		}
		want(t, "total of list_chunks", sc.call("list_chunks", obj{"prefix": ""}).num("total"), 2)
		want(t, "documents in rag_status", sc.call("rag_status", obj{}).num("documents"), 2)
		want(t, "total of rag_jobs", sc.call("rag_jobs", obj{}).num("total"), 0)
		want(t, "owner's rag_jobs", c.call("rag_jobs", obj{}).num("total"), 1)
		nothing := s.agent("nothing")
		want(t, "no KB at all", len(nothing.call("rag_search", obj{"query": "pump"}).list("results")), 0)
	})
	t.Run("not yours and does not exist are one answer", func(t *testing.T) {
		for tool, args := range map[string]obj{
			"rag_search": {"query": "pump", "kb": "K"}, "rag_list_documents": {"kb": "K"}, "rag_read": {"kb": "K", "path": "s.md"}, "rag_status": {"kb": "K"}, "rag_reindex": {"kb": "K"},
			"rag_add_document": {"kb": "K", "path": "x.md", "content": "x"}, "rag_delete_document": {"kb": "K", "path": "s.md"}, "rag_delete_kb": {"kb": "K", "confirm": true},
		} {
			answer := func(kb string) string {
				a := obj{}
				for k, v := range args {
					a[k] = v
				}
				a["kb"] = kb
				r, failed := sc.any(tool, a)
				return strings.ReplaceAll(fmt.Sprint(failed, r), kb, "K")
			}
			want(t, tool, answer("secret"), answer("absent"))
		}
		if _, err := os.Stat(s.path("kbs/secret/s.md")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.path("kbs/absent")); err == nil {
			t.Error("an agent made a KB outside its scope")
		}
	})
	t.Run("in resources and completions", func(t *testing.T) {
		if text := fmt.Sprint(sc.request("resources/list", obj{})); strings.Contains(text, "secret") || !strings.Contains(text, "work-1") {
			t.Error(text)
		}
		r := sc.request("completion/complete", obj{"ref": obj{"type": "ref/prompt", "name": fmt.Sprint(obj(sc.request("prompts/list", obj{})).list("prompts")[0]["name"])}, "argument": obj{"name": "kb", "value": ""}})
		if text := fmt.Sprint(r); strings.Contains(text, "secret") {
			t.Error(text)
		}
	})
	t.Run("a read-only agent gets read_only from what writes, and tools it may not call are not listed", func(t *testing.T) {
		for tool, args := range map[string]obj{
			"rag_add_document": {"kb": "al", "path": "n.md", "content": "x"}, "rag_delete_document": {"kb": "al", "path": "a.md"}, "rag_delete_kb": {"kb": "al", "confirm": true}, "rag_reindex": {},
		} {
			want(t, tool, reader.refused(tool, args).str("code"), "read_only")
		}
		if names := reader.toolNames(); strings.Contains(names, "add") || strings.Contains(names, "delete") {
			t.Error(names)
		}
		few := s.agent("few")
		want(t, "tools", few.toolNames(), "rag_search rag_read")
		if m, err := few.try("tools/call", obj{"name": "rag_status", "arguments": obj{}}); err != nil || m["error"] == nil {
			t.Errorf("%v %v", m, err)
		}
	})
	t.Run("in what is degraded", func(t *testing.T) {
		must(t, os.Rename(s.path("other"), s.path("gone")))
		degraded := func(c *mcpClient, kb any) string {
			return fmt.Sprint(c.call("rag_search", obj{"query": "pump", "wait_ms": 300, "kb": kb}).obj("freshness")["degraded"])
		}
		for i := 0; !strings.Contains(degraded(c, nil), "other"); i++ {
			if i == 100 {
				t.Fatal("nobody is told that a root is gone: ", degraded(c, nil))
			}
			time.Sleep(100 * time.Millisecond)
		}
		want(t, "an agent of the other root's KBs alone", degraded(sc, nil), nil)
		want(t, "a search of the other root's KBs alone", degraded(c, "al"), nil)
		must(t, os.Rename(s.path("gone"), s.path("other")))
	})
	t.Run("a socket is its owner's alone", func(t *testing.T) {
		info, err := os.Stat(s.agentSocket("scoped"))
		must(t, err)
		want(t, "mode", info.Mode().Perm().String(), "-rw-------")
	})
}

func TestAgentsComeAndGoWithoutARestart(t *testing.T) {
	s := serve(t, "[[agent]]\nname = \"one\"\nkbs = [\"al\"]\n", map[string]string{"kbs/al/a.md": "the pump", "kbs/be/b.md": "the pump of be"})
	s.fresh()
	one := s.agent("one")
	found := func(c *mcpClient) string {
		return all(c.call("rag_search", obj{"query": "pump"}).list("results"), "kb")
	}
	want(t, "at first", found(one), "al")

	s.settings("[[agent]]\nname = \"one\"\nkbs = [\"be\"]\nread_only = true\n[[agent]]\nname = \"two\"\nkbs = [\"al\"]\n[mcp]\nsurface = \"core\"\n")
	if out := s.ok("reload"); !strings.Contains(out, "in force: agent") || !strings.Contains(out, "in force: mcp.surface") {
		t.Error(out)
	}
	want(t, "the same connection, another scope", found(one), "be")
	want(t, "write", one.refused("rag_add_document", obj{"kb": "be", "path": "x.md", "content": "x"}).str("code"), "read_only")
	want(t, "the new agent", found(s.agent("two")), "al")
	if names := one.toolNames(); strings.Contains(names, "list_chunks") || !strings.Contains(names, "rag_search") {
		t.Error(names)
	}
	one.call("list_chunks", obj{"prefix": ""}) // hidden tools stay callable

	// A bad file, and one whose socket cannot be opened, leave the old settings in force.
	s.settings("[[agent]]\nname = \"one\"\nkbs = \"x\"\n")
	s.fails(exitUsage, "agent.kbs", "reload")
	s.fails(exitUsage, "goes on with its old settings", "reload")
	want(t, "after a bad file", found(one), "be")
	must(t, os.WriteFile(s.path("taken"), []byte("not a socket"), 0o600))
	s.settings(fmt.Sprintf("[[agent]]\nname = \"three\"\nsocket = %q\n", s.path("taken")))
	if code, _, errOut := s.ragd("reload"); code == 0 || !strings.Contains(errOut, "no socket") {
		t.Errorf("%d %s", code, errOut)
	}
	want(t, "after a socket that cannot be", found(one), "be")

	// SIGHUP does what reload does; the removed agent's socket closes with its connections.
	s.settings("[[agent]]\nname = \"two\"\nkbs = [\"al\"]\n")
	must(t, s.cmd.Process.Signal(syscall.SIGHUP))
	for range 100 {
		if _, err := net.Dial("unix", s.agentSocket("one")); err != nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := net.Dial("unix", s.agentSocket("one")); err == nil {
		t.Error("the removed agent's socket still answers")
	}
	if m, err := one.try("ping", obj{}); err == nil {
		t.Errorf("the removed agent's connection still answers: %v", m)
	}
	want(t, "who stays is not disturbed", found(s.agent("two")), "al")
}

func TestTheAgentCommands(t *testing.T) {
	s := serve(t, "# my own words\n", map[string]string{"kbs/al/a.md": "the pump", "kbs/be/b.md": "the pump of be"})
	s.fresh()
	s.fails(exitUsage, "--kb", "agent", "add", "helper")
	s.fails(exitUsage, "--host", "agent", "add", "helper", "--kb", "al", "--host", "emacs")
	s.fails(exitUsage, "agent.name", "agent", "add", "Bad Name", "--kb", "al")
	s.fails(exitUsage, "agent.tools", "agent", "add", "helper", "--kb", "al", "--tool", "rm")
	out := s.ok("agent", "add", "helper", "--kb", "al", "--read-only")
	for _, part := range []string{"agents/helper.sock", "claude-desktop", "claude-code", "cursor", "vscode", "zed", "codex", `"mcpServers"`, `"context_servers"`, "[mcp_servers.ragd-helper]", `"--agent"`} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	want(t, "taken up at once", all(s.agent("helper").call("rag_search", obj{"query": "pump"}).list("results"), "kb"), "al")
	var codex struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal([]byte(s.ok("agent", "snippet", "helper", "--host", "codex")), &codex); err != nil || codex.Servers["ragd-helper"].Env["XDG_RUNTIME_DIR"] != s.path("run") {
		t.Errorf("%v %+v", err, codex)
	}
	if out := s.ok("agent", "list"); !strings.Contains(out, "helper") || !strings.Contains(out, "al") {
		t.Error(out)
	}
	var snippets []snippet
	must(t, json.Unmarshal([]byte(s.ok("agent", "snippet", "helper", "--json")), &snippets))
	want(t, "snippets", len(snippets), 6)
	var v struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Env           map[string]string
		}
	}
	must(t, json.Unmarshal([]byte(snippets[3].Text), &v))
	if e := v.Servers["ragd-helper"]; e.Type != "stdio" || e.Command == "" || strings.Join(e.Args, " ") != "mcp --agent helper" {
		t.Errorf("%+v", v)
	}

	// The bridge carries an agent's messages to its own socket, also in a host
	// that hands on nothing of its environment.
	entry := v.Servers["ragd-helper"]
	cmd := exec.Command(entry.Command, entry.Args...)
	cmd.Env = []string{asProgram + "=1", "HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	for name, value := range entry.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"rag_list_kbs","arguments":{}}}` + "\n")
	bridged, err := cmd.Output()
	if err != nil || !strings.Contains(string(bridged), `"al"`) || strings.Contains(string(bridged), `"be"`) {
		t.Errorf("%v\n%s", err, bridged)
	}
	s.fails(exitNotFound, "helper", "mcp", "--agent", "nobody")
	s.fails(exitNotFound, "helper", "agent", "remove", "nobody")
	s.ok("agent", "remove", "helper")
	if _, err := net.Dial("unix", s.agentSocket("helper")); err == nil {
		t.Error("the socket still answers")
	}
	text, err := os.ReadFile(s.path(".config/ragd/config.toml"))
	if err != nil || !strings.Contains(string(text), "# my own words") || strings.Contains(string(text), "agent") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestEveryWriteByAnAgentIsInTheAuditLog(t *testing.T) {
	s := serve(t, "[[agent]]\nname = \"writer\"\nkbs = [\"al\"]\n", map[string]string{"kbs/al/a.md": "the pump"})
	c := s.fresh()
	w := s.agent("writer")
	w.call("rag_add_document", obj{"kb": "al", "path": "new.md", "content": "hello"})
	w.call("rag_add_document", obj{"kb": "al", "path": "new.md", "content": "hello again"})
	w.call("rag_delete_document", obj{"kb": "al", "path": "new.md"})
	w.refused("rag_add_document", obj{"kb": "al", "path": ".git/config", "content": "x"})
	c.call("rag_reindex", obj{"force": true})
	c.call("rag_delete_kb", obj{"kb": "al", "confirm": true})
	var entries []auditEntry
	must(t, json.Unmarshal([]byte(s.ok("audit", "--json")), &entries))
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Agent, " ", e.Action, " ", e.KB, "/", e.Path, " ", len(e.Before), ">", len(e.After), " ", e.Outcome == "ok"))
		if e.Client != "contract 1" || time.Since(e.At) > time.Minute {
			t.Errorf("%+v", e)
		}
	}
	want(t, "entries", strings.Join(got, "\n"), strings.Join([]string{
		"writer add_document al/new.md 0>64 true", "writer add_document al/new.md 64>64 true", "writer delete_document al/new.md 64>0 true",
		"writer add_document al/.git/config 0>0 false", " reindex / 0>0 true", " delete_kb al/ 0>0 true",
	}, "\n"))
	if entries[1].Before != entries[0].After {
		t.Error("the hash before is not the one after the last write")
	}
	info, err := os.Stat(s.path(".local/share/ragd/audit.jsonl"))
	must(t, err)
	want(t, "mode", info.Mode().Perm().String(), "-rw-------")
	if out := s.ok("audit", "--agent", "writer", "--limit", "1"); !strings.Contains(out, ".git/config") || strings.Contains(out, "delete_kb") {
		t.Error(out)
	}
}

func TestTheAuditLogIsBounded(t *testing.T) {
	l := auditIn(t.TempDir())
	l.max = 4096
	for i := range 500 {
		must(t, l.append(auditEntry{At: time.Now(), Action: "add_document", Path: fmt.Sprint(i), Outcome: "ok"}))
	}
	files, err := os.ReadDir(l.path[:len(l.path)-len(auditName)])
	must(t, err)
	want(t, "files", len(files), auditKept+1)
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > 4096 || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("{half a line\n")
	must(t, err)
	must(t, f.Close())
	got, bad, err := l.read(60, func(auditEntry) bool { return true })
	if err != nil || bad != 1 || len(got) != 60 || got[59].Path != "499" || got[0].Path != "440" {
		t.Errorf("%d entries, %d bad, %v", len(got), bad, err)
	}
}
