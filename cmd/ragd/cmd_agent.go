package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ragd/internal/config"
)

func (a *app) agentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Agents: callers with a socket and a scope of their own",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.agentAddCommand(), a.agentListCommand(), a.agentRemoveCommand(), a.agentSnippetCommand())
	return cmd
}

func (a *app) agentAddCommand() *cobra.Command {
	ag := config.Agent{Knowledge: true}
	var host string
	var noKnowledge bool
	cmd := &cobra.Command{
		Use:   "add NAME --kb PATTERN",
		Short: "Give an agent a socket that shows it some knowledge bases",
		Long: `Write an [[agent]] into the settings file and print what to put into an MCP host's
settings. A running daemon opens the agent's socket at once. What lies outside of
the agent's scope does not exist for it.`,
		Example: "  ragd agent add helper --kb notes --kb 'work-*' --read-only\n  ragd agent add coder --kb wiki --host claude-code",
		Args:    oneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(ag.KBs) == 0 {
				return usageError{fmt.Errorf("agent add needs --kb: the knowledge bases the agent may see ('*' = all)")}
			}
			if err := checkHost(host); err != nil {
				return err
			}
			ag.Name, ag.Knowledge = args[0], !noKnowledge
			file, err := config.AddAgent(a.sources(), ag)
			if err != nil {
				return err
			}
			c, err := a.config()
			if err != nil {
				return err
			}
			written, err := c.Agent(ag.Name)
			if err != nil {
				return err
			}
			snippets, err := a.snippets(ag.Name, host)
			if err != nil {
				return err
			}
			e := edited{Name: ag.Name, Socket: written.Socket, File: file, Snippets: snippets}
			if err := a.tellDaemon(cmd.Context(), e, "agent "+ag.Name+" has the socket "+visible(written.Socket)); err != nil || a.json {
				return err
			}
			return a.printSnippets(snippets)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&ag.KBs, "kb", nil, "knowledge bases it sees: a name or a pattern such as 'work-*' (may be repeated)")
	f.BoolVar(&ag.ReadOnly, "read-only", false, "refuse every tool that writes")
	f.StringSliceVar(&ag.Tools, "tool", nil, "tools it may call (may be repeated; default all)")
	f.StringVar(&ag.Root, "root", "", "the root it has selected (default all)")
	f.StringVar(&ag.Socket, "socket", "", "its socket (default ragd/agents/NAME.sock in XDG_RUNTIME_DIR)")
	f.BoolVar(&noKnowledge, "no-knowledge", false, "refuse search_knowledge")
	f.StringVar(&host, "host", "", "print the snippet of this host only: "+strings.Join(hostNames(), ", "))
	return a.jsonFlag(cmd)
}

// agentRow is an agent as `ragd agent list --json` prints it.
type agentRow struct {
	Name      string   `json:"name"`
	Socket    string   `json:"socket"`
	KBs       []string `json:"kbs"` // null = all
	ReadOnly  bool     `json:"read_only"`
	Tools     []string `json:"tools"` // null = all
	Knowledge bool     `json:"knowledge"`
	Root      string   `json:"root,omitempty"`
}

func (a *app) agentListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The agents and what they may do",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			if a.json {
				rows := []agentRow{}
				for _, g := range c.Agents {
					rows = append(rows, agentRow{g.Name, g.Socket, g.KBs, g.ReadOnly, g.Tools, g.Knowledge, g.Root})
				}
				return a.printJSON(rows)
			}
			p := a.page()
			if len(c.Agents) == 0 {
				p.line("no agents yet; all callers use %s. Add one with: ragd agent add NAME --kb PATTERN", visible(c.Sockets.MCP))
				return p.end()
			}
			t := newTable("AGENT", "KNOWLEDGE BASES", "MAY", "TOOLS", "ROOT", "SOCKET")
			for _, g := range c.Agents {
				may := "read and write"
				if g.ReadOnly {
					may = "read"
				}
				t.add(g.Name, listOrAll(g.KBs), may, listOrAll(g.Tools), g.Root, g.Socket)
			}
			t.write(p, "")
			return p.end()
		},
	}
	return a.jsonFlag(cmd)
}

func listOrAll(list []string) string {
	switch {
	case list == nil:
		return "all"
	case len(list) == 0:
		return "none"
	}
	return strings.Join(list, ", ")
}

func (a *app) agentRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "remove NAME",
		Short:             "Close an agent's socket for good",
		Args:              oneArg("name"),
		ValidArgsFunction: a.agentArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := config.RemoveAgent(a.sources(), args[0])
			if err != nil {
				return err
			}
			return a.tellDaemon(cmd.Context(), edited{Name: args[0], File: file}, "agent "+visible(args[0])+" is no longer let in")
		},
	}
	return a.jsonFlag(cmd)
}

func (a *app) agentSnippetCommand() *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use:               "snippet NAME",
		Short:             "What to put into an MCP host's settings",
		Args:              oneArg("name"),
		ValidArgsFunction: a.agentArg,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkHost(host); err != nil {
				return err
			}
			c, err := a.config()
			if err != nil {
				return err
			}
			if _, err := c.Agent(args[0]); err != nil {
				return err
			}
			snippets, err := a.snippets(args[0], host)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(snippets)
			}
			return a.printSnippets(snippets)
		},
	}
	cmd.Flags().StringVar(&host, "host", "", "this host only: "+strings.Join(hostNames(), ", "))
	return a.jsonFlag(cmd)
}

func (a *app) agentArg(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := a.config()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, g := range c.Agents {
		names = append(names, g.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
