// Package mcpserver is the agents' front door: MCP (Model Context Protocol)
// tools, resources and completions over any net.Listener, newline-delimited
// JSON-RPC, one session per connection, many clients at once.
//
// It owns the wire (lines, ids, cancellation, bounds), the agent's scope, the
// arguments and shapes of every tool, and the words of every answer. It does
// not search, index, walk or store: those are interfaces in deps.go, which
// the program fills in. The MCP library is imported nowhere else.
//
// # Names that are not UTF-8
//
// File and folder names are bytes; JSON strings are not. A name goes out as it
// is when it is valid UTF-8. A byte that is not part of valid UTF-8 goes out
// as U+FFFD followed by its two upper-case hex digits (caf<E9> → caf�E9), and
// so does each byte of a genuine U+FFFD, which keeps the mapping reversible.
// Arguments are read back the same way, so a name taken from one answer is
// always good in the next call. In rag:// URIs names are percent-encoded bytes.
package mcpserver
