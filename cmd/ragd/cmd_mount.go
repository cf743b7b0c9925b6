package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ragd/internal/adminclient"
	"ragd/internal/config"
	"ragd/internal/fault"
)

// edited is what the commands that edit the settings file print as JSON.
type edited struct {
	Name    string `json:"name"`
	Dir     string `json:"dir,omitempty"`
	File    string `json:"config"`
	Applied bool   `json:"applied"` // the running daemon has taken it up
	Note    string `json:"note,omitempty"`

	// Of `ragd agent add`.
	Socket   string    `json:"socket,omitempty"`
	Snippets []snippet `json:"snippets,omitempty"`
}

func (a *app) addCommand() *cobra.Command {
	var m config.NewMount
	cmd := &cobra.Command{
		Use:   "add FOLDER",
		Short: "Make a folder, wherever it lies, a knowledge base",
		Long: `Make a folder, wherever it lies, a knowledge base. It is written into the settings
file as a [[mount]]; a running daemon takes it up at once. The folder's files are
only read, unless --writable lets agents add and delete documents in it.`,
		Example: "  ragd add ~/notes\n  ragd add /srv/wiki --name wiki",
		Args:    oneArg("folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := existingFolder(args[0])
			if err != nil {
				return err
			}
			m.Dir = dir
			if m.Name == "" {
				m.Name = filepath.Base(dir)
			}
			s := a.sources()
			file, err := config.AddMount(s, m)
			if err != nil {
				return err
			}
			e := edited{Name: m.Name, Dir: m.Dir, File: file}
			return a.tellDaemon(cmd.Context(), e, fmt.Sprintf("%s is now the knowledge base %s", visible(m.Dir), visible(m.Name)))
		},
	}
	cmd.Flags().StringVar(&m.Name, "name", "", "the knowledge base's name (default: the folder's)")
	cmd.Flags().BoolVar(&m.Writable, "writable", false, "agents may add and delete documents in it")
	cmd.Flags().BoolVar(&m.Poll, "poll", false, "look at it at intervals (for network mounts, which send no events)")
	return a.jsonFlag(cmd)
}

func existingFolder(arg string) (string, error) {
	dir, err := filepath.Abs(arg)
	if err != nil {
		return "", fault.New(fault.Invalid, "folder_invalid", "the working folder is unknown, so %q has no place", arg).Because(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fault.New(fault.NotFound, "folder_not_found", "the folder %s cannot be looked at", dir).Because(err).
			WithHint("check the path; ~ is expanded by the shell only where it is not in quotes")
	}
	if !info.IsDir() {
		return "", fault.New(fault.Invalid, "not_a_folder", "%s is not a folder", dir).
			WithHint("add the folder it lies in: ragd add %s", filepath.Dir(dir))
	}
	return dir, nil
}

func (a *app) removeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Undo add: the folder stays, its index goes",
		Long: `Take a knowledge base that was added with ragd add out of the settings file; a running
daemon drops its index at once. No file of it is touched.`,
		Args:              oneArg("name"),
		ValidArgsFunction: a.mountArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := config.RemoveMount(a.sources(), args[0])
			if err != nil {
				return err
			}
			return a.tellDaemon(cmd.Context(), edited{Name: args[0], File: file}, visible(args[0])+" is no longer a knowledge base; its files are untouched")
		},
	}
	return a.jsonFlag(cmd)
}

// tellDaemon makes a running daemon take the edited file up and says what came of it.
func (a *app) tellDaemon(ctx context.Context, e edited, done string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Reload(ctx)
	switch {
	case err == nil:
		e.Applied = true
	case adminclient.IsNotRunning(err):
		e.Note = "no daemon is running; it is taken up at the next start (ragd serve)"
	default:
		return fault.New(fault.KindOf(err), "reload_failed", "%s says it now, but the running daemon did not take it up", e.File).Because(err).
			WithHint("restart the daemon, or undo the change")
	}
	if a.json {
		return a.printJSON(e)
	}
	p := a.page()
	p.line("%s (%s)", done, visible(e.File))
	if e.Note != "" {
		p.line("%s", e.Note)
	}
	return p.end()
}

func (a *app) ignoredCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ignored PATH",
		Short: "Is this file indexed, and if not, which rule says so",
		Args:  oneArg("path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			v, err := c.Ignored(cmd.Context(), path)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			p := a.page()
			p.line("%s", visible(verdictText(v)))
			return p.end()
		},
	}
	return a.jsonFlag(cmd)
}

// keepsOld adds to what is wrong with the settings that nothing has changed.
func keepsOld(err error) error {
	e, ok := fault.As(err)
	if !ok || e.Kind != fault.Invalid && e.Kind != fault.Conflict {
		return err // there is no daemon, perhaps
	}
	more := *e
	more.Hint = strings.TrimPrefix(more.Hint+"; the running daemon goes on with its old settings", "; ")
	return &more
}

func (a *app) reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the daemon read its settings again",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return keepsOld(err)
			}
			defer c.Close()
			r, err := c.Reload(cmd.Context())
			if err != nil {
				return keepsOld(err)
			}
			if a.json {
				return a.printJSON(r)
			}
			p := a.page()
			if len(r.Applied)+len(r.NeedRestart) == 0 {
				p.line("nothing has changed")
			}
			for _, k := range r.Applied {
				p.line("in force: %s", visible(k))
			}
			for _, k := range r.NeedRestart {
				p.line("needs a restart: %s", visible(k))
			}
			return p.end()
		},
	}
	return a.jsonFlag(cmd)
}
