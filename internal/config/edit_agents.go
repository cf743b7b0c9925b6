package config

import (
	"fmt"
	"strings"

	"ragd/internal/fault"
)

// AddAgent appends an [[agent]] to the settings file as AddMount does a
// mount. An empty Socket is left to its default.
func AddAgent(s Sources, a Agent) (string, error) {
	return editFile(s, func(path string, data []byte) ([]byte, error) {
		if err := checkAgentName(a.Name); err != nil {
			return nil, valueError("agent.name", allowedAgentName, Source{}, clip(fmt.Sprintf("%q", a.Name)), nil)
		}
		if err := editable(path, data, "agent"); err != nil {
			return nil, err
		}
		return append(withGap(data), agentText(a)...), nil
	})
}

// RemoveAgent takes the [[agent]] of that name out of the settings file.
func RemoveAgent(s Sources, name string) (string, error) {
	return editFile(s, func(path string, data []byte) ([]byte, error) {
		if err := editable(path, data, "agent"); err != nil {
			return nil, err
		}
		c, err := load(s, path, data)
		if err != nil {
			return nil, err
		}
		nth, err := c.agentNumber(name, path)
		if err != nil {
			return nil, err
		}
		for _, b := range scanBlocks(data) {
			if b.array && b.nth == nth && joinPath(b.path) == "agent" {
				return cut(data, b), nil
			}
		}
		return nil, fault.New(fault.Internal, "config_form", "the place of agent %q in %s was not found", name, path)
	})
}

// Agent returns the agent of that name.
func (c *Config) Agent(name string) (Agent, error) {
	nth, err := c.agentNumber(name, c.File)
	if err != nil {
		return Agent{}, err
	}
	return c.Agents[nth], nil
}

func (c *Config) agentNumber(name, path string) (int, error) {
	var names []string
	for i, a := range c.Agents {
		if a.Name == name {
			return i, nil
		}
		names = append(names, a.Name)
	}
	where := path
	if where == "" {
		where = "the settings"
	}
	e := fault.New(fault.NotFound, "agent_not_found", "no agent %q in %s", clip(name), where)
	if names == nil {
		return 0, e.WithHint("there is none yet; add one with: ragd agent add NAME --kb PATTERN")
	}
	return 0, e.WithHint("the agents are: %s", strings.Join(names, ", "))
}

func agentText(a Agent) string {
	var b strings.Builder
	list := func(key string, values []string) {
		if values == nil {
			return
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = quoteTOML(v)
		}
		fmt.Fprintf(&b, "%s = [%s]\n", key, strings.Join(quoted, ", "))
	}
	text := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, quoteTOML(value))
		}
	}
	b.WriteString("[[agent]]\n")
	text("name", a.Name)
	text("socket", a.Socket)
	list("kbs", a.KBs)
	list("tools", a.Tools)
	text("root", a.Root)
	if a.ReadOnly {
		b.WriteString("read_only = true\n")
	}
	if !a.Knowledge {
		b.WriteString("knowledge = false\n")
	}
	return b.String()
}
