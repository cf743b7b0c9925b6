package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ragd/internal/adminclient"
	"ragd/internal/config"
)

// app is what the commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	version  string

	file  string              // --config
	flags map[string]*setting // by the setting's name
	json  bool                // --json
}

// setting is a flag that stands for a setting. It is kept as text: config judges it.
type setting struct{ values []string }

func (s *setting) String() string     { return strings.Join(s.values, ",") }
func (s *setting) Type() string       { return "value" }
func (s *setting) Set(v string) error { s.values = append(s.values, v); return nil }

const exitHelp = `
Exit codes:
  0  done
  1  it failed
  2  the command line or a setting is wrong
  3  the daemon is not running
  4  what was named does not exist
  5  doctor found problems`

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ragd",
		Short: "A local knowledge daemon: what is in your files, found by you and your agents",
		Long: `ragd watches folders, indexes what is in their files, and answers searches:
of agents over MCP, and yours from this command line and from ragtui.

Start with:  ragd serve
then:        ragd add ~/notes
             ragd search "who services the boiler"
` + exitHelp,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		Args:              noArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetIn(a.in)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().StringVar(&a.file, "config", "", "the settings file (default ~/.config/ragd/config.toml)")
	a.flags = map[string]*setting{}
	for _, k := range config.Keys() {
		if k.Flag != "" {
			s := &setting{}
			a.flags[k.Name] = s
			doc, _, _ := strings.Cut(k.Doc, ". ")
			root.PersistentFlags().Var(s, k.Flag, strings.TrimSuffix(doc, ".")+" ("+k.Env+")")
		}
	}
	root.AddCommand(
		a.serveCommand(), a.mcpCommand(),
		a.searchCommand(), a.statusCommand(), a.jobsCommand(), a.retryCommand(),
		a.reindexCommand(), a.pauseCommand(), a.resumeCommand(),
		a.addCommand(), a.removeCommand(), a.ignoredCommand(), a.agentCommand(), a.auditCommand(),
		a.doctorCommand(), a.configCommand(), a.reloadCommand(), a.versionCommand(), a.workerCommand(), a.evalCommand(), a.modelCommand(),
	)
	return root
}

// sources are where this run's settings come from.
func (a *app) sources() config.Sources {
	flags := map[string][]string{}
	for name, s := range a.flags {
		if len(s.values) > 0 {
			flags[name] = s.values
		}
	}
	return config.FromOS(a.file, flags)
}

func (a *app) config() (*config.Config, error) { return config.Load(a.sources()) }

// client returns a client of the daemon that the settings lead to.
func (a *app) client() (*adminclient.Client, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	return adminclient.New(c.Sockets.Admin), nil
}

// jsonFlag adds --json to a command that prints data.
func (a *app) jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON")
	return cmd
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if cmd.HasSubCommands() {
			return usageError{fmt.Errorf("there is no command %q", args[0])}
		}
		return usageError{fmt.Errorf("%s takes no argument, and %q is one", cmd.Name(), args[0])}
	}
	return nil
}

// oneArg wants exactly one argument, named for the message.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s takes one %s; %d arguments were given", cmd.Name(), name, len(args))}
		}
		return nil
	}
}
