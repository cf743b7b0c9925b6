package blackbox

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"ragd/internal/embed/embedtest"
)

// contextServer writes a sentence about each chunk that names its document.
func contextServer(t *testing.T) *embedtest.Server {
	s := embedtest.NewServer(t, 48)
	s.Chat = func(r embedtest.ChatRequest) (string, int) {
		prompt := r.Messages[len(r.Messages)-1].Content
		if strings.Contains(prompt, "cursed") {
			return "no", http.StatusBadRequest
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(prompt, "Title: "), "\n")
		return "This is the zebrafish part of " + title + ".\nMore that nobody asked for.", 0
	}
	return s
}

func contextEnv(s *embedtest.Server, on bool) []string {
	return append(serverEnv(s.URL, "m"), fmt.Sprint("CONTEXTUAL_CHUNKING_ENABLED=", on), "CONTEXTUAL_CHUNKING_BASE_URL="+s.URL,
		"CONTEXTUAL_CHUNKING_MODEL=chat-a", "CONTEXTUAL_CHUNKING_API_KEY="+secret, "CONTEXTUAL_CHUNKING_TIMEOUT_MS=2000")
}

// withSentence counts the texts that were embedded with a sentence, and without.
func withSentence(s *embedtest.Server) (with, without int) {
	for _, in := range s.Inputs() {
		switch {
		case strings.Contains(in, "zebrafish"):
			with++
		case strings.Contains(in, "walrus"):
			without++
		}
	}
	return with, without
}

func TestASentenceStandsBeforeEachChunkForEmbeddingOnly(t *testing.T) {
	t.Parallel()
	s := contextServer(t)
	h := newHome(t, contextEnv(s, true)...)
	text := "# Day\n\nThe walrus sleeps.\n"
	for i := range 30 {
		text += fmt.Sprintf("\n## Part %d\n\n", i) + strings.Repeat("Filler about the weather at sea. ", 80) + "\n"
	}
	h.write(t, "notes/a.md", text)
	h.write(t, "notes/b.md", "The walrus is cursed.\n")
	h.serve(t)
	eventually(t, "all is embedded", func() string {
		e := h.status(t).Embedder
		if e.Total == 0 || e.Backlog != 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	if with, without := withSentence(s); with == 0 || without != 1 { // the refused one goes without
		t.Errorf("%d texts with a sentence, %d without", with, without)
	}
	for _, in := range s.Inputs() {
		if strings.Contains(in, "nobody asked for") {
			t.Errorf("more than a sentence: %q", in)
		}
	}
	if res, paths := h.meaning(t, "zebrafish part of Day"); len(paths) == 0 || paths[0] != "a.md" || strings.Contains(res.Results[0].Content, "zebrafish") {
		t.Errorf("by meaning: %v", paths)
	}
	if got := h.read(t, "notes", "a.md").Content; strings.Contains(got, "zebrafish") || !strings.Contains(got, "The walrus sleeps.") {
		t.Errorf("the text has changed: %.200q", got)
	}
	if _, paths := h.byMode(t, "keyword", "zebrafish"); len(paths) != 0 {
		t.Errorf("a word of the sentence is found in %q", paths)
	}
	for _, r := range s.Chatted() {
		if prompt := r.Messages[1].Content; len(prompt) > 20_000 || r.Model != "chat-a" || r.Authorization != "Bearer "+secret {
			t.Fatalf("a prompt of %d bytes to %s", len(prompt), r.Model)
		}
	}

	// A rename and an edit elsewhere ask for nothing anew.
	asked := len(s.Chatted())
	with, _ := withSentence(s)
	h.rename(t, "notes/a.md", "notes/c.md")
	h.finds(t, "notes", "sleeps", "c.md")
	eventually(t, "the renamed file has its vectors", func() string {
		if e := h.status(t).Embedder; e.Backlog != 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	if again, _ := withSentence(s); len(s.Chatted()) != asked || again != with {
		t.Errorf("a rename made %d sentences and %d vectors", len(s.Chatted())-asked, again-with)
	}
	h.write(t, "notes/c.md", text+"\nA new last line of the ledger.\n")
	h.finds(t, "notes", "ledger", "c.md")
	eventually(t, "the edited file has its vectors", func() string {
		if e := h.status(t).Embedder; e.Backlog != 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	if n := len(s.Chatted()) - asked; n == 0 || n > 3 {
		t.Errorf("an edit at the end made %d sentences", n)
	}
	h.keepsSecret(t)
}

func TestAForcedReindexPicksSentencesUp(t *testing.T) {
	t.Parallel()
	s := contextServer(t)
	h := newHome(t, contextEnv(s, false)...)
	for i := range 5 {
		h.write(t, fmt.Sprintf("notes/n%d.md", i), fmt.Sprintf("The walrus of day%d.\n", i))
	}
	h.serve(t)
	h.embedded(t, 5)
	h.stop(t)
	h.setEnv(contextEnv(s, true)...)
	h.serve(t)
	h.embedded(t, 5)
	if n := len(s.Chatted()); n != 0 {
		t.Errorf("%d sentences before anything was indexed anew", n)
	}
	h.ok(t, "reindex", "--force")
	eventually(t, "every chunk has its sentence", func() string {
		if with, _ := withSentence(s); with < 5 {
			return fmt.Sprint(with)
		}
		return ""
	})
	h.embedded(t, 5)
	if res, paths := h.meaning(t, "zebrafish day3"); res.Fallback != "" || len(paths) == 0 || paths[0] != "n3.md" {
		t.Errorf("by meaning: %v %q", paths, res.Fallback)
	}
	asked, embedded := len(s.Chatted()), len(s.Inputs())
	h.ok(t, "reindex", "--force")
	h.embedded(t, 5)
	if n, m := len(s.Chatted())-asked, len(s.Inputs())-embedded; n != 0 || m != 0 {
		t.Errorf("again: %d sentences and %d vectors", n, m)
	}
	if code, out, _ := h.ragd("doctor"); code != 0 {
		t.Errorf("ragd doctor: %s", out)
	}
}

func TestAChatServerThatIsOutHoldsUpNoEmbedding(t *testing.T) {
	t.Parallel()
	s := contextServer(t)
	var out atomic.Bool
	out.Store(true)
	answers := s.Chat
	s.Chat = func(r embedtest.ChatRequest) (string, int) {
		if out.Load() {
			return "no for " + secret, http.StatusServiceUnavailable
		}
		return answers(r)
	}
	h := newHome(t, contextEnv(s, true)...)
	for i := range 40 {
		h.write(t, fmt.Sprintf("notes/n%02d.md", i), fmt.Sprintf("The walrus of day%d.\n", i))
	}
	h.serve(t)
	h.embedded(t, 40)
	if with, without := withSentence(s); with != 0 || without != 40 {
		t.Errorf("%d with a sentence, %d without", with, without)
	}
	if n := len(s.Chatted()); n > 4 {
		t.Errorf("a server that is out was asked %d times", n)
	}
	if e := h.status(t).Embedder; !strings.Contains(e.Reason, "without a sentence") {
		t.Errorf("%+v", e)
	}
	h.keepsSecret(t)
}
