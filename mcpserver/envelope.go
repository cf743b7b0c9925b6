package mcpserver

import (
	"bytes"
	"encoding/json"
	"regexp"
	"unicode/utf8"
)

// JSON-RPC error codes.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeBusy           = -32000 // too many connections
	codeNoResource     = -32002
)

// envelope is one JSON-RPC message; the parts are kept as they came.
type envelope struct {
	JSONRPC json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`

	method string
}

// rpcError is a refusal at the level of JSON-RPC.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

const maxID = 256 // bytes of a request's id

// parseEnvelope checks everything about a message that does not depend on its
// method. With an error, env.ID is the id to answer to where one could be told.
func parseEnvelope(line []byte) (env envelope, err *rpcError) {
	if e := json.Unmarshal(line, &env); e != nil {
		env = envelope{}
		if json.Valid(line) {
			return env, &rpcError{Code: codeInvalidRequest, Message: "a message must be a JSON object"}
		}
		return env, &rpcError{Code: codeParse, Message: "the line is not valid JSON; send one JSON object per line"}
	}
	if !validID(env.ID) {
		env.ID = nil
		return env, &rpcError{Code: codeInvalidRequest, Message: "id must be a string of at most 256 bytes or a number"}
	}
	var version string
	if json.Unmarshal(env.JSONRPC, &version) != nil || version != "2.0" {
		return env, &rpcError{Code: codeInvalidRequest, Message: `jsonrpc must be "2.0"`}
	}
	if env.Method == nil && (env.Result != nil || env.Error != nil) {
		return env, nil // a reply to something we never asked; ignored
	}
	if json.Unmarshal(env.Method, &env.method) != nil || env.method == "" {
		return env, &rpcError{Code: codeInvalidRequest, Message: "method must be a string that is not empty"}
	}
	if isNull(env.Params) {
		env.Params = nil
	}
	if len(env.Params) > 0 && env.Params[0] != '{' {
		return env, &rpcError{Code: codeInvalidParams, Message: "params must be an object"}
	}
	if env.method != methodCall && !utf8.Valid(line) {
		return env, &rpcError{Code: codeParse, Message: "the line is not valid UTF-8"}
	}
	return env, nil
}

func (env *envelope) notification() bool { return env.ID == nil }

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

func validID(id json.RawMessage) bool {
	if id == nil {
		return true // a notification
	}
	if len(id) > maxID || len(id) == 0 || !utf8.Valid(id) {
		return false
	}
	c := id[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9'
}

// isBatch reports whether a line holds a JSON array.
func isBatch(line []byte) bool {
	trimmed := bytes.TrimLeft(line, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '['
}

var (
	idAtEnd   = regexp.MustCompile(`[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?[0-9]{1,20})\s*\}\s*$`)
	idAtStart = regexp.MustCompile(`^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,100}"\s*,\s*){0,2}"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?[0-9]{1,20})\s*,`)
)

// salvageID finds the id of a request that was too long to keep, so that its
// sender learns which one was refused. nil when it cannot be told.
func salvageID(long *tooLong) json.RawMessage {
	for _, try := range []struct {
		re   *regexp.Regexp
		text []byte
	}{{idAtStart, long.Head}, {idAtEnd, long.Tail}} {
		if m := try.re.FindSubmatch(try.text); m != nil && json.Valid(m[1]) && utf8.Valid(m[1]) {
			return m[1]
		}
	}
	return nil
}

// encode marshals without turning <, > and & into escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func errorReply(id json.RawMessage, e *rpcError) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpcError       `json:"error"`
	}{"2.0", id, e})
	if err != nil { // only Data can fail
		return errorReply(id, &rpcError{Code: e.Code, Message: e.Message})
	}
	return b
}

func resultReply(id json.RawMessage, result any) []byte {
	b, err := encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
	if err != nil {
		return errorReply(id, &rpcError{Code: codeInternal, Message: "internal error: the answer could not be encoded"})
	}
	return b
}
