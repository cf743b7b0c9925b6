package blackbox

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ragd/internal/embed/embedtest"
	"ragd/internal/wire"
)

func TestAnEarlierModelServesUntilTheNewOneIsComplete(t *testing.T) {
	t.Parallel()
	first, second := embedtest.NewServer(t, 48), embedtest.NewServer(t, 48)
	var blocked atomic.Bool
	second.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		if blocked.Load() {
			http.Error(w, "loading", http.StatusServiceUnavailable)
		}
		return blocked.Load()
	}
	h := newHome(t, serverEnv(first.URL, "model-a")...)
	for i := range 6 {
		h.write(t, fmt.Sprintf("notes/n%d.md", i), fmt.Sprintf("The walrus of day%d.\n", i))
	}
	h.serve(t)
	h.embedded(t, 6)
	h.stop(t)

	// Another name is another model, even with vectors of the same length.
	blocked.Store(true)
	h.setEnv(serverEnv(second.URL, "model-b")...)
	h.serve(t)
	eventually(t, "the status tells of both models", func() string {
		if e := h.status(t).Embedder; e.State != "paused" || e.Model != "model-b" || e.Serving != "model-a" || e.Backlog != 6 || e.Embedded != 0 {
			return fmt.Sprintf("%+v", e)
		}
		return ""
	})
	asked := len(first.Inputs())
	if res, paths := h.meaning(t, "day4"); res.Fallback != "" || len(paths) == 0 || paths[0] != "n4.md" {
		t.Errorf("by meaning: %v %q", paths, res.Fallback)
	}
	if in := first.Inputs(); len(in) != asked+1 || in[asked] != "day4" {
		t.Errorf("the first server was asked for %q", in[asked:])
	}
	for _, r := range first.Seen()[len(first.Seen())-1:] {
		if r.Authorization != "" {
			t.Error("a key went to a server that it is not configured for")
		}
	}
	blocked.Store(false)
	h.embedded(t, 6)
	asked = len(first.Inputs())
	if res, paths := h.meaning(t, "day4"); res.Fallback != "" || len(paths) == 0 || paths[0] != "n4.md" {
		t.Errorf("by meaning: %v %q", paths, res.Fallback)
	}
	if len(first.Inputs()) != asked {
		t.Error("the first server is asked after the change")
	}
	h.stop(t)

	// Back again: nothing is embedded.
	asked = len(first.Inputs())
	h.setEnv(serverEnv(first.URL, "model-a")...)
	h.serve(t)
	h.embedded(t, 6)
	if in := first.Inputs()[asked:]; slices.ContainsFunc(in, func(s string) bool { return strings.Contains(s, "walrus") }) {
		t.Errorf("embedded again: %q", in)
	}
}

func TestTheBuiltInModelAndAServerTakeTurns(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	var blocked atomic.Bool
	blocked.Store(true)
	s.Fault = func(w http.ResponseWriter, _ embedtest.Request) bool {
		if blocked.Load() {
			http.Error(w, "loading", http.StatusServiceUnavailable)
		}
		return blocked.Load()
	}
	h := newHome(t, "EMBEDDINGS_ENABLED=true", "EMBED_THREADS=1")
	const n = 40
	for i := range n {
		h.write(t, fmt.Sprintf("notes/n%02d.md", i), fmt.Sprintf("Entry %d of the ledger of the harbour.\n", i))
	}
	h.write(t, "notes/house.md", "The boiler is serviced every October by Nordheim.\n")
	h.serve(t)
	h.embedded(t, n+1)
	byMeaning := func(why string) {
		t.Helper()
		res, paths := h.meaning(t, "who looks after the heating")
		if res.Fallback != "" || len(paths) == 0 || paths[0] != "house.md" {
			t.Errorf("%s: %v %q", why, paths, res.Fallback)
		}
	}
	byMeaning("built in")
	h.stop(t)

	h.setEnv(serverEnv(s.URL, "model-a")...)
	h.serve(t)
	byMeaning("built in, while the server is out")
	if st := h.status(t).Embedder; st.Serving != "all-MiniLM-L6-v2" {
		t.Errorf("%+v", st)
	}
	blocked.Store(false)
	h.embedded(t, n+1)
	if res, _ := h.meaning(t, "Nordheim"); res.Fallback != "" || res.Results[0].Path != "house.md" {
		t.Errorf("by the server: %+v", res)
	}
	h.stop(t)

	// The other way round the old vectors are kept, so nothing is to be done.
	h.setEnv("EMBEDDINGS_BASE_URL=", "EMBEDDINGS_MODEL=")
	h.serve(t)
	byMeaning("built in again")
	h.embedded(t, n+1)
}

