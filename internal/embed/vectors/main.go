// Command vectors embeds texts and times it, for compare.py to hold against
// onnxruntime. It reads one JSON string a line and writes the vectors as
// little-endian floats; times go to standard error as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"ragd/internal/embed"
	"ragd/internal/embed/kernel"
)

func main() {
	dir := flag.String("dir", "", "model folder; none: the built-in model")
	path := flag.String("path", "", "instructions: portable, avx2, avx512-vnni, neon, neon-sdot")
	float := flag.Bool("float", false, "compute in floats")
	threads := flag.Int("threads", 1, "threads")
	rounds := flag.Int("rounds", 1, "embed everything so often; the fastest round counts")
	query := flag.Bool("query", false, "embed each text as a query, alone")
	flag.Parse()
	opt := embed.Options{Threads: *threads, Float: *float}
	for _, p := range kernel.Available() {
		if p.String() == *path {
			opt.Path = p
		}
	}
	if err := run(*dir, *path, opt, *rounds, *query); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(dir, path string, opt embed.Options, rounds int, query bool) error {
	if path != "" && opt.Path == kernel.Auto {
		return fmt.Errorf("this CPU has no %s", path)
	}
	started := time.Now()
	m, err := open(dir, opt)
	if err != nil {
		return err
	}
	defer m.Close() //nolint:errcheck // the process ends
	opened := time.Since(started)
	var texts []string
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	for in.More() {
		var text string
		if err := in.Decode(&text); err != nil {
			return err
		}
		texts = append(texts, text)
	}
	tokens := 0
	for _, t := range texts {
		tokens += m.CountTokens(t) + 2
	}
	var vectors [][]float32
	best := time.Duration(1 << 62)
	for range rounds {
		begin := time.Now()
		if vectors, err = all(m, texts, query); err != nil {
			return err
		}
		best = min(best, time.Since(begin))
	}
	fmt.Fprintf(os.Stderr, `{"path":%q,"open_ms":%.1f,"seconds":%.6f,"texts":%d,"tokens":%d}`+"\n",
		m.Path(), opened.Seconds()*1000, best.Seconds(), len(texts), tokens)
	out := bufio.NewWriter(os.Stdout)
	for _, v := range vectors {
		if err := binary.Write(out, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	return out.Flush()
}

func open(dir string, opt embed.Options) (*embed.Model, error) {
	if dir == "" {
		return embed.OpenBuiltin(opt)
	}
	return embed.OpenDir(dir, opt)
}

func all(m *embed.Model, texts []string, query bool) ([][]float32, error) {
	if !query {
		return m.EmbedPassages(context.Background(), texts)
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v, err := m.EmbedQuery(context.Background(), t)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
