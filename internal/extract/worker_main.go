package extract

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"ragd/internal/fault"
)

// workerEnv is the only thing a worker is told by its environment.
const workerEnv = "RAGD_EXTRACT_WORKER"

const (
	workerFilesMax = 500       // files before a worker is replaced
	workerLight    = 20        // files of a light format count as one
	workerHeapMax  = 700 << 20 // bytes taken from the system, as well
	workerSpaceMax = 900 << 20 // bytes of addresses
	workerInputMax = 512 << 20
)

// workerConfig is what the daemon tells a worker.
type workerConfig struct {
	Caged          bool     `json:"caged"` // the cage is closed already; set on the second start
	MemoryBytes    uint64   `json:"memory_bytes"`
	CacheDir       string   `json:"cache_dir,omitempty"`
	Helpers        bool     `json:"helpers"` // tesseract and the like may be started
	Archives       bool     `json:"archives"`
	TextExtensions []string `json:"text_extensions,omitempty"`
}

// WorkerMain is the whole of a worker process: it closes the cage around
// itself, then answers requests on stdin one at a time until stdin ends. It
// returns the process's exit code. Where the cage needs it, the process is
// replaced by itself once, before the first byte of stdin is read.
func WorkerMain(ctx context.Context, stdin io.Reader, stdout io.Writer) int {
	return workerMain(ctx, stdin, stdout, func(*Registry) {})
}

// workerMain lets a test add readers.
func workerMain(ctx context.Context, stdin io.Reader, stdout io.Writer, setup func(*Registry)) int {
	var cfg workerConfig
	if s := os.Getenv(workerEnv); s != "" {
		if err := json.Unmarshal([]byte(s), &cfg); err != nil {
			fmt.Fprintf(os.Stderr, "extract worker: %s: %v\n", workerEnv, err)
			return 2
		}
		if !cfg.Caged {
			if err := enterCage(cfg); err != nil { // where there is a cage, success does not return
				fmt.Fprintf(os.Stderr, "extract worker: %v\n", err)
				return 2
			}
		}
	}
	r, err := New(Options{
		TextExtensions: cfg.TextExtensions, InProcess: true,
		Archives: cfg.Archives, Helpers: cfg.Helpers, CacheDir: cfg.CacheDir,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "extract worker: %v\n", err)
		return 2
	}
	defer r.Close()
	setup(r)
	if err := serveWorker(ctx, r, bufio.NewReaderSize(stdin, 64<<10), bufio.NewWriterSize(stdout, 64<<10)); err != nil {
		fmt.Fprintf(os.Stderr, "extract worker: %v\n", err)
		return 1
	}
	return 0
}

func serveWorker(ctx context.Context, r *Registry, in *bufio.Reader, out *bufio.Writer) error {
	files, light := 0, 0
	for ctx.Err() == nil {
		header, err := readFrame(in, frameHeaderMax)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := readFrame(in, workerInputMax)
		if err != nil {
			return err
		}
		var req workerRequest
		if err := json.Unmarshal(header, &req); err != nil {
			return err
		}
		answer := answerRequest(ctx, r, req, data)
		if r.env.pdf.isBroken() {
			return errors.New("out of memory: the PDF engine cannot go on")
		}
		if req.Light {
			light++
		} else {
			files++
		}
		answer.Retire = files+light/workerLight >= workerFilesMax || tooBig()
		b, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if err := writeFrame(out, b); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if answer.Retire {
			return nil
		}
	}
	return ctx.Err()
}

func answerRequest(ctx context.Context, r *Registry, req workerRequest, data []byte) workerAnswer {
	src := Source{Path: req.Path, ModTime: req.ModTime, Data: data}
	doc, err := r.Extract(ctx, src)
	if err != nil {
		return workerAnswer{Fault: packFault(err)}
	}
	return workerAnswer{Document: doc}
}

// tooBig reports whether the process holds so much memory, after handing back
// what it can, that a new one is cheaper.
func tooBig() bool {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > workerSpaceMax {
		return true // addresses are not handed back, and the limit counts them
	}
	if m.Sys-m.HeapReleased < workerHeapMax/2 {
		return false
	}
	debug.FreeOSMemory()
	runtime.ReadMemStats(&m)
	return m.Sys-m.HeapReleased > workerHeapMax
}

// checkOutput refuses a document whose text, parts included, is too large.
func checkOutput(path string, doc *Document) error {
	if outputSize(doc) <= outputMax {
		return nil
	}
	return tooMuchText(path)
}

func tooMuchText(path string) error {
	return fault.New(fault.Permanent, "too_large", "%s holds more than %d MiB of text", base(path), outputMax>>20)
}

func outputSize(doc *Document) int {
	n := len(doc.Text.Body)
	for _, p := range doc.Parts {
		if p.Document != nil {
			n += outputSize(p.Document)
		}
	}
	return n
}