// What waits while the built-in model embeds is answered by the server before it.
func TestAServersVectorsServeWhileTheBuiltInModelCatchesUp(t *testing.T) {
	t.Parallel()
	s := embedtest.NewServer(t, 48)
	h := newHome(t, serverEnv(s.URL, "model-a", "EMBED_THREADS=1")...)
	const n = 150
	h.many(t, "notes", n, func(i int) string {
		return fmt.Sprintf("Entry%d. ", i) + strings.Repeat("The walrus sleeps on the ice of the harbour until the tide comes in. ", 20)
	})
	h.serve(t)
	h.embedded(t, n)
	h.stop(t)
	h.setEnv("EMBEDDINGS_BASE_URL=", "EMBEDDINGS_MODEL=")
	h.serve(t)
	before := len(s.Inputs())
	res, _ := h.meaning(t, "Entry7 walrus")
	if e := h.status(t).Embedder; e.Serving == "" {
		t.Skip("this machine embeds 150 texts before it answers one query")
	}
	if in := s.Inputs()[before:]; res.Fallback != "" || len(in) != 1 || in[0] != "Entry7 walrus" {
		t.Errorf("the server was asked for %q; fallback %q", in, res.Fallback)
	}
	var last wire.Embedder
	eventually(t, "there is progress", func() string {
		last = h.status(t).Embedder
		if last.Embedded == 0 || last.Embedded+last.Backlog != last.Total {
			return fmt.Sprintf("%+v", last)
		}
		return ""
	})
	if up := h.status(t).UptimeSeconds; last.ETASeconds != 0 && up < 10 {
		t.Errorf("an ETA of %d s after %d s", last.ETASeconds, up)
	}
}

// modelFolder is a copy of the built-in model, with files changed.
func modelFolder(t *testing.T, change map[string]func(string) string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("../embed/model")))
	for name, f := range change {
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(f(string(data))), 0o644))
	}
	return dir
}

func TestAModelThatCannotBeOpenedLeavesTheKeywords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ dir, says string }{
		"no folder": {"/nowhere/model", "/nowhere/model"},
		"a file cut short": {modelFolder(t, map[string]func(string) string{
			"model.safetensors": func(s string) string { return s[:len(s)/2] },
		}), "model file"},
		"another architecture": {modelFolder(t, map[string]func(string) string{
			"config.json": func(s string) string { return strings.Replace(s, `"bert"`, `"mpnet"`, 1) },
		}), "mpnet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, "EMBEDDINGS_ENABLED=true", "EMBEDDINGS_MODEL_DIR="+c.dir)
			h.write(t, "notes/a.md", "The walrus sleeps.\n")
			h.serve(t)
			h.finds(t, "notes", "walrus", "a.md")
			if e := h.status(t).Embedder; e.State != "failed" || !strings.Contains(e.Reason, c.says) {
				t.Errorf("%+v", e)
			}
			if res, _ := h.meaning(t, "walrus"); !strings.Contains(res.Fallback, "could not be opened") || len(res.Results) != 1 {
				t.Errorf("%+v", res)
			}
			if code, _, errOut := h.ragd("model"); code == 0 || !strings.Contains(errOut, c.says) {
				t.Errorf("ragd model ends with %d: %s", code, errOut)
			}
		})
	}
}

func TestAModelFromAFolderTakesThePlaceOfTheBuiltInOne(t *testing.T) {
	t.Parallel()
	dir := modelFolder(t, map[string]func(string) string{
		"1_Pooling/config.json": func(s string) string {
			return strings.NewReplacer(`"pooling_mode_cls_token": false`, `"pooling_mode_cls_token": true`,
				`"pooling_mode_mean_tokens": true`, `"pooling_mode_mean_tokens": false`).Replace(s)
		},
	})
	must(t, os.WriteFile(filepath.Join(dir, "config_sentence_transformers.json"), []byte(`{"prompts":{"query":"query: ","document":"passage: "}}`), 0o644))
	h := newHome(t, "EMBEDDINGS_ENABLED=true")
	h.write(t, "notes/house.md", "The boiler is serviced every October by Nordheim.\n")
	h.serve(t)
	h.embedded(t, 1)
	h.stop(t)
	h.setEnv("EMBEDDINGS_MODEL_DIR=" + dir)
	out := h.ok(t, "model")
	for _, want := range []string{"pooling       cls", "query prefix  query:", "text prefix   passage:", "dimension     384"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if out := h.ok(t, "model", "check"); !strings.Contains(out, "ok     a text's vector does not depend on its batch") {
		t.Errorf("%s", out)
	}
	h.serve(t)
	h.embedded(t, 1)
	if e := h.status(t).Embedder; e.Model != filepath.Base(dir) || e.Dimension != 384 {
		t.Errorf("%+v", e)
	}
	if res, paths := h.meaning(t, "heating"); res.Fallback != "" || len(paths) != 1 {
		t.Errorf("%v %q", paths, res.Fallback)
	}
}
