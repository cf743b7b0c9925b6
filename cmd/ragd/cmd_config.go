package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ragd/internal/config"
)

// keyJSON is a setting as `ragd config --keys --json` prints it.
type keyJSON struct {
	Name    string `json:"name"`
	Env     string `json:"env,omitempty"`
	Flag    string `json:"flag,omitempty"`
	Default string `json:"default"`
	Allowed string `json:"allowed"`
	Doc     string `json:"doc"`
	Reload  bool   `json:"reload"` // takes effect without a restart
}

// configJSON is what `ragd config --json` prints.
type configJSON struct {
	File     string      `json:"file"`
	Values   []valueJSON `json:"values"`
	Notes    []string    `json:"notes"`
	Warnings []string    `json:"warnings"`
}

type valueJSON struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

func (a *app) configCommand() *cobra.Command {
	var keys, path, markdown bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Every setting, its value, and where it came from",
		Long: `Every setting in force and where it came from: flags, then the environment, then the
settings file, then defaults. --keys tells what each setting means and allows.`,
		Args: noArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			switch {
			case keys && path:
				return usageError{fmt.Errorf("--keys and --path are two different questions")}
			case markdown && (!keys || a.json):
				return usageError{fmt.Errorf("--markdown goes with --keys, and not with --json")}
			case markdown:
				_, err := io.WriteString(a.out, config.Reference())
				return err
			case keys:
				return a.printKeys()
			case path:
				file, _, err := a.sources().FilePath()
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]string{"file": file})
				}
				p := a.page()
				p.line("%s", visible(file))
				return p.end()
			}
			return a.printConfig()
		},
	}
	cmd.Flags().BoolVar(&keys, "keys", false, "what each setting means, and its names in file and environment")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "with --keys: as the page docs/settings.md")
	cmd.Flags().BoolVar(&path, "path", false, "only where the settings file is, or would be")
	return a.jsonFlag(cmd)
}

func (a *app) printConfig() error {
	c, err := a.config()
	if err != nil {
		return err
	}
	if a.json {
		out := configJSON{File: c.File, Values: []valueJSON{}, Notes: append([]string{}, c.Notes...), Warnings: append([]string{}, c.Warnings...)}
		for _, v := range c.Values() {
			out.Values = append(out.Values, valueJSON{v.Name, v.Value, v.Source.String()})
		}
		return a.printJSON(out)
	}
	p := a.page()
	t := newTable("SETTING", "VALUE", "FROM")
	for _, v := range c.Values() {
		value := v.Value
		if value == "" {
			value = "-"
		}
		t.add(v.Name, value, v.Source.String())
	}
	t.write(p, "")
	p.line("")
	if c.File == "" {
		p.line("no settings file (it would be %s)", visible(fileWouldBe(a.sources())))
	} else {
		p.line("settings file: %s", visible(c.File))
	}
	for _, n := range c.Notes {
		p.line("note: %s", visible(n))
	}
	for _, w := range c.Warnings {
		p.line("warning: %s", visible(w))
	}
	return p.end()
}

func fileWouldBe(s config.Sources) string {
	path, _, err := s.FilePath()
	if err != nil {
		return "unknown"
	}
	return path
}

func (a *app) printKeys() error {
	if a.json {
		var out []keyJSON
		for _, k := range config.Keys() {
			out = append(out, keyJSON{k.Name, k.Env, k.Flag, k.Default, k.Allowed, k.Doc, k.Reload})
		}
		for _, f := range config.Fields() {
			out = append(out, keyJSON{Name: f.Name, Default: f.Default, Allowed: f.Allowed, Doc: f.Doc, Reload: true})
		}
		return a.printJSON(out)
	}
	p := a.page()
	for _, k := range config.Keys() {
		names := k.Name + "  (" + k.Env
		if k.Flag != "" {
			names += ", --" + k.Flag
		}
		p.line("%s)", names)
		keyLines(p, k.Doc, k.Allowed, k.Default)
		if !k.Reload {
			p.line("    A change needs a restart.")
		}
		p.line("")
	}
	for _, f := range config.Fields() {
		p.line("%s", f.Name)
		keyLines(p, f.Doc, f.Allowed, f.Default)
		p.line("")
	}
	return p.end()
}

func keyLines(p *page, doc, allowed, def string) {
	p.line("    %s", doc)
	p.line("    Allowed: %s.", allowed)
	if def != "" {
		p.line("    Default: %s.", def)
	}
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			if a.json {
				return a.printJSON(map[string]string{"version": a.version})
			}
			_, err := io.WriteString(a.out, "ragd "+visible(a.version)+"\n")
			return err
		},
	}
	return a.jsonFlag(cmd)
}
