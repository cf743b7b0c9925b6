package extract

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"ragd/internal/fault"
)

// sound holds what is true of every answer of a reader.
func sound(t *testing.T, doc *Document, err error) {
	t.Helper()
	if err == nil {
		checkDocument(t, doc)
		return
	}
	if fe, ok := fault.As(err); !ok {
		t.Fatal(err)
	} else if fe.Err != nil && strings.HasPrefix(fe.Err.Error(), "panic:") {
		t.Fatal(fe.Err)
	}
}

// FuzzPDF runs the PDF engine in this process, a new instance for each input,
// as the worker does.
func FuzzPDF(f *testing.F) {
	if raceEnabled {
		f.Skip("compiling the engine takes a minute under the race detector")
	}
	f.Add(pages(f, true, []string{"# A heading", "A line of text on the first page"}, []string{"A line of text on the second page"}))
	for _, b := range pdfBombs(f) {
		if len(b.data) < 4<<10 && b.name != "a form that draws itself" {
			f.Add(b.data)
		}
	}
	// One folder for all the processes of a run: compiling takes them a minute each.
	cache := filepath.Join(os.TempDir(), "ragd-fuzz-pdf")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		f.Fatal(err)
	}
	r := inProcess(f, Options{CacheDir: cache})
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := r.Extract(context.Background(), Source{Path: "a.pdf", Data: data})
		sound(t, doc, err)
	})
}

// FuzzImage decodes images and makes of them what OCR is given.
func FuzzImage(f *testing.F) {
	img := image.NewRGBA(image.Rect(0, 0, 9, 7))
	img.Set(3, 3, color.RGBA{R: 200, A: 255})
	for _, encode := range []func(b *bytes.Buffer) error{
		func(b *bytes.Buffer) error { return png.Encode(b, img) },
		func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) },
		func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) },
		func(b *bytes.Buffer) error { return bmp.Encode(b, img) },
		func(b *bytes.Buffer) error { return tiff.Encode(b, img, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := Source{Path: "a.png", Data: data}
		if _, err := checkImage(src); err != nil {
			sound(t, nil, err)
			return
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || config.Width*config.Height > 1<<20 {
			return // large ones are slow, not otherwise
		}
		img, err := decodeImage(src)
		if err != nil {
			sound(t, nil, err)
			return
		}
		var out bytes.Buffer
		if err := png.Encode(&out, flatten(img)); err != nil {
			t.Fatalf("OCR cannot be given the image: %v", err)
		}
	})
}

// TestDamagedPDFsEndInTheirOwnJob: fuzzing is slow in a sandbox that is itself
// instrumented; so here are some hundred damaged files, in the worker.
// MUTATIONS sets how many.
func TestDamagedPDFsEndInTheirOwnJob(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("slow under the race detector")
	}
	t.Parallel()
	n := 150
	if s := os.Getenv("MUTATIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	seeds := [][]byte{pages(t, true, []string{"# A heading", "A line of text on the first page"}, []string{"A line of text on the second page"})}
	for _, b := range pdfBombs(t) {
		if len(b.data) < 2<<10 && b.codes == "ok" {
			seeds = append(seeds, b.data)
		}
	}
	r, err := New(Options{Pool: newPool(t, WorkerLimits{Workers: 1, CacheDir: t.TempDir()})})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		data := bytes.Clone(seeds[i%len(seeds)])
		for range 1 + rng.IntN(8) {
			at := rng.IntN(len(data))
			switch rng.IntN(4) {
			case 0:
				data[at] = byte(rng.Uint32())
			case 1:
				data = slices.Delete(data, at, min(at+1+rng.IntN(40), len(data)-1))
			case 2:
				data = slices.Insert(data, at, data[at:min(at+rng.IntN(200), len(data))]...)
			case 3:
				data = slices.Insert(data, at, []byte([]string{"-1", "99999999999", "/", "<<", ">>", "[", "]", "(", " 1 0 R ", "stream\n"}[rng.IntN(10)])...)
			}
		}
		doc, err := r.Extract(context.Background(), Source{Path: "a.pdf", Data: data})
		sound(t, doc, err)
		if f, ok := fault.As(err); ok && (f.Code == "crashed" || f.Code == "timeout" || f.Kind == fault.Transient) {
			t.Errorf("mutation %d: %v", i, err)
		}
	}
}
