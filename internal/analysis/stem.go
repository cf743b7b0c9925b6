package analysis

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"
)

const (
	stemMin   = 3  // bytes; shorter words have no ending to take off
	stemMax   = 47 // bytes; longer ones are not words
	cacheMin  = 1 << 8
	cacheMost = 1 << 14 // entries of 96 bytes: 1.5 MiB for each busy Analyzer
)

// stemCache remembers the stems of words. It is direct-mapped: a word has
// one place and takes it from the word before. It grows to cacheMost while
// words keep being replaced.
type stemCache struct {
	entries []stemEntry // length a power of two
	misses  int
}

type stemEntry struct {
	wordLen, stemLen uint8
	word, stem       [stemMax]byte
}

// find returns the stem of word (folded letters, all ASCII or all Russian,
// stemMin..stemMax bytes); hash is hashWord's value for it. The result is only
// good until the next call.
func (c *stemCache) find(word []byte, hash uint32) []byte {
	if len(c.entries) == 0 {
		c.entries = make([]stemEntry, cacheMin)
	}
	e := &c.entries[int(hash)&(len(c.entries)-1)]
	if int(e.wordLen) == len(word) && string(e.word[:e.wordLen]) == string(word) {
		return e.stem[:e.stemLen]
	}
	if e.wordLen != 0 {
		c.misses++
		if c.misses > 2*len(c.entries) && len(c.entries) < cacheMost {
			c.entries = make([]stemEntry, 4*len(c.entries))
			c.misses = 0
			e = &c.entries[int(hash)&(len(c.entries)-1)]
		}
	}
	stem := stemWord(string(word))
	e.wordLen, e.stemLen = uint8(copy(e.word[:], word)), uint8(copy(e.stem[:], stem))
	return e.stem[:e.stemLen]
}

// stemWord takes the endings off a word of lower-case letters: those of
// English when they are ASCII, those of Russian when they are not. Stop words
// keep theirs, so that "does" does not become "doe".
func stemWord(word string) string {
	if isStopWord(word) {
		return word
	}
	env := snowballstem.NewEnv(word)
	if word[0] < 0x80 {
		english.Stem(env)
	} else {
		russian.Stem(env)
	}
	if s := env.Current(); s != "" && len(s) <= stemMax {
		return s
	}
	return word
}

// hashWord is FNV-1a, folded so that the low bits are well mixed.
func hashWord(word []byte) uint32 {
	h := uint32(2166136261)
	for _, b := range word {
		h = (h ^ uint32(b)) * 16777619
	}
	return mix(h)
}

func mix(h uint32) uint32 { return h ^ h>>15 }
