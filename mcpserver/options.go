package mcpserver

import (
	"log/slog"
	"time"
)

// Surface says which tools are listed; unlisted ones stay callable.
type Surface string

// The surfaces.
const (
	SurfaceFull Surface = "full"
	SurfaceCore Surface = "core" // advanced tools hidden from the list
)

// Options configure a Server.
type Options struct {
	Name    string // of the server, in initialize; "" = ragd
	Version string
	Agent   Agent
	Surface Surface // "" = full
	Limits  Limits

	// KnowledgeDisabled makes search_knowledge answer knowledge_runtime_disabled.
	KnowledgeDisabled bool
	Logger            *slog.Logger // nil = discard
}

// Agent is who calls through this server, and what it may do. The zero Agent
// may do everything.
type Agent struct {
	Name     string   // "" = unscoped
	KBs      []string // globs over KB names (path.Match); nil = all
	ReadOnly bool
	Tools    []string // names it may call; nil = all
	Root     string   // the root (tenant) it has selected; "" = all roots

	// NoKnowledge takes away the scope knowledge:read, which search_knowledge needs.
	NoKnowledge bool
}

// Limits bound what one client can cost. Zero fields take the defaults.
type Limits struct {
	LineBytes          int           // longest request; default 8 MiB
	Connections        int           // default 128
	CallsPerConnection int           // running at once; default 16
	CallTimeout        time.Duration // of one call, wait_ms on top; default 60 s
	WriteTimeout       time.Duration // of one reply to a slow reader; default 30 s
	Drain              time.Duration // how long Serve waits for calls at the end; default 2 s
	SnippetChars       int           // of a search result's content; default 1000
	SearchReplyChars   int           // of a whole default search reply; default 12000
	DocumentBytes      int64         // largest document that may be added; default 50 MiB
}

func (l Limits) withDefaults() Limits {
	def := func(p *int, d int) {
		if *p <= 0 {
			*p = d
		}
	}
	defTime := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	def(&l.LineBytes, 8<<20)
	def(&l.Connections, 128)
	def(&l.CallsPerConnection, 16)
	def(&l.SnippetChars, 1000)
	def(&l.SearchReplyChars, 12000)
	defTime(&l.CallTimeout, 60*time.Second)
	defTime(&l.WriteTimeout, 30*time.Second)
	defTime(&l.Drain, 2*time.Second)
	if l.DocumentBytes <= 0 {
		l.DocumentBytes = 50 << 20
	}
	return l
}
