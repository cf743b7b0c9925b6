package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragd/internal/config"
	"ragd/internal/fault"
)

func TestAgentsAreReadWithTheirDefaults(t *testing.T) {
	w := newWorld(t)
	w.write("[[root]]\nname = \"main\"\ndir = \"/r\"\n\n[[agent]]\nname = \"plain\"\n\n[[agent]]\nname = \"tight-1\"\nsocket = \"/s/t.sock\"\nkbs = [\"a\", \"work-*\"]\nread_only = true\ntools = [\"rag_search\"]\nknowledge = false\nroot = \"main\"\n\n[[agent]]\nname = \"none\"\nkbs = []\ntools = []\n")
	c := w.load()
	if len(c.Agents) != 3 {
		t.Fatalf("%+v", c.Agents)
	}
	a := c.Agents[0]
	if a.KBs != nil || a.Tools != nil || a.ReadOnly || !a.Knowledge || a.Root != "" ||
		a.Socket != filepath.Join(filepath.Dir(c.Sockets.MCP), "agents", "plain.sock") {
		t.Errorf("%+v", a)
	}
	a = c.Agents[1]
	if !slices.Equal(a.KBs, []string{"a", "work-*"}) || !slices.Equal(a.Tools, []string{"rag_search"}) || !a.ReadOnly || a.Knowledge || a.Root != "main" || a.Socket != "/s/t.sock" {
		t.Errorf("%+v", a)
	}
	if a = c.Agents[2]; a.KBs == nil || len(a.KBs) != 0 || a.Tools == nil {
		t.Errorf("an empty list is not the same as none: %+v", a)
	}
	if own := c.KBRoot().OwnDirs; !slices.Contains(own, "/s/t.sock") {
		t.Errorf("the agent's socket may be indexed: %v", own)
	}
}

func TestWrongAgentsAreRefusedNamingTheValue(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"no name":         {"[[agent]]\nkbs = [\"a\"]", []string{"no name"}},
		"bad name":        {"[[agent]]\nname = \"A b\"", []string{"agent.name", `"A b"`, "a-z"}},
		"path as name":    {"[[agent]]\nname = \"../x\"", []string{"agent.name"}},
		"twice":           {"[[agent]]\nname = \"a\"\n[[agent]]\nname = \"a\"", []string{"twice", ":2", ":4"}},
		"bad glob":        {"[[agent]]\nname = \"a\"\nkbs = [\"[x\"]", []string{"agent.kbs", `"[x"`}},
		"glob is no list": {"[[agent]]\nname = \"a\"\nkbs = \"x\"", []string{"agent.kbs", "list"}},
		"unknown tool":    {"[[agent]]\nname = \"a\"\ntools = [\"rag_searc\"]", []string{"agent.tools", "rag_searc", "rag_search"}},
		"unknown key":     {"[[agent]]\nname = \"a\"\nreadonly = true", []string{"agent.readonly", "agent.read_only"}},
		"unknown root":    {"[[root]]\nname = \"main\"\ndir = \"/r\"\n[[agent]]\nname = \"a\"\nroot = \"other\"", []string{"agent.root", "other", "main"}},
		"relative socket": {"[[agent]]\nname = \"a\"\nsocket = \"x.sock\"", []string{"agent.socket", "x.sock"}},
		"socket of MCP":   {"[sockets]\nmcp = \"/s/m.sock\"\n[[agent]]\nname = \"a\"\nsocket = \"/s/m.sock\"", []string{"sockets.mcp", "/s/m.sock"}},
		"socket of other": {"[[agent]]\nname = \"a\"\nsocket = \"/s/m.sock\"\n[[agent]]\nname = \"b\"\nsocket = \"/s/m.sock\"", []string{`"a"`, `"b"`}},
		"not a flag":      {"[[agent]]\nname = \"a\"\nread_only = \"yes please\"", []string{"agent.read_only"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(c.text)
			_, err := config.Load(w.Sources)
			if err == nil {
				t.Fatal("taken")
			}
			for _, s := range c.want {
				if !strings.Contains(err.Error(), s) && !strings.Contains(hintOf(err), s) {
					t.Errorf("%v (%s) does not say %q", err, hintOf(err), s)
				}
			}
		})
	}
}

func TestAddingAndRemovingAnAgentKeepsComments(t *testing.T) {
	w := newWorld(t)
	before := "# mine\nscan_interval = 60 # often\n\n[[agent]] # first\nname = \"a\"\n\n# about b\n[[agent]]\nname = \"b\"\n"
	w.write(before)
	add := config.Agent{Name: "c", KBs: []string{`q"x`, "w-*"}, Tools: []string{"rag_search"}, ReadOnly: true, Knowledge: false}
	if _, err := config.AddAgent(w.Sources, add); err != nil {
		t.Fatal(err)
	}
	if got := w.text(); !strings.HasPrefix(got, before+"\n") {
		t.Errorf("the file was changed elsewhere:\n%s", got)
	}
	c := w.load()
	add.Socket, add.Source = c.Agents[2].Socket, c.Agents[2].Source
	if !c.Agents[2].Same(add) {
		t.Errorf("%+v", c.Agents[2])
	}
	_, err := config.AddAgent(w.Sources, config.Agent{Name: "c", Knowledge: true})
	wantFault(t, err, "config_invalid", `"c"`, "twice")
	_, err = config.AddAgent(w.Sources, config.Agent{Name: "C", Knowledge: true})
	wantFault(t, err, "config_invalid", `"C"`)
	for _, name := range []string{"c", "a"} {
		if _, err := config.RemoveAgent(w.Sources, name); err != nil {
			t.Fatal(err)
		}
	}
	if want := "# mine\nscan_interval = 60 # often\n\n# about b\n[[agent]]\nname = \"b\"\n\n"; w.text() != want {
		t.Errorf("left %q", w.text())
	}
	_, err = config.RemoveAgent(w.Sources, "a")
	wantFault(t, err, "agent_not_found", `"a"`, "b")
}

func TestAgentsTakeEffectWithoutARestart(t *testing.T) {
	w := newWorld(t)
	w.write("[[agent]]\nname = \"a\"\n")
	before := w.load()
	for _, text := range []string{"", "[[agent]]\nname = \"a\"\nread_only = true\n", "[[agent]]\nname = \"a\"\nkbs = []\n", "[[agent]]\nname = \"a\"\n[[agent]]\nname = \"b\"\n"} {
		w.write(text)
		if live, restart := config.Diff(before, w.load()); !slices.Equal(live, []string{"agent"}) || restart != nil {
			t.Errorf("%q: %v %v", text, live, restart)
		}
	}
	w.write("[[agent]]\nname = \"a\"\n[mcp]\nsurface = \"core\"\n[knowledge]\nenabled = false\n")
	if live, restart := config.Diff(before, w.load()); !slices.Equal(live, []string{"mcp.surface", "knowledge.enabled"}) || restart != nil {
		t.Errorf("%v %v", live, restart)
	}
}

func hintOf(err error) string {
	if f, ok := fault.As(err); ok {
		return f.Hint
	}
	return ""
}
