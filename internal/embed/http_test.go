package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ragd/internal/embed"
	"ragd/internal/embed/embedtest"
	"ragd/internal/fault"
)

const key = "sk-secret-key-123"

func client(t *testing.T, s *embedtest.Server, change ...func(*embed.HTTPOptions)) *embed.HTTP {
	t.Helper()
	opt := embed.HTTPOptions{BaseURL: s.URL, Model: "m", APIKey: key, Timeout: 5 * time.Second}
	for _, c := range change {
		c(&opt)
	}
	h, err := embed.NewHTTP(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func texts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("text number %d", i)
	}
	return out
}

func sameVectors(t *testing.T, got [][]float32, in []string, skip map[int]error) {
	t.Helper()
	for i, v := range got {
		if skip[i] != nil {
			if v != nil {
				t.Errorf("the failed text %d has a vector", i)
			}
			continue
		}
		want := embedtest.Vector(in[i], len(v))
		for j := range v {
			if d := v[j] - want[j]; d > 1e-4 || d < -1e-4 {
				t.Fatalf("text %d has another text's vector", i)
			}
		}
	}
}

func batchError(t *testing.T, err error) map[int]error {
	t.Helper()
	if err == nil {
		return nil
	}
	var b *embed.BatchError
	if !errors.As(err, &b) {
		t.Fatalf("error %v, want a *BatchError", err)
	}
	return b.Errs
}

// Each server spoils the texts that name 3, in its own way; the others' vectors must come through.
func TestOneBadTextFailsAlone(t *testing.T) {
	spoil := func(row func([]float32) []float32) func(http.ResponseWriter, embedtest.Request) bool {
		return func(w http.ResponseWriter, r embedtest.Request) bool {
			rows := embedtest.Rows(r.Input, 8)
			for i := range rows {
				if r.Input[rows[i].Index] == "text number 3" {
					rows[i].Embedding = row(rows[i].Embedding)
				}
			}
			embedtest.Answer(w, rows)
			return true
		}
	}
	has := func(r embedtest.Request) bool {
		for _, in := range r.Input {
			if in == "text number 3" {
				return true
			}
		}
		return false
	}
	status := func(code int, body string) func(http.ResponseWriter, embedtest.Request) bool {
		return func(w http.ResponseWriter, r embedtest.Request) bool {
			if has(r) {
				http.Error(w, body, code)
			}
			return has(r)
		}
	}
	for name, f := range map[string]func(http.ResponseWriter, embedtest.Request) bool{
		"a zero vector":       spoil(func(v []float32) []float32 { return make([]float32, len(v)) }),
		"an empty vector":     spoil(func([]float32) []float32 { return []float32{} }),
		"no vector":           spoil(func([]float32) []float32 { return nil }),
		"a short vector":      spoil(func(v []float32) []float32 { return v[:5] }),
		"a long vector":       spoil(func(v []float32) []float32 { return append(v, 1) }),
		"status 400":          status(400, `{"error":{"message":"input too long"}}`),
		"status 413":          status(413, "too large"),
		"status 422":          status(422, `{"error":"bad"}`),
		"status 500 for ever": status(500, "NaN"),
		"NaN in the answer": func(w http.ResponseWriter, r embedtest.Request) bool {
			if has(r) {
				_, _ = fmt.Fprint(w, `{"data":[{"index":0,"embedding":[NaN,1]}]}`)
			}
			return has(r)
		},
		"one vector too few": func(w http.ResponseWriter, r embedtest.Request) bool {
			if has(r) {
				embedtest.Answer(w, embedtest.Rows(r.Input, 8)[1:])
			}
			return has(r)
		},
		"one index twice": func(w http.ResponseWriter, r embedtest.Request) bool {
			rows := embedtest.Rows(r.Input, 8)
			if has(r) {
				rows[0].Index += len(rows)
				embedtest.Answer(w, rows)
			}
			return has(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := embedtest.NewServer(t, 8)
			s.Fault = f
			h := client(t, s, func(o *embed.HTTPOptions) { o.Dimension = 8 })
			in := texts(8)
			got, err := h.EmbedPassages(context.Background(), in)
			errs := batchError(t, err)
			if len(errs) != 1 || fault.KindOf(errs[3]) != fault.Permanent {
				t.Fatalf("failed texts: %v", err)
			}
			sameVectors(t, got, in, errs)
		})
	}
}

