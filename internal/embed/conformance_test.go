package embed_test

import (
	"testing"

	"ragd/internal/embed"
	"ragd/internal/embed/embedtest"
)

func TestEveryEmbedderKeepsThePromises(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) embed.Embedder{
		"built-in": func(t *testing.T) embed.Embedder {
			m, err := embed.OpenBuiltin(embed.Options{Threads: 2, Nice: 5})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
		"server": func(t *testing.T) embed.Embedder {
			h, err := embed.NewHTTP(embed.HTTPOptions{BaseURL: embedtest.NewServer(t, 96).URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			return h
		},
		"fake": func(*testing.T) embed.Embedder { return embedtest.NewFake(128) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			embedtest.Run(t, open)
		})
	}
}
