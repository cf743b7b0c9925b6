package embed_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ragd/internal/embed"
	"ragd/internal/embed/embedtest"
	"ragd/internal/fault"
)

func chat(t *testing.T, s *embedtest.Server) *embed.Chat {
	t.Helper()
	c, err := embed.NewChat(embed.ChatOptions{BaseURL: s.URL, Model: "chat-m", APIKey: key, Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestOneSentenceIsTakenOfWhatAChatServerSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ said, want string }{
		"a sentence":        {"It is about tides.", "It is about tides."},
		"more than one":     {"It is about tides.\n\nShall I go on?", "It is about tides."},
		"in quotes":         {"  “It is about tides.”  ", "It is about tides."},
		"thoughts in front": {"<think>\nHm.\n</think>\n\nIt is about tides.", "It is about tides."},
		"control codes":     {"It is\x1b[31m about\ttides.\u202e", "It is [31m about tides."},
		"only thoughts":     {"<think>\nHm, on and on", ""},
		"nothing":           {" \n ", ""},
		"only marks":        {"… — !", ""},
		"a whole page":      {strings.Repeat("Gezeiten und Häfen ", 100), strings.Repeat("Gezeiten und Häfen ", 20)[:400]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := embedtest.NewServer(t, 8)
			s.Chat = func(embedtest.ChatRequest) (string, int) { return c.said, 0 }
			got, err := chat(t, s).Sentence(context.Background(), "T", "the document", "the chunk")
			if c.want == "" {
				if fault.KindOf(err) != fault.Permanent || err == nil {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if err != nil || got != strings.TrimSpace(got) || !strings.HasPrefix(c.want, got) || len(got) < len(c.want)-4 {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestWhatAChatServerIsSentIsBounded(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	s.Chat = func(embedtest.ChatRequest) (string, int) { return "Fine.", 0 }
	big := strings.Repeat("日本語", 1<<20)
	if _, err := chat(t, s).Sentence(context.Background(), big, big, big); err != nil {
		t.Fatal(err)
	}
	r := s.Chatted()[0]
	if n := len(r.Messages[1].Content); n > 20_000 || strings.Contains(r.Messages[1].Content, "\ufffd") {
		t.Errorf("a prompt of %d bytes", n)
	}
	if r.Model != "chat-m" || r.Authorization != "Bearer "+key {
		t.Errorf("%+v", r)
	}
}

func TestAChatServersFaultsAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		kind   fault.Kind
	}{
		"refused text": {400, fault.Permanent}, "too large": {413, fault.Permanent}, "wrong key": {401, fault.Unavailable},
		"no such model": {404, fault.Unavailable}, "busy": {429, fault.Unavailable}, "down": {503, fault.Unavailable}, "broken": {500, fault.Unavailable},
	} {
		s := embedtest.NewServer(t, 8)
		s.Chat = func(embedtest.ChatRequest) (string, int) { return "no for " + key, c.status }
		_, err := chat(t, s).Sentence(context.Background(), "T", "d", "c")
		if fault.KindOf(err) != c.kind || strings.Contains(fmt.Sprintf("%v %#v", err, err), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	hang := embedtest.NewServer(t, 8)
	release := make(chan struct{})
	defer close(release)
	hang.Chat = func(embedtest.ChatRequest) (string, int) { <-release; return "late", 0 }
	if _, err := chat(t, hang).Sentence(context.Background(), "T", "d", "c"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a server that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := chat(t, hang).Sentence(ctx, "T", "d", "c"); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("a done context: %v", err)
	}
	for name, o := range map[string]embed.ChatOptions{
		"no address": {Model: "m"}, "no model": {BaseURL: "http://h/v1"}, "a key in the address": {BaseURL: "http://u:" + key + "@h/v1", Model: "m"},
	} {
		if _, err := embed.NewChat(o); fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "CONTEXTUAL_CHUNKING_") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnotherChatModelHasAnotherKey(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, model := range []string{"a", "b", "a"} {
		c, err := embed.NewChat(embed.ChatOptions{BaseURL: "http://h/v1", Model: model})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, c.Key())
	}
	if keys[0] == keys[1] || keys[0] != keys[2] {
		t.Errorf("%q", keys)
	}
}

func TestAQueryDoesNotWaitForAServerThatHangs(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	release := make(chan struct{})
	s.Fault = func(_ http.ResponseWriter, r embedtest.Request) bool {
		if r.Input[0] == "slow" {
			<-release
		}
		return false
	}
	h := client(t, s, func(o *embed.HTTPOptions) { o.Timeout = time.Hour })
	if _, err := h.EmbedQuery(context.Background(), "slow"); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("%v", err) // and it has come back at all
	}
	if _, err := h.EmbedQuery(context.Background(), "quick"); fault.KindOf(err) != fault.Unavailable || len(s.Seen()) != 1 {
		t.Errorf("the next query: %v, %d requests", err, len(s.Seen()))
	}
	// Passages show that the server is back.
	if _, err := h.EmbedPassages(context.Background(), texts(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.EmbedQuery(context.Background(), "quick"); err != nil {
		t.Errorf("after the server has answered: %v", err)
	}
	close(release)
}

func TestClosingEndsAQueryThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	gone := make(chan struct{})
	release := make(chan struct{})
	defer close(release)
	s.Fault = func(http.ResponseWriter, embedtest.Request) bool { close(gone); <-release; return false }
	h := client(t, s, func(o *embed.HTTPOptions) { o.Timeout = time.Hour })
	done := make(chan error, 1)
	go func() { _, err := h.EmbedQuery(context.Background(), "x"); done <- err }()
	<-gone
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a vector of nowhere")
	}
}