// A text that is asked about alone can be at fault as well: the server gives others vectors of the right length.
func TestAVectorOfAnotherLengthAloneIsNoOutage(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	s.Fault = func(w http.ResponseWriter, r embedtest.Request) bool {
		odd := strings.Contains(r.Input[0], "odd")
		if odd {
			embedtest.Answer(w, embedtest.Rows(r.Input, 5))
		}
		return odd
	}
	h := client(t, s)
	if _, err := h.EmbedPassages(context.Background(), texts(2)); err != nil {
		t.Fatal(err)
	}
	for _, in := range [][]string{{"odd"}, {"odd", "another odd one"}} {
		_, err := h.EmbedPassages(context.Background(), in)
		if errs := batchError(t, err); len(errs) != len(in) || fault.KindOf(errs[0]) != fault.Permanent {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestAServerThatIsOutIsNoTextsFault(t *testing.T) {
	always := func(code int, header ...string) func(http.ResponseWriter, embedtest.Request) bool {
		return func(w http.ResponseWriter, _ embedtest.Request) bool {
			if len(header) == 2 {
				w.Header().Set(header[0], header[1])
			}
			http.Error(w, "the key "+key+" is wrong", code)
			return true
		}
	}
	for name, c := range map[string]struct {
		fault    func(http.ResponseWriter, embedtest.Request) bool
		requests int // at most
	}{
		"wrong key":          {always(401), 1},
		"no such model":      {always(404), 1},
		"always 500":         {always(500), 6},
		"long maintenance":   {always(503, "Retry-After", "3600"), 1},
		"too many requests":  {always(429, "Retry-After", "3600"), 1},
		"redirected":         {always(307, "Location", "http://127.0.0.1:1/"), 1},
		"never an answer":    {func(http.ResponseWriter, embedtest.Request) bool { time.Sleep(300 * time.Millisecond); return false }, 2},
		"not embeddings":     {func(w http.ResponseWriter, _ embedtest.Request) bool { _, _ = w.Write([]byte("<html>")); return true }, 2},
		"one vector too few": {func(w http.ResponseWriter, _ embedtest.Request) bool { embedtest.Answer(w, nil); return true }, 2},
		"another model's dim": {func(w http.ResponseWriter, r embedtest.Request) bool {
			embedtest.Answer(w, embedtest.Rows(r.Input, 5))
			return true
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := embedtest.NewServer(t, 8)
			s.Fault = c.fault
			h := client(t, s, func(o *embed.HTTPOptions) { o.Timeout = 150 * time.Millisecond; o.Dimension = 8 })
			got, err := h.EmbedPassages(context.Background(), texts(4))
			if fault.KindOf(err) != fault.Unavailable || got != nil {
				t.Fatalf("%v, kind %v", err, fault.KindOf(err))
			}
			if n := len(s.Seen()); n > c.requests {
				t.Errorf("%d requests, want at most %d", n, c.requests)
			}
			whole := fmt.Sprintf("%v %+v", err, err)
			for e := err; e != nil; e = errors.Unwrap(e) {
				whole += fmt.Sprintf(" %v %#v", e, e)
			}
			if strings.Contains(whole, key) {
				t.Errorf("the key is in the error: %s", whole)
			}
		})
	}
}

func TestRetryAfterIsHonouredAndHandedOn(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	var busy atomic.Int64
	busy.Store(2)
	s.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		if busy.Add(-1) < 0 {
			return false
		}
		w.Header().Set("Retry-After", "0.05")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	h := client(t, s)
	if _, err := h.EmbedPassages(context.Background(), texts(2)); err != nil {
		t.Fatalf("after a short wait: %v", err)
	}
	s.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	_, err := h.EmbedPassages(context.Background(), texts(2))
	if wait, ok := embed.RetryAfter(err); !ok || wait != 10*time.Minute {
		t.Errorf("RetryAfter says %v, %v", wait, ok)
	}
	s.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		w.Header().Set("Retry-After", time.Now().Add(2*time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	_, err = h.EmbedPassages(context.Background(), texts(2))
	if wait, ok := embed.RetryAfter(err); !ok || wait > 2*time.Hour || wait < time.Hour {
		t.Errorf("of a date RetryAfter says %v, %v", wait, ok)
	}
}

func TestDimensionsAreNotSentTwiceToAServerThatRefusesThem(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	s.Fault = func(w http.ResponseWriter, r embedtest.Request) bool {
		if r.Dimensions != nil {
			http.Error(w, `{"error":{"message":"this model does not support matryoshka dimensions"}}`, 400)
		}
		return r.Dimensions != nil
	}
	h := client(t, s, func(o *embed.HTTPOptions) { o.Dimension = 8; o.BatchTexts = 2 })
	in := texts(6)
	got, err := h.EmbedPassages(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	sameVectors(t, got, in, nil)
	sent := 0
	for _, r := range s.Seen() {
		if r.Dimensions != nil {
			sent++
		}
	}
	if n := len(s.Seen()); sent != 1 || n != 4 {
		t.Errorf("dimensions were sent in %d of %d requests", sent, n)
	}
}

func TestBatchesAreBoundedByTokensAndTexts(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	h := client(t, s, func(o *embed.HTTPOptions) { o.BatchTokens = 100; o.BatchTexts = 5 })
	in := append(texts(12), strings.Repeat("longer ", 60), strings.Repeat("words ", 60))
	if _, err := h.EmbedPassages(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, r := range s.Seen() {
		total += len(r.Input)
		if len(r.Input) > 5 || len(r.Input) > 1 && h.CountTokens(strings.Join(r.Input, " ")) > 110 {
			t.Errorf("a request of %d texts, %d tokens", len(r.Input), h.CountTokens(strings.Join(r.Input, " ")))
		}
		if r.Authorization != "Bearer "+key {
			t.Errorf("authorization %q", r.Authorization)
		}
	}
	if total != 14 {
		t.Errorf("%d texts were sent", total)
	}
}

func TestVectorsAreReadAsBase64AndWithoutIndexAndNormalised(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 2)
	s.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		_, _ = fmt.Fprint(w, `{"data":[{"embedding":"AABAQAAAgEA="},{"embedding":[0,7]}]}`) // 3, 4
		return true
	}
	got, err := client(t, s).EmbedPassages(context.Background(), texts(2))
	if err != nil {
		t.Fatal(err)
	}
	if v := got[0]; v[0] < 0.5999 || v[0] > 0.6001 || v[1] < 0.7999 || v[1] > 0.8001 || got[1][1] != 1 {
		t.Errorf("%v", got)
	}
}

func TestPrefixesAreSentAndPartOfTheIdentity(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 8)
	h := client(t, s, func(o *embed.HTTPOptions) { o.QueryPrefix, o.PassagePrefix = "query: ", "passage: " })
	plain := client(t, s)
	if _, err := h.EmbedQuery(context.Background(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.EmbedPassages(context.Background(), []string{"two"}); err != nil {
		t.Fatal(err)
	}
	if seen := s.Seen(); seen[0].Input[0] != "query: one" || seen[1].Input[0] != "passage: two" {
		t.Errorf("sent %v", seen)
	}
	if h.Identity().Key() == plain.Identity().Key() {
		t.Error("two prefixes, one identity")
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]embed.HTTPOptions{
		"no URL":           {Model: "m"},
		"a path":           {BaseURL: "/v1", Model: "m"},
		"another scheme":   {BaseURL: "ftp://host/v1", Model: "m"},
		"a key in the URL": {BaseURL: "http://user:" + key + "@host/v1", Model: "m"},
		"no model":         {BaseURL: "http://host/v1"},
		"a dimension":      {BaseURL: "http://host/v1", Model: "m", Dimension: -1},
		"a split key":      {BaseURL: "http://host/v1", Model: "m", APIKey: key + "\n"},
	} {
		_, err := embed.NewHTTP(o)
		if fault.KindOf(err) != fault.Invalid || strings.Contains(fmt.Sprint(err), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":"AABAQAAAgEA="}]}`))
	f.Add([]byte(`{"data":[{"embedding":[1e308,1e308]},{"embedding":null}]}`))
	f.Add([]byte(`{"data":[{"index":-1,"embedding":[[]]},{"index":9e99}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		h, err := embed.NewHTTP(embed.HTTPOptions{BaseURL: "http://host/v1", Model: "m", Timeout: time.Second,
			Transport: answering(body)})
		if err != nil {
			t.Fatal(err)
		}
		vs, err := h.EmbedPassages(context.Background(), []string{"a b", "c d"})
		errs := map[int]error{}
		var b *embed.BatchError
		if errors.As(err, &b) {
			errs = b.Errs
		} else if err != nil {
			return
		}
		for i, v := range vs {
			if (v == nil) != (errs[i] != nil) {
				t.Fatalf("text %d: %v and %v", i, v, errs[i])
			}
			var square float64
			for _, x := range v {
				square += float64(x) * float64(x)
			}
			if v != nil && !(square > 0.99 && square < 1.01) {
				t.Fatalf("length² %v", square)
			}
		}
		if _, err := json.Marshal(vs); err != nil { // NaN cannot be written
			t.Fatal(err)
		}
	})
}
