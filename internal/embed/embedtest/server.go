package embedtest

import (
	"encoding/json"
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

// Server answers the OpenAI embeddings API with Vector, in reverse order with
// correct indexes.
type Server struct {
	URL string // with the path prefix "/v1"
	Dim int

	// Fault, if set, may answer a request itself and then returns true. It is
	// called for one request at a time.
	Fault func(w http.ResponseWriter, r Request) bool

	mu   sync.Mutex
	seen []Request
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

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
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
