package blackbox

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ragd/internal/embed/embedtest"
)

func TestAnEditWhileItsTextIsEmbeddedIsNotLost(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	release, asked := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	s.Fault = func(_ http.ResponseWriter, r embedtest.Request) bool {
		if slices.ContainsFunc(r.Input, func(in string) bool { return strings.Contains(in, "first walrus") }) && once.CompareAndSwap(false, true) {
			close(asked)
			<-release
		}
		return false
	}
	h := newHome(t, serverEnv(s.URL, "m", "EMBEDDINGS_TIMEOUT_MS=600000")...)
	h.write(t, "notes/a.md", "The first walrus sleeps.\n")
	h.serve(t)
	<-asked
	h.write(t, "notes/a.md", "A second walrus swims.\n")
	h.finds(t, "notes", "swims", "a.md")
	close(release)
	h.embedded(t, 1)
	if !slices.ContainsFunc(s.Inputs(), func(in string) bool { return strings.Contains(in, "second walrus") }) {
		t.Error("the new text was not embedded")
	}
	res, paths := h.meaning(t, "walrus")
	if len(paths) != 1 || !strings.Contains(res.Results[0].Content, "second") {
		t.Errorf("%+v", res.Results)
	}
}

func TestATextThatCouldNotBeEmbeddedIsTriedAgainWithoutATouch(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	var failures atomic.Int64
	s.Fault = func(w http.ResponseWriter, r embedtest.Request) bool {
		if !slices.ContainsFunc(r.Input, func(in string) bool { return strings.Contains(in, "walrus") }) || failures.Add(1) > 2 {
			return false
		}
		http.Error(w, "try later", http.StatusInternalServerError)
		return true
	}
	h := newHome(t, serverEnv(s.URL, "m")...)
	h.write(t, "notes/a.md", "The walrus sleeps.\n")
	h.serve(t)
	h.embedded(t, 1)
	if failures.Load() < 3 {
		t.Errorf("the server was asked %d times", failures.Load())
	}
	if e := h.status(t).Embedder; e.Failed != 0 {
		t.Errorf("%+v", e)
	}
}

// A hybrid search must not be one by meaning alone in disguise.
func TestAQuestionIsAlsoAnsweredByItsWords(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	h := newHome(t, serverEnv(s.URL, "m")...)
	h.write(t, "notes/melanie.md", "Melanie painted a beautiful sunrise over the lake in 2022, as she told us.\n")
	h.write(t, "notes/other.md", "A thing that somebody did at some time.\n")
	h.serve(t)
	h.embedded(t, 2)
	res, err := h.admin().Search(context.Background(), "When did Melanie paint a sunrise?", "", "hybrid", 10, true)
	must(t, err)
	if len(res.Results) == 0 || res.Results[0].Path != "melanie.md" {
		t.Fatalf("%+v", res.Results)
	}
	b, err := json.Marshal(res.Results[0].Explain)
	must(t, err)
	var e struct {
		Rank  int `json:"lexical_rank"`
		Terms string
	}
	must(t, json.Unmarshal(b, &e))
	if e.Rank != 1 || !strings.Contains(e.Terms, "sunris") {
		t.Errorf("by words: %s", b)
	}
}
