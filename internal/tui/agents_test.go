package tui

import (
	"testing"

	"ragd/internal/wire"
)

func TestAgentsScopeIsSaid(t *testing.T) {
	for want, s := range map[string]*wire.Scope{
		"everything": nil,
		"all KBs":    {},
		"reads; notes, work-*; rag_search, rag_read": {ReadOnly: true, KBs: []string{"notes", "work-*"}, Tools: []string{"rag_search", "rag_read"}},
		"no KB; 4 tools; no search_knowledge":        {KBs: []string{}, Tools: []string{"a", "b", "c", "d"}, NoKnowledge: true},
		"root ␛[2Jx":                                 {Root: "\x1b[2Jx"},
	} {
		if got := scopeWords(s); got != want {
			t.Errorf("%+v is said as %q, not %q", s, got, want)
		}
	}
}
