package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ragd/internal/fault"
)

// tool is one entry of the catalogue.
type tool struct {
	name     string
	title    string
	desc     string
	args     []arg
	out      schema // of success
	advanced bool   // hidden by the core surface
	jsonText bool   // the text block of an answer is its JSON
	writes   bool   // refused to a read-only agent

	knowledge bool // needs the scope knowledge:read

	destructive bool
	idempotent  bool

	run func(ctx context.Context, c *call) (*reply, error)

	// Set where a tool's failures have a shape of their own.
	failure       func(e *fault.Error, panicked bool) any
	failureSchema schema
}

// call is one call of a tool.
type call struct {
	*Server
	req *request
	v   values
}

// reply is a tool's answer: data goes out as structuredContent and must fit
// the tool's output schema; text says the same to a person
// (the JSON of data where the tool has jsonText).
type reply struct {
	data any
	text string
}

// failure is the structured part of a failed call.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (s *Server) mayCall(t *tool) bool {
	return s.opts.Agent.Tools == nil || slices.Contains(s.opts.Agent.Tools, t.name)
}

// listed reports whether a tool stands in tools/list.
func (s *Server) listed(t *tool) bool {
	a := s.opts.Agent
	refused := t.writes && a.ReadOnly || t.knowledge && a.NoKnowledge
	return !refused && !(t.advanced && s.opts.Surface == SurfaceCore)
}

func (s *Server) register(m *server.MCPServer, t *tool) error {
	in, err := encode(inputSchema(t.args))
	if err != nil {
		return fmt.Errorf("input schema of %s: %w", t.name, err)
	}
	if t.failureSchema == nil {
		t.failureSchema = failureSchema()
	}
	out, err := encode(outputSchema(t.out, t.failureSchema))
	if err != nil {
		return fmt.Errorf("output schema of %s: %w", t.name, err)
	}
	yes, no := true, false
	hint := func(b bool) *bool {
		if b {
			return &yes
		}
		return &no
	}
	m.AddTool(mcp.Tool{
		Name: t.name, Title: t.title, Description: t.desc, RawInputSchema: in, RawOutputSchema: out,
		Annotations: mcp.ToolAnnotation{
			Title: t.title, ReadOnlyHint: hint(!t.writes), DestructiveHint: hint(t.destructive),
			IdempotentHint: hint(t.idempotent), OpenWorldHint: hint(false),
		},
	}, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.call(ctx, t), nil
	})
	return nil
}

// call runs a tool; whatever goes wrong becomes a result that says so.
func (s *Server) call(ctx context.Context, t *tool) (result *mcp.CallToolResult) {
	req := requestFrom(ctx)
	defer func() {
		if p := recover(); p != nil {
			err := s.internal(t.name, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			result = s.failure(t, req, err, true)
		}
	}()
	if t.writes && s.opts.Agent.ReadOnly {
		return s.failed(t, req, fault.New(fault.Denied, "read_only", "%s changes knowledge bases, and this connection may only read", t.name).
			WithHint("Ask the owner to do it, or to allow writing for this agent in the configuration."))
	}
	v, err := decodeArgs(t.name, t.args, req.args)
	if err != nil {
		return s.failed(t, req, err)
	}
	req.sess.called(t.name, v.str("query"))
	ctx, cancel := context.WithTimeout(ctx, s.opts.Limits.CallTimeout+time.Duration(v.num("wait_ms", 0))*time.Millisecond)
	defer cancel()
	r, err := t.run(ctx, &call{Server: s, req: req, v: v})
	if err != nil {
		return s.failed(t, req, err)
	}
	return s.succeeded(t, req, r)
}

func (s *Server) succeeded(t *tool, req *request, r *reply) *mcp.CallToolResult {
	data, err := encode(r.data)
	if err != nil {
		return s.failed(t, req, err)
	}
	if t.jsonText {
		r.text = string(data)
	}
	return &mcp.CallToolResult{
		Content:              []mcp.Content{mcp.TextContent{Type: "text", Text: r.text}},
		RawStructuredContent: json.RawMessage(data),
	}
}

func (s *Server) failed(t *tool, req *request, err error) *mcp.CallToolResult {
	return s.failure(t, req, s.explain(t.name, err), false)
}

func (s *Server) failure(t *tool, req *request, e *fault.Error, panicked bool) *mcp.CallToolResult {
	if e.Kind == fault.Internal {
		req.sess.log(mcp.LoggingLevelError, e.Message)
	}
	if e.Hint == "" {
		whole := *e
		e = whole.WithHint("%s", nextStep(t, e))
	}
	var data any = failure{Code: e.Code, Message: e.Message, Hint: e.Hint}
	line := fmt.Sprintf("Error (%s): %s\nNext: %s", e.Code, showText(e.Message), showText(e.Hint))
	if t.failure != nil {
		data = t.failure(e, panicked)
	}
	raw, encErr := encode(data)
	if encErr != nil {
		raw = []byte(`{"code":"internal_error","message":"internal error"}`)
	}
	if t.jsonText {
		line = string(raw)
	}
	return &mcp.CallToolResult{
		IsError:              true,
		Content:              []mcp.Content{mcp.TextContent{Type: "text", Text: line}},
		RawStructuredContent: json.RawMessage(raw),
	}
}

// nextStep is what to do about a failure that does not say so itself.
func nextStep(t *tool, e *fault.Error) string {
	switch e.Kind {
	case fault.Invalid:
		return fmt.Sprintf("Correct what the message names and call %s again.", t.name)
	case fault.NotFound:
		return "rag_list_kbs and rag_list_documents show what there is."
	case fault.Denied, fault.Permanent:
		return "Leave it, or ask the owner; calling again gives the same answer."
	}
	return fmt.Sprintf("Call %s again in a moment; rag_status tells how the daemon is.", t.name)
}

// explain turns any error into one that may be shown.
func (s *Server) explain(where string, err error) *fault.Error {
	if e, ok := fault.As(err); ok && e.Kind != fault.Internal {
		if e.Err != nil {
			s.log.Debug("MCP call refused", "where", where, "code", e.Code, "error", e)
		}
		return s.discreet(e)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Cancelled, "timeout", "%s took too long and was given up", where).
			WithHint("Ask for less (one knowledge base, a smaller limit), or try again later.")
	case errors.Is(err, context.Canceled):
		return fault.New(fault.Cancelled, "cancelled", "%s was cancelled", where)
	}
	if e, ok := fault.As(err); ok && e.Code == "internal_error" {
		return e // made by internal
	}
	return s.internal(where, err)
}
