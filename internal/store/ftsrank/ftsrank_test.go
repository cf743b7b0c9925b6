package ftsrank

import "testing"

func TestBucketKeepsLengthsApart(t *testing.T) {
	last := -1
	for n := 0; n < 5000; n++ {
		b := Bucket(n)
		if b < last || b < 0 || b >= Lengths {
			t.Fatalf("Bucket(%d) = %d after %d", n, b, last)
		}
		last = b
		if n >= 8 && n < 4000 {
			if r := Length(b) / float64(n); r < 0.87 || r > 1.15 {
				t.Fatalf("length %d is taken as %.1f", n, Length(b))
			}
		}
	}
}

func TestEncodedParametersHaveTheSizeOfTheStruct(t *testing.T) {
	p := Params{Phrases: make([]Phrase, 3)}
	if got, want := len(p.Encode()), 8+4*8+Lengths*8+3*16; got != want {
		t.Fatalf("size %d, want %d", got, want)
	}
}

func TestRegisterWithoutTheDriverIsRefused(t *testing.T) {
	if err := Register(); err == nil {
		t.Fatal("no SQLite is linked into this test, yet it was registered")
	}
}
