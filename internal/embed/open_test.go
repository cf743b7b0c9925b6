package embed_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ragd/internal/embed"
	"ragd/internal/embed/embedtest"
	"ragd/internal/embed/safetensors"
	"ragd/internal/fault"
)

const tinyVocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nindex\nis\na\ncache\n##s\n.\nof\nfile\nwords\nlong\ntext\nevery\ncounts\nfirst\nlast\nshort\none\ntwo\n"

// tinyDir writes a model of one layer, width 32, and 64 positions.
func tinyDir(t *testing.T, change func(files map[string]string, tensors map[string][]float32)) string {
	t.Helper()
	const h, f, v, p = 32, 48, 24, 64
	r := rand.New(rand.NewPCG(1, 2))
	tensors, shapes := map[string][]float32{}, map[string][]int{}
	add := func(name string, around float64, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(around + 0.2*r.NormFloat64())
		}
		tensors[name], shapes[name] = values, shape
	}
	names := []struct {
		name string
		n, k int
	}{{"attention.self.query", h, h}, {"attention.self.key", h, h}, {"attention.self.value", h, h},
		{"attention.output.dense", h, h}, {"intermediate.dense", f, h}, {"output.dense", h, f}}
	add("embeddings.word_embeddings.weight", 0, v, h)
	add("embeddings.position_embeddings.weight", 0, p, h)
	add("embeddings.token_type_embeddings.weight", 0, 2, h)
	for _, n := range names {
		add("encoder.layer.0."+n.name+".weight", 0, n.n, n.k)
		add("encoder.layer.0."+n.name+".bias", 0, n.n)
	}
	for _, n := range []string{"embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm"} {
		add(n+".weight", 1, h)
		add(n+".bias", 0, h)
	}
	files := map[string]string{
		"config.json": `{"model_type":"bert","hidden_size":32,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":48,
			"hidden_act":"gelu","max_position_embeddings":64,"vocab_size":24,"layer_norm_eps":1e-12}`,
		"vocab.txt": tinyVocab,
	}
	if change != nil {
		change(files, tensors)
	}
	dir := filepath.Join(t.TempDir(), "tiny")
	if _, ok := files["model.safetensors"]; !ok {
		w := safetensors.NewWriter(nil)
		for name, values := range tensors {
			w.AddFloats(name, values, shapes[name]...)
		}
		var out bytes.Buffer
		if _, err := w.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		files["model.safetensors"] = out.String()
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue // left out
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openTiny(t *testing.T, opt embed.Options, change func(map[string]string, map[string][]float32)) *embed.Model {
	t.Helper()
	m, err := embed.OpenDir(tinyDir(t, change), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestAModelFolderIsRead(t *testing.T) {
	t.Parallel()
	plain := openTiny(t, embed.Options{}, nil)
	if id := plain.Identity(); id.Name != "tiny" || id.Dim != 32 || id.Pooling != "mean" || id.MaxTokens != 64 || len(id.Revision) != 16 {
		t.Errorf("%+v", id)
	}
	other := openTiny(t, embed.Options{}, func(files map[string]string, _ map[string][]float32) {
		files["1_Pooling/config.json"] = `{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`
		files["sentence_bert_config.json"] = `{"max_seq_length":32}`
		files["config_sentence_transformers.json"] = `{"prompts":{"query":"the words ","document":"the text "}}`
		files["modules.json"] = `[{"type":"sentence_transformers.models.Transformer"},{"type":"sentence_transformers.models.Normalize"}]`
	})
	if id := other.Identity(); id.Pooling != "cls" || id.MaxTokens != 32 || id.QueryPrefix != "the words " || id.PassagePrefix != "the text " {
		t.Errorf("%+v", id)
	}
	a, err := plain.EmbedQuery(context.Background(), "the words every file counts")
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.EmbedQuery(context.Background(), "every file counts")
	if err != nil {
		t.Fatal(err)
	}
	if c := cos(a, b); c > 0.99 {
		t.Errorf("mean and first token give one vector: cosine %v", c)
	}
	if _, err := other.EmbedPassages(context.Background(), []string{" "}); err == nil {
		t.Error("a prefix alone is embedded")
	}
}

func TestAModelFolderOfLinksIsRead(t *testing.T) {
	t.Parallel()
	blobs, dir := tinyDir(t, nil), filepath.Join(t.TempDir(), "models--some--tiny-model", "snapshots", "1a2b3c")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.json", "vocab.txt", "model.safetensors"} {
		if err := os.Symlink(filepath.Join(blobs, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := embed.OpenDir(dir, embed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if name := m.Identity().Name; name != "tiny-model" {
		t.Errorf("its name is %q", name)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := embed.OpenDir(filepath.Join(dir, "vocab.txt"), embed.Options{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a file for a folder: %v", err)
	}
}

func TestTokenizerJSONAndWeightNamesOfOtherExportsAreRead(t *testing.T) {
	t.Parallel()
	plain := openTiny(t, embed.Options{Float: true}, nil)
	vocab := map[string]int{}
	for i, w := range strings.Fields(tinyVocab) {
		vocab[w] = i
	}
	tok, err := json.Marshal(map[string]any{
		"added_tokens": []map[string]any{{"content": "[SEP]", "special": true}},
		"normalizer":   map[string]any{"type": "BertNormalizer", "lowercase": true},
		"model":        map[string]any{"type": "WordPiece", "continuing_subword_prefix": "##", "unk_token": "[UNK]", "vocab": vocab},
	})
	if err != nil {
		t.Fatal(err)
	}
	other := openTiny(t, embed.Options{Float: true}, func(files map[string]string, tensors map[string][]float32) {
		files["vocab.txt"], files["tokenizer.json"] = "", string(tok)
		files["model.safetensors"] = half(t, tensors, "bert.")
	})
	for _, text := range []string{"The index is a cache.", "files [SEP] unseen"} {
		a, err := plain.EmbedQuery(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := other.EmbedQuery(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		if c := cos(a, b); c < 0.9999 {
			t.Errorf("%q: cosine %v", text, c)
		}
	}
}

// half writes tensors as BF16 under a prefix; shapes are those of tinyDir.
func half(t *testing.T, tensors map[string][]float32, prefix string) string {
	t.Helper()
	header, data := map[string]any{}, []byte(nil)
	for name, values := range tensors {
		from := len(data)
		for _, x := range values {
			data = binary.LittleEndian.AppendUint16(data, uint16((math.Float32bits(x)+0x8000)>>16))
		}
		shape := []int{len(values)}
		switch {
		case strings.HasSuffix(name, "encoder.layer.0.output.dense.weight"):
			shape = []int{32, 48}
		case len(values) > 64:
			shape = []int{len(values) / 32, 32}
		case strings.Contains(name, "token_type"):
			shape = []int{2, 32}
		}
		header[prefix+name] = map[string]any{"dtype": "BF16", "shape": shape, "data_offsets": []int{from, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) + string(text) + string(data)
}

func TestAFolderModelKeepsThePromises(t *testing.T) {
	dir := tinyDir(t, nil)
	embedtest.Run(t, func(t *testing.T) embed.Embedder {
		if t.Name() == "TestAFolderModelKeepsThePromises/vectors_are_of_unit_length,_in_order,_the_same_alone_and_in_a_batch" ||
			strings.HasSuffix(t.Name(), "end_counts") {
			t.Skip("24 words tell these texts not apart")
		}
		m, err := embed.OpenDir(dir, embed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

func TestAModelThatCannotBeRunIsRefusedByName(t *testing.T) {
	t.Parallel()
	set := func(file, text string) func(map[string]string, map[string][]float32) {
		return func(files map[string]string, _ map[string][]float32) { files[file] = text }
	}
	config := func(old, changed string) func(map[string]string, map[string][]float32) {
		return func(files map[string]string, _ map[string][]float32) {
			files["config.json"] = strings.Replace(files["config.json"], old, changed, 1)
		}
	}
	good, err := os.ReadFile(filepath.Join(tinyDir(t, nil), "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(map[string]string, map[string][]float32)
		code   string
	}{
		"no config":             {set("config.json", ""), "model_not_found"},
		"no tokeniser":          {set("vocab.txt", ""), "model_not_found"},
		"broken config":         {set("config.json", "{"), "model_file"},
		"another architecture":  {config(`"bert"`, `"llama"`), "model_architecture"},
		"relative positions":    {config(`"bert"`, `"bert","position_embedding_type":"relative_key"`), "model_architecture"},
		"another activation":    {config(`"gelu"`, `"silu"`), "model_architecture"},
		"heads that divide not": {config(`heads":4`, `heads":5`), "model_shape"},
		"another width":         {config(`hidden_size":32`, `hidden_size":64`), "model_shape"},
		"more layers":           {config(`layers":1`, `layers":2`), "model_file"},
		"a billion layers":      {config(`layers":1`, `layers":1000000000`), "model_shape"},
		"negative width":        {config(`hidden_size":32`, `hidden_size":-32`), "model_shape"},
		"another vocabulary":    {set("vocab.txt", tinyVocab+"more\n"), "model_vocabulary"},
		"no [SEP]":              {set("vocab.txt", strings.Replace(tinyVocab, "[SEP]", "x", 1)), "model_vocabulary"},
		"byte-pair tokeniser":   {set("tokenizer.json", `{"model":{"type":"BPE"}}`), "model_tokenizer"},
		"cut short":             {set("model.safetensors", string(good[:len(good)-1])), "model_file"},
		"cut in the header":     {set("model.safetensors", string(good[:100])), "model_file"},
		"no weights in it":      {set("model.safetensors", "\x02\x00\x00\x00\x00\x00\x00\x00{}"), "model_architecture"},
		"NaN in a weight": {func(_ map[string]string, w map[string][]float32) {
			w["encoder.layer.0.output.dense.weight"][7] = float32(math.NaN())
		}, "model_file"},
		"a dense layer behind": {set("modules.json", `[{"type":"sentence_transformers.models.Dense"}]`), "model_architecture"},
		"maximum pooling":      {set("1_Pooling/config.json", `{"pooling_mode_max_tokens":true}`), "model_architecture"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := embed.OpenDir(tinyDir(t, c.change), embed.Options{})
			if f, ok := fault.As(err); !ok || f.Code != c.code {
				t.Errorf("error %v, want the code %s", err, c.code)
			}
		})
	}
	for name, dir := range map[string]string{"no folder": filepath.Join(t.TempDir(), "none"), "an empty folder": t.TempDir()} {
		if _, err := embed.OpenDir(dir, embed.Options{}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}
