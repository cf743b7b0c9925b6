package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// The methods that get more than a look before the library has them.
const (
	methodCall          = "tools/call"
	methodListResources = "resources/list"
	methodReadResource  = "resources/read"
	methodGetPrompt     = "prompts/get"
)

// request is what a handler needs to know of the call it is answering beyond
// what the library hands it. Arguments go past the library: it would parse
// them twice, into maps, before anything has looked at their size.
type request struct {
	sess      *session
	args      json.RawMessage
	token     json.RawMessage // for progress; nil = not asked for
	modern    bool            // protocol without a handshake
	resources *mcp.ListResourcesResult
	contents  []mcp.ResourceContents
	prompt    string
}

type requestKey struct{}

func requestFrom(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

const (
	maxMethod = 128
	maxMeta   = 64 << 10 // bytes of a request's _meta
)

// answer runs one message through the library and returns the reply, nil for
// a notification. A panic becomes an internal error of this message.
func (c *conn) answer(ctx context.Context, env *envelope) (reply []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.log.Error("MCP request panicked", "method", clip(env.method, maxMethod), "panic", p, "stack", string(debug.Stack()))
			if !env.notification() {
				reply = errorReply(env.ID, &rpcError{Code: codeInternal, Message: "internal error"})
			}
		}
	}()
	req := &request{sess: c.sess}
	srv := c.srv.current()
	params, bad := srv.prepare(ctx, req, env)
	if bad != nil {
		if env.notification() {
			return nil
		}
		return errorReply(env.ID, bad)
	}
	ctx = context.WithValue(ctx, requestKey{}, req)
	msg, err := encode(inner{
		JSONRPC: "2.0", ID: c.innerID(env), Method: env.method, Params: params,
	})
	if err != nil {
		return errorReply(env.ID, &rpcError{Code: codeInvalidParams, Message: "params are not valid"})
	}
	out := srv.mcp.HandleMessage(ctx, msg)
	if env.notification() || out == nil {
		return nil
	}
	switch r := out.(type) {
	case mcp.JSONRPCResponse:
		return resultReply(env.ID, plainResult(r.Result))
	case mcp.JSONRPCError:
		return errorReply(env.ID, tidy(env.method, r.Error))
	}
	return errorReply(env.ID, &rpcError{Code: codeInternal, Message: "internal error"})
}

// plainResult is a tool's result in a form that encode writes without turning
// every < into six characters, as the library's own form would.
func plainResult(result any) any {
	r, ok := result.(*mcp.CallToolResult)
	if !ok {
		return result
	}
	return struct {
		Meta       *mcp.Meta       `json:"_meta,omitempty"`
		ResultType mcp.ResultType  `json:"resultType,omitempty"`
		Content    []mcp.Content   `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError,omitempty"`
	}{r.Meta, r.ResultType, r.Content, r.RawStructuredContent, r.IsError}
}

// inner is the message as the library gets it: under an id of ours, because
// the client's may be a number it would round.
type inner struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      *int64          `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

func (c *conn) innerID(env *envelope) *int64 {
	if env.notification() {
		return nil
	}
	n := c.srv.nextCall.Add(1)
	return &n
}

// prepare checks and reshapes a request's params, and does beforehand what
// the library has no place for.
func (s *Server) prepare(ctx context.Context, req *request, env *envelope) (json.RawMessage, *rpcError) {
	if len(env.method) > maxMethod {
		return nil, &rpcError{Code: codeNoMethod, Message: "no such method"}
	}
	var p struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if env.Params != nil && json.Unmarshal(env.Params, &p) != nil {
		return nil, &rpcError{Code: codeInvalidParams, Message: "params must be an object"}
	}
	if len(p.Meta) > maxMeta {
		return nil, &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf("_meta is over its limit of %d bytes", maxMeta)}
	}
	var meta struct {
		Token   json.RawMessage `json:"progressToken"`
		Version string          `json:"io.modelcontextprotocol/protocolVersion"`
	}
	if p.Meta != nil && json.Unmarshal(p.Meta, &meta) != nil {
		return nil, &rpcError{Code: codeInvalidParams, Message: "_meta must be an object with values of the documented types"}
	}
	if validID(meta.Token) {
		req.token = meta.Token
	}
	req.modern = meta.Version != "" && mcp.IsModernProtocol(meta.Version)
	switch env.method {
	case methodCall:
		return prepareCall(req, env.Params)
	case methodListResources:
		return s.prepareList(ctx, req, env.Params, p.Meta)
	case methodReadResource:
		return s.prepareRead(ctx, req, env.Params, p.Meta)
	case "logging/setLevel":
		if !req.sess.Initialized() && !req.modern {
			return nil, &rpcError{Code: codeInvalidRequest, Message: "initialize must come before logging/setLevel"}
		}
	case methodGetPrompt:
		return s.preparePrompt(ctx, req, env.Params, p.Meta)
	}
	return env.Params, nil
}

// prepareCall takes the arguments out of a tools/call.
func prepareCall(req *request, params json.RawMessage) (json.RawMessage, *rpcError) {
	var p struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      json.RawMessage `json:"_meta,omitempty"`
	}
	if params != nil && json.Unmarshal(params, &p) != nil {
		return nil, &rpcError{Code: codeInvalidParams, Message: "params must be an object"}
	}
	var name string
	if json.Unmarshal(p.Name, &name) != nil || name == "" || len(name) > maxMethod {
		return nil, &rpcError{Code: codeInvalidParams, Message: "name must be the name of a tool"}
	}
	req.args = p.Arguments
	return rebuild(map[string]any{"name": name}, p.Meta)
}

func rebuild(params map[string]any, meta json.RawMessage) (json.RawMessage, *rpcError) {
	if meta != nil && !isNull(meta) {
		params["_meta"] = meta
	}
	b, err := encode(params)
	if err != nil {
		return nil, &rpcError{Code: codeInvalidParams, Message: "params are not valid"}
	}
	return b, nil
}

// tidy rewords the library's errors that speak of its own insides.
func tidy(method string, e mcp.JSONRPCErrorDetails) *rpcError {
	switch {
	case strings.HasPrefix(e.Message, "unparsable "):
		return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf("the params of %s are not of the documented shape", method)}
	case e.Code == codeInternal:
		return &rpcError{Code: codeInternal, Message: "internal error"}
	}
	return &rpcError{Code: e.Code, Message: clip(e.Message, 500), Data: e.Data}
}
