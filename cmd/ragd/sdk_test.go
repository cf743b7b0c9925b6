package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nodeModules is a folder of npm packages for tests with other people's
// clients: RAGD_TEST_NODE_MODULES, made by
// npm i @modelcontextprotocol/sdk @modelcontextprotocol/inspector @modelcontextprotocol/conformance.
func nodeModules(t *testing.T, needs string) string {
	t.Helper()
	dir := os.Getenv("RAGD_TEST_NODE_MODULES")
	if dir == "" {
		t.Skip("RAGD_TEST_NODE_MODULES names no folder of npm packages")
	}
	t.Setenv("RAGD_TEST_NODE_MODULES", "")
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node")
	}
	if _, err := os.Stat(filepath.Join(dir, needs)); err != nil {
		t.Skipf("%s is not installed in %s", needs, dir)
	}
	return dir
}

func forClients(t *testing.T) *served {
	s := serve(t, "", map[string]string{
		"kbs/notes/house.md": "# House\n\nThe boiler is serviced every October by Nordheim.", "kbs/notes/123.md": "Number 123.", "kbs/testValue2/a.md": "Of the conformance scenarios.",
	})
	s.fresh()
	return s
}

func TestTheOfficialSDKCallsEveryTool(t *testing.T) {
	modules := nodeModules(t, "@modelcontextprotocol/sdk")
	out, err := forClients(t).script(modules, "tools.mjs")
	t.Logf("%s", out)
	if err != nil || strings.Count(string(out), "ok ") < 17 {
		t.Error(err)
	}
}

// script runs a script of testdata/sdk with this program as the server.
func (s *served) script(modules, name string) ([]byte, error) {
	s.t.Helper()
	script, err := os.ReadFile("testdata/sdk/" + name)
	must(s.t, err)
	s.write("sdk/"+name, string(script))
	must(s.t, os.Symlink(modules, s.path("sdk/node_modules")))
	cmd := exec.Command("node", name, os.Args[0], "mcp")
	cmd.Dir = s.path("sdk")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd.CombinedOutput()
}

func TestTheConformanceScenariosPass(t *testing.T) {
	modules := nodeModules(t, "@modelcontextprotocol/conformance")
	out, err := forClients(t).script(modules, "conformance.mjs")
	t.Logf("%s", out)
	if strings.Contains(string(out), "SKIPPED") {
		t.Skip("the conformance package does not run here")
	}
	if err != nil || strings.Count(string(out), "ok ") != 13 {
		t.Error(err)
	}
}

func TestTheInspectorCallsEveryTool(t *testing.T) {
	modules := nodeModules(t, "@modelcontextprotocol/inspector")
	forClients(t)
	inspect := func(args ...string) (string, error) {
		all := append([]string{filepath.Join(modules, ".bin/mcp-inspector"), "--cli", "-e", asProgram + "=1", "-e", "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR"), os.Args[0], "mcp"}, args...)
		out, err := exec.Command("node", all...).CombinedOutput()
		return string(out), err
	}
	for _, c := range [][]string{
		{"rag_list_kbs"}, {"rag_list_documents", "kb=notes"}, {"rag_search", "query=boiler"}, {"rag_read", "kb=notes", "path=house.md"},
		{"rag_add_document", "kb=scratch", "path=n.md", "content=text"}, {"rag_delete_document", "kb=scratch", "path=n.md"}, {"rag_delete_kb", "kb=scratch", "confirm=true"},
		{"rag_reindex"}, {"rag_status"}, {"rag_jobs"}, {"capsid_find_docs"}, {"list_chunks", "prefix=notes/"}, {"knowledge_status", "projectId=notes"}, {"search_knowledge", "query=boiler"},
	} {
		args := []string{"--method", "tools/call", "--tool-name", c[0]}
		for _, a := range c[1:] {
			args = append(args, "--tool-arg", a)
		}
		out, err := inspect(args...)
		if err != nil || !strings.Contains(out, "structuredContent") || strings.Contains(out, `"isError": true`) {
			t.Errorf("%s: %v\n%s", c[0], err, out)
			continue
		}
		t.Log("ok ", fmt.Sprint(c))
	}
}
