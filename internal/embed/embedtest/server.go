package embedtest

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Request is one request of the OpenAI embeddings API as the server saw it.
type Request struct {
	Model         string   `json:"model"`
	Input         []string `json:"input"`
	Dimensions    *int     `json:"dimensions"`
	Authorization string   `json:"-"`
}

// ChatRequest is one request of the OpenAI chat API as the server saw it.
type ChatRequest struct {
	Model         string `json:"model"`
	Authorization string `json:"-"`
	Messages      []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
}

// Server answers the OpenAI embeddings API with Vector, in reverse order with
// correct indexes, and the chat API as Chat says.
type Server struct {
	URL string // with the path prefix "/v1"
	Dim int

	// Fault, if set, may answer a request itself and then returns true. It is
	// called for one request at a time.
	Fault func(w http.ResponseWriter, r Request) bool

	// Chat, if set, answers the chat API: what it returns is the message, and
	// a status other than 0 is answered instead of one.
	Chat func(r ChatRequest) (message string, status int)

	mu      sync.Mutex
	seen    []Request
	chatted []ChatRequest
}

// NewServer starts a server that stops with the test.
func NewServer(t testing.TB, dim int) *Server {
	t.Helper()
	s := &Server{Dim: dim}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL + "/v1"
	return s
}

// NewServerAt starts a server at an address that may have been free until now.
func NewServerAt(t testing.TB, address string, dim int) *Server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Dim: dim, URL: "http://" + address + "/v1"}
	h := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	_ = h.Listener.Close() // nobody has been told of it
	h.Listener = l
	h.Start()
	t.Cleanup(h.Close)
	return s
}

// Inputs returns all texts that were asked about so far.
func (s *Server) Inputs() (out []string) {
	for _, r := range s.Seen() {
		out = append(out, r.Input...)
	}
	return out
}

// Chatted returns the requests of the chat API so far.
func (s *Server) Chatted() []ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ChatRequest(nil), s.chatted...)
}

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) {
	var req ChatRequest
	if s.Chat == nil || json.NewDecoder(r.Body).Decode(&req) != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	req.Authorization = r.Header.Get("Authorization")
	s.mu.Lock()
	s.chatted = append(s.chatted, req)
	s.mu.Unlock()
	message, status := s.Chat(req)
	if status != 0 {
		http.Error(w, message, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client may be gone
		"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": message}}},
	})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/chat/completions" && r.Method == http.MethodPost {
		s.serveChat(w, r)
		return
	}
	var req Request
	if r.URL.Path != "/v1/embeddings" || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	req.Authorization = r.Header.Get("Authorization")
	s.mu.Lock()
	s.seen = append(s.seen, req)
	s.mu.Unlock()
	if s.Fault != nil && s.Fault(w, req) {
		return
	}
	Answer(w, Rows(req.Input, s.Dim))
}

// Row is one element of an answer's data.
type Row struct {
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// Rows returns the right rows for the inputs, last first.
func Rows(inputs []string, dim int) []Row {
	out := make([]Row, 0, len(inputs))
	for i := len(inputs) - 1; i >= 0; i-- {
		out = append(out, Row{i, Vector(inputs[i], dim)})
	}
	return out
}

// Answer writes rows as the API does.
func Answer(w http.ResponseWriter, rows []Row) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": rows}) // the client may be gone
}
