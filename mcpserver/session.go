package mcpserver

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// SessionInfo is one connected client.
type SessionInfo struct {
	ID        string
	Name      string // of the agent
	Client    string // what the client calls itself, with its version
	Connected time.Time
	Calls     int64
	LastTool  string
	LastQuery string
}

// session is one connection's state. It is the library's ClientSession; all
// fields below mu are guarded by it.
type session struct {
	id        string
	agent     string
	conn      net.Conn
	timeout   time.Duration // of one write
	connected time.Time
	calls     atomic.Int64
	notify    chan mcp.JSONRPCNotification // from the library; drained by the connection
	hangup    func()                       // ends the connection's calls

	writeMu sync.Mutex // held across one write; never together with mu

	mu          sync.Mutex
	initialized bool
	version     string // negotiated protocol version
	client      mcp.Implementation
	level       mcp.LoggingLevel // "" until the client asks for log messages
	lastTool    string
	lastQuery   string
}

var (
	_ server.SessionWithLogging    = (*session)(nil)
	_ server.SessionWithClientInfo = (*session)(nil)
)

func newSession(id, agent string, conn net.Conn, timeout time.Duration, hangup func()) *session {
	return &session{
		id: id, agent: agent, conn: conn, timeout: timeout, connected: time.Now(), hangup: hangup,
		notify: make(chan mcp.JSONRPCNotification, 16),
	}
}

func (s *session) SessionID() string                                   { return s.id }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notify }

func (s *session) Initialize()       { s.locked(func() { s.initialized = true }) }
func (s *session) Initialized() bool { return get(s, func() bool { return s.initialized }) }

func (s *session) SetLogLevel(l mcp.LoggingLevel) { s.locked(func() { s.level = l }) }
func (s *session) GetLogLevel() mcp.LoggingLevel {
	return get(s, func() mcp.LoggingLevel { return s.level })
}

// ProtocolVersion is the negotiated one, "" before initialize.
func (s *session) ProtocolVersion() string     { return get(s, func() string { return s.version }) }
func (s *session) SetProtocolVersion(v string) { s.locked(func() { s.version = v }) }

func (s *session) GetClientInfo() mcp.Implementation {
	return get(s, func() mcp.Implementation { return s.client })
}

func (s *session) SetClientInfo(i mcp.Implementation) {
	i.Name, i.Version = clip(i.Name, 64), clip(i.Version, 32)
	s.locked(func() { s.client = mcp.Implementation{Name: i.Name, Version: i.Version} })
}

// GetClientCapabilities is empty; see SetClientCapabilities.
func (s *session) GetClientCapabilities() mcp.ClientCapabilities { return mcp.ClientCapabilities{} }

// SetClientCapabilities keeps nothing: the server asks nothing of its clients,
// and what they send is of any size.
func (s *session) SetClientCapabilities(mcp.ClientCapabilities) {}

func (s *session) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func get[T any](s *session, f func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// called notes a tool call for the status page.
func (s *session) called(tool, query string) {
	s.calls.Add(1)
	s.locked(func() {
		s.lastTool = tool
		if query != "" {
			s.lastQuery = clip(query, 200)
		}
	})
}

func (s *session) info() SessionInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.client.Name
	if s.client.Version != "" {
		client += " " + s.client.Version
	}
	return SessionInfo{
		ID: s.id, Name: s.agent, Client: client, Connected: s.connected,
		Calls: s.calls.Load(), LastTool: s.lastTool, LastQuery: s.lastQuery,
	}
}

// write sends one message. A reader that does not take it in time loses the
// connection, so that it holds nothing up.
func (s *session) write(msg []byte) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	err := s.conn.SetWriteDeadline(time.Now().Add(s.timeout))
	if err == nil {
		_, err = s.conn.Write(append(msg, '\n'))
	}
	if err != nil {
		// Half a message may be out: nothing after it could be understood.
		s.hangup()
		return fmt.Errorf("write to client: %w", err)
	}
	return nil
}

// send writes a notification at once, so that it comes before the reply of
// the call it belongs to. Failures show at the reply.
func (s *session) send(method string, params any) error {
	msg, err := encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	return s.write(msg)
}

// log tells the client something, if it asked for messages of that level.
func (s *session) log(level mcp.LoggingLevel, data any) {
	if min := s.GetLogLevel(); min == "" || !level.ShouldSendTo(min) {
		return
	}
	// A client that cannot be written to finds out at its next reply.
	_ = s.send("notifications/message", map[string]any{"level": level, "logger": "ragd", "data": data})
}

// progress reports how far a call is, if the client gave it a token.
func (s *session) progress(token json.RawMessage, done, total float64, message string) {
	if token == nil {
		return
	}
	_ = s.send("notifications/progress", map[string]any{
		"progressToken": token, "progress": done, "total": total, "message": message,
	})
}
