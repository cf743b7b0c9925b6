package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ragd/internal/wire"
)

// agents is the table of connected clients.
func (p *agentsPage) agents(w, most int) []string {
	st := p.sh.st
	var list []wire.Agent
	if p.sh.world.status != nil {
		list = p.sh.world.status.Agents
	}
	if len(list) == 0 {
		return []string{p.sh.section("Agents", "", w),
			"   " + st.Dim.Render(clip("No agent is connected. Give your MCP host the command: ragd mcp", w-4))}
	}
	right := ""
	if len(list) > most-1 {
		right = fmt.Sprintf("first %d of %d", most-1, len(list))
	}
	list = list[:min(len(list), most-1)]
	nameW, scopeW := len("Agents"), 0
	for _, a := range list {
		nameW = max(nameW, width(agentName(a, w)))
		scopeW = max(scopeW, width(scopeWords(a.Scope)))
	}
	nameW, scopeW = min(nameW, w/4), min(scopeW, w/3)
	head := fitRight("calls", 7) + fitRight("for", 6) + "  "
	if w < 60 {
		scopeW = 0
	} else {
		head += fit("may see", scopeW) + "  "
	}
	head += clip("last call", w-nameW-width(head)-width(right)-5)
	head = " " + st.Title.Render(fit("Agents", nameW+2)) + st.Dim.Render(head)
	lines := []string{head + spaces(w-width(head)-width(right)-1) + st.Dim.Render(right)}
	for _, a := range list {
		lines = append(lines, p.agentLine(a, nameW, scopeW, w))
	}
	return lines
}

// agentName is what an agent is called here, and what it calls itself.
func agentName(a wire.Agent, w int) string {
	name := visible(cmp.Or(a.Name, a.Client, "unnamed"))
	if a.Client != "" && a.Client != a.Name && w >= 70 {
		name += " (" + visible(a.Client) + ")"
	}
	return name
}

func (p *agentsPage) agentLine(a wire.Agent, nameW, scopeW, w int) string {
	last := "no call yet"
	if a.LastTool != "" {
		last = visible(a.LastTool)
		if a.LastQuery != "" {
			last += ": " + visible(a.LastQuery)
		}
	}
	row := fit(agentName(a, w), nameW) + fitRight(count(a.Calls), 7) + fitRight(shortSpan(p.sh.now().Sub(a.Connected)), 6) + "  "
	switch {
	case scopeW > 0:
		row += fit(scopeWords(a.Scope), scopeW) + "  "
	case a.Scope != nil:
		last = scopeWords(a.Scope) + " " + p.sh.g.Dot + " " + last
	}
	return "   " + row + p.sh.st.Dim.Render(clip(last, w-5-width(row)))
}

// scopeWords says what an agent may see and do, limits first.
func scopeWords(s *wire.Scope) string {
	if s == nil {
		return "everything"
	}
	var words []string
	if s.ReadOnly {
		words = append(words, "reads")
	}
	switch {
	case s.KBs == nil && s.Root == "":
		words = append(words, "all KBs")
	case s.KBs != nil && len(s.KBs) == 0:
		words = append(words, "no KB")
	default:
		words = append(words, visible(strings.Join(s.KBs, ", ")))
	}
	if s.Root != "" {
		words = append(words, "root "+visible(s.Root))
	}
	if s.Tools != nil {
		if words = append(words, plural(len(s.Tools), "tool", "tools")); len(s.Tools) < 4 {
			words[len(words)-1] = visible(strings.Join(s.Tools, ", "))
		}
	}
	if s.NoKnowledge {
		words = append(words, "no search_knowledge")
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "; ")
}
