package config

import (
	"fmt"
	"strings"
)

// Reference is docs/settings.md: every setting, from the table.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Settings

A setting is taken from a flag, else from the environment, else from the settings file, else its default holds.
The file is ` + "`~/.config/ragd/config.toml`" + ` (` + "`$XDG_CONFIG_HOME/ragd/config.toml`" + `), or the one that ` + "`--config`" + ` or ` + "`RAGD_CONFIG`" + ` names; it may
be missing. ragd never looks for one in a watched folder or in the working folder. An unknown setting or a wrong value
stops the start with its name, place, value and what is allowed. A variable that is set but empty counts as not set.

` + "`ragd config`" + ` prints what is in force and where it came from. This page is made by
` + "`ragd config --keys --markdown > docs/settings.md`" + `; a test holds it against the program.

` + "```toml" + `
scan_interval = 300
exclude = ["*.bak", "drafts/"]

[[root]]                # every first-level folder of it is a knowledge base
dir = "~/knowledge"

[[mount]]               # one folder, wherever it lies, as a knowledge base (ragd add writes this)
name = "notes"
dir = "~/notes"
writable = true

[[agent]]               # a caller with a socket and a scope of its own (ragd agent add writes this)
name = "helper"
kbs = ["notes", "work-*"]
read_only = true

[watch]
poll = ["/mnt/nas"]
` + "```" + `

Settings marked ↻ take effect at ` + "`ragd reload`" + ` or SIGHUP, the others at the next start.

| setting | environment | default | allowed | |
|---|---|---|---|---|
`)
	for _, k := range Keys() {
		env := "`" + k.Env + "`"
		if k.Flag != "" {
			env += " `--" + k.Flag + "`"
		}
		mark := ""
		if k.Reload {
			mark = " ↻"
		}
		row(&b, "`"+k.Name+"`"+mark, env, k.Default, k.Allowed, k.Doc)
	}
	b.WriteString("\n| key | default | allowed | |\n|---|---|---|---|\n")
	for _, f := range Fields() {
		table, key, _ := strings.Cut(f.Name, ".")
		row(&b, "`[["+table+"]]` `"+key+"` ↻", f.Default, f.Allowed, f.Doc)
	}
	return b.String()
}

func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", strings.ReplaceAll(c, "|", "\\|"))
	}
	b.WriteString("|\n")
}
