package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	pdfMemoryPages   = 2048 // of 64 KiB: what one document may take inside the engine
	pdfInstanceLimit = 30 * time.Second
	pdfCompileHeap   = 128 << 20 // bytes of heap that tell that the engine was compiled
)

// pdfEngine compiles PDFium on first use and hands out a fresh instance of it
// per document, without a file system.
type pdfEngine struct {
	mu     sync.Mutex // guards the rest
	pool   pdfium.Pool
	cache  wazero.CompilationCache
	broken bool // no instance can be had any more
}

// instance returns a new instance. When there is none to be had, for lack of
// memory as a rule, the engine counts as broken, and the worker ends: a new
// one may have more room.
func (e *pdfEngine) instance(ctx context.Context, cacheDir string) (i pdfium.Pdfium, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			i, err = nil, fmt.Errorf("start the PDF engine: %v", p)
		}
		e.broken = e.broken || err != nil && ctx.Err() == nil
	}()
	if e.broken {
		return nil, errors.New("the PDF engine is out of order")
	}
	if e.pool == nil {
		if err := e.start(cacheDir); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, pdfInstanceLimit)
	defer cancel()
	return e.pool.GetInstanceWithContext(limited)
}

func (e *pdfEngine) start(cacheDir string) error {
	runtime := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(pdfMemoryPages)
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(cacheDir, "wasm"))
		if err != nil {
			return fmt.Errorf("open the PDF engine's cache: %w", err)
		}
		e.cache = cache
		runtime = runtime.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: withMemory(context.Background()), MaxTotal: 1, RuntimeConfig: runtime, FSConfig: wazero.NewFSConfig(),
		Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return fmt.Errorf("start the PDF engine: %w", err)
	}
	e.pool = pool
	giveBack()
	return nil
}

// giveBack returns what compiling took, some 300 MB; from the cache it is less
// than looking for it costs.
func giveBack() {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	if m.HeapSys-m.HeapReleased > pdfCompileHeap {
		debug.FreeOSMemory()
	}
}

func (e *pdfEngine) isBroken() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

func (e *pdfEngine) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pool != nil {
		_ = e.pool.Close() // nothing is lost with it
		e.pool = nil
	}
	if e.cache != nil {
		_ = e.cache.Close(context.Background())
		e.cache = nil
	}
}
