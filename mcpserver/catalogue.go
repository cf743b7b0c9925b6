package mcpserver

import (
	"github.com/mark3labs/mcp-go/server"
)

// catalogue lists every tool this server can offer, in the order an agent
// meets them: find, read, list, then change and look after. A tool is one file;
// this is the only place that knows them all.
func (s *Server) catalogue() []*tool {
	tools := []*tool{
		toolSearch(), toolRead(), toolListKBs(), toolListDocuments(),
		toolAddDocument(), toolDeleteDocument(), toolDeleteKB(),
		toolReindex(), toolStatus(), toolJobs(),
	}
	if s.deps.Docs != nil {
		tools = append(tools, toolFindDocs())
	}
	if s.deps.Chunks != nil {
		tools = append(tools, toolListChunks())
	}
	return append(tools, toolKnowledgeStatus(), toolSearchKnowledge())
}

const instructions = `ragd holds knowledge bases: folders of documents on this machine, indexed as they change.
Find: rag_search with a self-contained query (nothing is remembered between calls). Its results cite kb, path and lines.
Read: rag_read with that kb and path when a result's excerpt is not enough.
List: rag_list_kbs and rag_list_documents to see what there is.
When a search is empty, its reason says why; when freshness says pending or failed, rag_status and rag_jobs tell more.`

// build makes the library's server with the tools this agent may call.
func (s *Server) build() *server.MCPServer {
	hooks := &server.Hooks{}
	s.hookTools(hooks)
	s.hookResources(hooks)
	m := server.NewMCPServer(s.opts.Name, s.opts.Version,
		server.WithTitle("ragd knowledge bases"),
		server.WithInstructions(instructions),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithResourceCompletionProvider(completer{s}),
		server.WithPromptCompletionProvider(completer{s}),
		server.WithCompletions(),
		server.WithLogging(),
		server.WithHooks(hooks),
	)
	for _, t := range s.catalogue() {
		if !s.mayCall(t) {
			continue
		}
		if err := s.register(m, t); err != nil {
			// Schemas are literals of this package; a test registers them all.
			panic("mcpserver: " + err.Error())
		}
		s.tools = append(s.tools, t)
	}
	s.addResources(m)
	s.addPrompts(m)
	return m
}
