package mcpserver

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"ragd/internal/store"
)

// completer completes the arguments of prompts and of the resource template:
// names of KBs in scope, and paths in the KB that the client has filled in
// already.
type completer struct{ s *Server }

const maxCompletions = 100

func (c completer) CompleteResourceArgument(ctx context.Context, uri string, a mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != uriTemplate || len(a.Value) > maxName {
		return &mcp.Completion{}, nil
	}
	switch a.Name {
	case "kb":
		return c.kbs(ctx, decodeName(a.Value))
	case "path":
		return c.paths(ctx, given.Arguments["kb"], decodeName(a.Value))
	}
	return &mcp.Completion{}, nil
}

func (c completer) CompletePromptArgument(ctx context.Context, _ string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if a.Name != "kb" || len(a.Value) > maxName {
		return &mcp.Completion{}, nil
	}
	return c.kbs(ctx, decodeName(a.Value))
}

func (c completer) kbs(ctx context.Context, start string) (*mcp.Completion, error) {
	refs, err := c.s.visible(ctx)
	if err != nil {
		return nil, err
	}
	out := &mcp.Completion{}
	for _, r := range refs {
		if !strings.HasPrefix(strings.ToLower(r.name), strings.ToLower(start)) {
			continue
		}
		out.Total++
		if len(out.Values) < maxCompletions {
			out.Values = append(out.Values, encodeName(r.name))
		}
	}
	out.HasMore = out.Total > len(out.Values)
	return out, nil
}

func (c completer) paths(ctx context.Context, kb, start string) (*mcp.Completion, error) {
	refs, err := c.s.visible(ctx)
	if err != nil {
		return nil, err
	}
	ref, ok := findKB(refs, decodeName(kb))
	if !ok || ref.id == 0 {
		return &mcp.Completion{}, nil // the same for a foreign KB
	}
	out := &mcp.Completion{}
	after := justBefore(start)
	for {
		docs, _, more, err := c.s.deps.Store.Documents(ctx, ref.id, store.Page{After: after, Limit: maxCompletions + 1}, nil)
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			after = d.Path
			switch {
			case d.Path < start:
				continue
			case !strings.HasPrefix(d.Path, start):
				return out, nil
			case len(out.Values) == maxCompletions:
				out.HasMore = true
				return out, nil
			}
			out.Values = append(out.Values, encodeName(d.Path))
		}
		if !more || len(docs) == 0 {
			return out, nil
		}
	}
}

// justBefore is a string below start in byte order, with few paths between
// the two.
func justBefore(start string) string {
	if start == "" {
		return ""
	}
	last := start[len(start)-1]
	if last == 0 {
		return start[:len(start)-1]
	}
	return start[:len(start)-1] + string([]byte{last - 1}) + strings.Repeat("\xff", 8)
}
