package config

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ragd/internal/fault"
)

// Agent is a caller with a socket and a scope of its own.
type Agent struct {
	Name      string // unique
	Socket    string
	KBs       []string // globs over the names of knowledge bases; nil = all, empty = none
	ReadOnly  bool
	Tools     []string // it may call; nil = all
	Knowledge bool     // it may call search_knowledge
	Root      string   // the root it has selected; "" = all
	Source    Source
}

// AgentTools are the tools that an agent may be allowed to call.
func AgentTools() []string {
	return []string{
		"capsid_find_docs", "knowledge_status", "list_chunks", "rag_add_document", "rag_delete_document", "rag_delete_kb", "rag_jobs",
		"rag_list_documents", "rag_list_kbs", "rag_read", "rag_reindex", "rag_search", "rag_status", "search_knowledge",
	}
}

const (
	allowedAgentName = "1 to 48 of the characters a-z, 0-9, - and _, beginning with a letter or digit"
	allowedGlobs     = "patterns such as \"work-*\": * is any text, ? one character, [a-z] a class"
	maxAgents        = 200
	maxAgentGlobs    = 200
)

func checkAgentName(s string) error {
	if s == "" || len(s) > 48 || s[0] == '-' || s[0] == '_' {
		return errNotAllowed
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return errNotAllowed
		}
	}
	return nil
}

func checkGlob(s string) error {
	if s == "" || len(s) > 255 || !printable(s) {
		return errNotAllowed
	}
	if _, err := path.Match(s, "x"); err != nil {
		return fmt.Errorf("the pattern %q is malformed", clip(s))
	}
	return nil
}

func checkTool(s string) error {
	if !slices.Contains(AgentTools(), s) {
		return fmt.Errorf("there is no tool %q", clip(s))
	}
	return nil
}

// list reads a list of texts; nil when it is not given.
func (r tableReader) list(key string, most int, check func(string) error) ([]string, error) {
	v, ok := r.values[key]
	if !ok {
		return nil, nil
	}
	in := input{toml: v}
	raw, ok := v.([]any)
	if !ok {
		return nil, r.bad(key, in, errors.New("it is not a list, written [\"…\", \"…\"]"))
	}
	if len(raw) > most {
		return nil, r.bad(key, in, fmt.Errorf("it has more than %d entries", most))
	}
	out := make([]string, 0, len(raw))
	for _, e := range raw {
		s, ok := e.(string)
		if !ok {
			return nil, r.bad(key, in, errNotAllowed)
		}
		if err := check(s); err != nil {
			return nil, r.bad(key, in, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// text reads a text; "" when it is not given.
func (r tableReader) text(key string, check func(string) error) (string, error) {
	v, ok := r.values[key]
	if !ok {
		return "", nil
	}
	in := input{toml: v}
	s, err := in.str()
	if err == nil {
		err = check(s)
	}
	if err != nil {
		return "", r.bad(key, in, err)
	}
	return s, nil
}

// readAgents fills Agents from the file.
func (c *Config) readAgents(f *file, expand func(string) (string, error)) error {
	if len(f.agents) > maxAgents {
		return fault.New(fault.Invalid, "config_invalid", "%s has %d agents; at most %d are allowed", f.path, len(f.agents), maxAgents)
	}
	for i, values := range f.agents {
		a, err := readAgent(tableReader{f, expand, "agent", i, values})
		if err != nil {
			return err
		}
		for _, b := range c.Agents {
			if a.Name == b.Name {
				return fault.New(fault.Invalid, "config_invalid", "the agent %q is given twice (%s and %s)", a.Name, b.Source, a.Source).
					WithHint("give one of them another name")
			}
		}
		c.Agents = append(c.Agents, a)
	}
	return nil
}

func readAgent(r tableReader) (a Agent, err error) {
	a.Source = Source{Kind: "file", Name: r.f.path, Line: r.f.lines.of(r.nth, r.table, "name")}
	if _, ok := r.values["name"]; !ok {
		return a, fault.New(fault.Invalid, "config_invalid", "an [[agent]] in %s has no name", a.Source).WithHint("add: name = \"an-agent\"")
	}
	if a.Name, err = r.text("name", checkAgentName); err != nil {
		return a, err
	}
	if v, ok := r.values["socket"]; ok {
		in := input{toml: v, expand: r.expand, abs: true}
		s, err := in.str()
		if err == nil {
			a.Socket, err = in.path(s)
		}
		if err != nil {
			return a, r.bad("socket", in, err)
		}
	}
	if a.KBs, err = r.list("kbs", maxAgentGlobs, checkGlob); err != nil {
		return a, err
	}
	if a.Tools, err = r.list("tools", len(AgentTools()), checkTool); err != nil {
		return a, err
	}
	if a.ReadOnly, err = r.boolean("read_only"); err != nil {
		return a, err
	}
	a.Knowledge = true
	if _, ok := r.values["knowledge"]; ok {
		if a.Knowledge, err = r.boolean("knowledge"); err != nil {
			return a, err
		}
	}
	a.Root, err = r.text("root", checkKBName)
	return a, err
}

// placeAgents gives agents their default sockets and refuses what does not go
// together with other settings.
func (c *Config) placeAgents(s Sources) error {
	taken := map[string]string{c.Sockets.MCP: "sockets.mcp", c.Sockets.Admin: "sockets.admin"}
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Socket == "" {
			a.Socket = filepath.Join(s.runtimeDir(), "agents", a.Name+".sock")
		}
		if other, ok := taken[a.Socket]; ok {
			return fault.New(fault.Invalid, "config_invalid", "the agent %q (%s) has the socket of %s, %s", a.Name, a.Source, other, a.Socket).
				WithHint("give it another socket, or leave socket out")
		}
		taken[a.Socket] = "the agent \"" + a.Name + "\""
		if a.Root != "" && !slices.Contains(c.rootNames(), a.Root) {
			return fault.New(fault.Invalid, "config_invalid", "agent.root of %q (%s) is %q; allowed: %s", a.Name, a.Source, clip(a.Root), strings.Join(c.rootNames(), ", ")).
				WithHint("name a root, or leave root out to select all")
		}
	}
	return nil
}

// rootNames are the names of roots and, since a mount is a root of its own, of mounts.
func (c *Config) rootNames() []string {
	var names []string
	for _, r := range c.Roots {
		names = append(names, r.Name)
	}
	for _, m := range c.Mounts {
		names = append(names, m.Name)
	}
	return names
}

// show is an agent's scope in words.
func (a Agent) show() string {
	kbs := "all knowledge bases"
	switch {
	case a.KBs != nil && len(a.KBs) == 0:
		kbs = "no knowledge base"
	case a.KBs != nil:
		kbs = strings.Join(a.KBs, ", ")
	}
	s := kbs
	if a.ReadOnly {
		s += " (read-only)"
	}
	if a.Tools != nil {
		s += fmt.Sprintf(" (%d tools)", len(a.Tools))
	}
	if !a.Knowledge {
		s += " (without search_knowledge)"
	}
	if a.Root != "" {
		s += " (root " + a.Root + ")"
	}
	return s + " on " + a.Socket
}

// Same tells whether two agents may do the same on the same socket.
func (a Agent) Same(b Agent) bool {
	sameList := func(x, y []string) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) }
	return a.Name == b.Name && a.Socket == b.Socket && a.ReadOnly == b.ReadOnly && a.Knowledge == b.Knowledge && a.Root == b.Root &&
		sameList(a.KBs, b.KBs) && sameList(a.Tools, b.Tools)
}
