package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ragd/internal/fault"
)

// snippet is what one MCP host wants in its settings.
type snippet struct {
	Host string `json:"host"`
	File string `json:"file"`
	Text string `json:"text"`
}

// mcpHost is a program that starts MCP servers.
type mcpHost struct {
	name, file string
	text       func(name string, command []string, env map[string]string) (string, error)
}

func mcpHosts() []mcpHost {
	return []mcpHost{
		{"claude-desktop", "claude_desktop_config.json (Settings > Developer > Edit Config)", jsonHost("mcpServers", "")},
		{"claude-code", ".mcp.json in the project, or the command: claude mcp add --transport stdio NAME -- COMMAND", jsonHost("mcpServers", "stdio")},
		{"cursor", "~/.cursor/mcp.json", jsonHost("mcpServers", "")},
		{"vscode", ".vscode/mcp.json", jsonHost("servers", "stdio")},
		{"zed", "settings.json (zed: open settings file)", jsonHost("context_servers", "")},
		{"codex", "~/.codex/config.toml", tomlHost},
	}
}

func hostNames() []string {
	var names []string
	for _, h := range mcpHosts() {
		names = append(names, h.name)
	}
	return names
}

func checkHost(host string) error {
	for _, name := range append(hostNames(), "") {
		if host == name {
			return nil
		}
	}
	return usageError{fmt.Errorf("--host is %q; allowed: %s", host, strings.Join(hostNames(), ", "))}
}

func jsonHost(section, kind string) func(string, []string, map[string]string) (string, error) {
	return func(name string, command []string, env map[string]string) (string, error) {
		entry := struct {
			Type    string            `json:"type,omitempty"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env,omitempty"`
		}{kind, command[0], command[1:], env}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err := enc.Encode(map[string]any{section: map[string]any{name: entry}})
		return b.String(), err
	}
}

func tomlHost(name string, command []string, env map[string]string) (string, error) {
	// A JSON string is a TOML one, too, as long as it holds no DEL.
	quote := func(s string) (string, error) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(s)
		return strings.ReplaceAll(strings.TrimSpace(b.String()), "\x7f", `\u007f`), err
	}
	quoted := make([]string, len(command))
	for i, s := range command {
		var err error
		if quoted[i], err = quote(s); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = [%s]\n", name, quoted[0], strings.Join(quoted[1:], ", "))
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(env)) {
		value, err := quote(env[key])
		if err != nil {
			return "", err
		}
		pairs = append(pairs, key+" = "+value)
	}
	if len(pairs) > 0 {
		text += "env = { " + strings.Join(pairs, ", ") + " }\n"
	}
	return text, nil
}

// placeEnv are the variables that settings file and sockets are found by. Some
// hosts start servers with hardly any environment, so snippets carry them.
func placeEnv() map[string]string {
	env := map[string]string{}
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "RAGD_CONFIG"} {
		if v := os.Getenv(name); filepath.IsAbs(v) {
			env[name] = v
		}
	}
	return env
}

// snippets are those of all hosts, or of one.
func (a *app) snippets(agent, host string) ([]snippet, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fault.New(fault.Internal, "no_executable", "this program's own path is unknown").Because(err)
	}
	command := []string{exe}
	if a.file != "" {
		file, err := filepath.Abs(a.file)
		if err != nil {
			return nil, err
		}
		command = append(command, "--config", file)
	}
	command = append(command, "mcp", "--agent", agent)
	out := []snippet{}
	for _, h := range mcpHosts() {
		if host != "" && host != h.name {
			continue
		}
		text, err := h.text("ragd-"+agent, command, placeEnv())
		if err != nil {
			return nil, err
		}
		out = append(out, snippet{h.name, h.file, text})
	}
	return out, nil
}

func (a *app) printSnippets(list []snippet) error {
	p := a.page()
	for _, s := range list {
		p.line("")
		p.line("# %s: %s", s.Host, s.File)
		p.line("%s", visibleLines(s.Text))
	}
	return p.end()
}

// visibleLines makes each line visible; what is valid in a snippet stays so.
func visibleLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = visible(l)
	}
	return strings.Join(lines, "\n")
}
