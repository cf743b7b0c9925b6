package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestTheFilterOfContentsNeverForgetsOne(t *testing.T) {
	f := seenContents{loaded: true}
	rng := rand.New(rand.NewPCG(1, 2))
	heads := make([]int64, 3*bloomFirst)
	for i := range heads {
		heads[i] = int64(rng.Uint64())
		f.add(heads[i])
	}
	for _, h := range heads {
		if f.missing(h) {
			t.Fatalf("%x was added and counts as missing", uint64(h))
		}
	}
	wrong := 0
	for range 100000 {
		if !f.missing(int64(rng.Uint64())) {
			wrong++
		}
	}
	if wrong > 3000 {
		t.Fatalf("%d of 100000 unknown heads count as perhaps known", wrong)
	}
}

func TestAContentIsFoundAgainAfterAReopen(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	kb := ensure(t, s, "notes")
	load(t, s, kb, 40, 3000)
	path := s.opt.Path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, func(o *Options) { o.Path = path })
	var hashes [][32]byte
	g := newCorpusGen(7)
	for n := 40; n > 0; {
		d := g.document(3000)
		hashes = append(hashes, d.Hash)
		n -= len(d.Chunks)
	}
	for i, h := range hashes {
		if _, ok, err := s.ContentFor(ctx, h, testKey); err != nil || !ok {
			t.Fatalf("content %d of %d: found %v, %v", i, len(hashes), ok, err)
		}
	}
	if _, ok, err := s.ContentFor(ctx, sha256.Sum256(fmt.Append(nil, "never")), testKey); ok || err != nil {
		t.Fatalf("an unknown content was found: %v", err)
	}
}
