package mcpserver

import (
	"cmp"
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// hookTools makes tools/list show the tools of the surface, in the
// catalogue's order. Hidden ones stay callable.
func (s *Server) hookTools(hooks *server.Hooks) {
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		order := make(map[string]int, len(s.tools))
		for i, t := range s.tools {
			if s.listed(t) {
				order[t.name] = i
			}
		}
		result.Tools = slices.DeleteFunc(result.Tools, func(t mcp.Tool) bool {
			_, ok := order[t.Name]
			return !ok
		})
		slices.SortFunc(result.Tools, func(a, b mcp.Tool) int { return cmp.Compare(order[a.Name], order[b.Name]) })
	})
}
