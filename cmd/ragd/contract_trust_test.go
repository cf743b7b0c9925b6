package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Settings that travel with a folder are text like any other: they open no
// other folder, add no agent, and run nothing, wherever ragd is started.
func TestSettingsInAWatchedFolderAreNeverTrusted(t *testing.T) {
	settings := "[mcp]\nsurface = \"core\"\n[[agent]]\nname = \"stranger\"\n[[mount]]\nname = \"outside\"\ndir = \"/etc\"\n"
	files := map[string]string{"kbs/al/a.md": "the pump"}
	for _, name := range []string{".ragd", ".ragd.toml", "ragd.toml", "config.toml", ".config/ragd/config.toml"} {
		for _, dir := range []string{"kbs/", "kbs/al/"} {
			files[dir+name] = settings
		}
	}
	files["kbs/be/.ragd/config.toml"] = settings
	s := serve(t, "", files)
	c := s.fresh()
	want(t, "KBs", all(c.call("rag_list_kbs", obj{}).list("kbs"), "name"), "al be")
	want(t, "tools", len(strings.Fields(c.toolNames())), 14)
	if _, err := os.Lstat(s.agentSocket("stranger")); err == nil {
		t.Error("an agent of the folder's settings has a socket")
	}
	t.Chdir(s.path("kbs/al")) // commands look where they are started no more than the daemon does
	if out := s.ok("config"); strings.Contains(out, "stranger") || strings.Contains(out, "outside") || strings.Contains(out, "core") {
		t.Errorf("settings of the folder are in force:\n%s", out)
	}
	s.ok("reload")
	want(t, "KBs after a reload from there", fmt.Sprint(all(c.call("rag_list_kbs", obj{}).list("kbs"), "name"), len(strings.Fields(c.toolNames()))), "al be14")
}
