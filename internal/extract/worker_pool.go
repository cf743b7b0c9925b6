package extract

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"ragd/internal/fault"
)

// WorkerLimits are the bounds of the child processes. Zero fields take the
// defaults.
type WorkerLimits struct {
	Workers     int           // processes at once; default 2
	Timeout     time.Duration // for one file; default 90 s
	OCRTimeout  time.Duration // for one file that may need OCR; default 5 min
	MemoryBytes uint64        // address space of a process; default 2.75 GiB, of which an idle one maps 1.3
	IdleTimeout time.Duration // an unused process ends after this; default 1 min
	CacheDir    string        // a folder of mode 0700 for compiled code, made when missing; empty = none
	Helpers     bool          // tesseract, antiword … may be started where they are installed
	Archives    bool          // look into zip and tar files

	TextExtensions []string // as in Options
}

func (l WorkerLimits) withDefaults() WorkerLimits {
	if l.Workers <= 0 {
		l.Workers = 2
	}
	if l.Timeout <= 0 {
		l.Timeout = 90 * time.Second
	}
	if l.OCRTimeout <= 0 {
		l.OCRTimeout = 5 * time.Minute
	}
	switch {
	case raceEnabled:
		l.MemoryBytes = math.MaxUint64
	case l.MemoryBytes == 0:
		l.MemoryBytes = 2816 << 20
	}
	if l.IdleTimeout <= 0 {
		l.IdleTimeout = time.Minute
	}
	return l
}

// lightTimeout is for formats that the daemon reads itself when a worker does
// not manage to; they stop by themselves long before.
const lightTimeout = 15 * time.Second

// WorkerPool runs risky formats in child processes: exe with args must call
// WorkerMain. A process serves one file at a time and is used again; one that
// crashes, hangs or runs out of memory costs its file only. Processes start
// on demand. Safe for concurrent use.
type WorkerPool struct {
	exe    string
	args   []string
	limits WorkerLimits
	slots  chan struct{} // one token per running extraction

	mu     sync.Mutex // guards the rest
	idle   []*workerProcess
	closed bool
}

// NewWorkerPool starts nothing.
func NewWorkerPool(exe string, args []string, limits WorkerLimits) *WorkerPool {
	limits = limits.withDefaults()
	return &WorkerPool{exe: exe, args: args, limits: limits, slots: make(chan struct{}, limits.Workers)}
}

// Close ends the idle processes; those at work end with their file.
func (p *WorkerPool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		w.kill()
	}
}

// extract hands a file to a process. A process that fails although it had
// served other files before is replaced once, since they may be to blame.
func (p *WorkerPool) extract(ctx context.Context, src Source, t fileType) (*Document, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		w, used, err := p.take()
		if err != nil {
			return nil, err
		}
		doc, err := p.ask(ctx, w, src, t)
		var broken *brokenWorker
		if !errors.As(err, &broken) {
			return doc, err
		}
		if used && !broken.timeout && ctx.Err() == nil {
			continue
		}
		return nil, broken.fault(ctx, src.Path)
	}
}

// take returns an idle process or a new one; used says which.
func (p *WorkerPool) take() (w *workerProcess, used bool, err error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		w = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if w.expiry.Stop() {
			p.mu.Unlock()
			return w, true, nil
		}
	}
	p.mu.Unlock()
	w, err = p.start()
	return w, false, err
}

func (p *WorkerPool) put(w *workerProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go w.kill()
		return
	}
	w.expiry = time.AfterFunc(p.limits.IdleTimeout, func() { p.expire(w) })
	p.idle = append(p.idle, w)
}

func (p *WorkerPool) expire(w *workerProcess) {
	p.mu.Lock()
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	w.kill()
}

// workerProcess is one child. Only the goroutine that holds it uses it.
type workerProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tailBuffer
	expiry *time.Timer
	once   sync.Once
}

func (p *WorkerPool) start() (*workerProcess, error) {
	env, err := json.Marshal(workerConfig{
		MemoryBytes: p.limits.MemoryBytes, CacheDir: p.limits.CacheDir, Helpers: p.limits.Helpers,
		Archives: p.limits.Archives, TextExtensions: p.limits.TextExtensions,
	})
	if err != nil {
		return nil, err
	}
	if p.limits.CacheDir != "" {
		if err := os.MkdirAll(p.limits.CacheDir, 0o700); err != nil {
			return nil, startFault(err)
		}
	}
	w := &workerProcess{cmd: exec.Command(p.exe, p.args...), stderr: &tailBuffer{}}
	w.cmd.Env = []string{
		workerEnv + "=" + string(env),
		"GOMEMLIMIT=400MiB", "GOMAXPROCS=2", "GOTRACEBACK=single", "OMP_THREAD_LIMIT=1", "MALLOC_ARENA_MAX=1",
		"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent", "TMPDIR=/nonexistent",
	}
	w.cmd.Dir = "/"
	w.cmd.Stderr = w.stderr
	w.cmd.WaitDelay = time.Second
	detach(w.cmd)
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, startFault(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, startFault(err)
	}
	if err := w.cmd.Start(); err != nil {
		return nil, startFault(err)
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 64<<10)
	return w, nil
}

func startFault(err error) error {
	return fault.New(fault.Transient, "worker_start", "the process that reads this format did not start").Because(err)
}

// kill ends the process and whatever it started, and reaps it.
func (w *workerProcess) kill() {
	w.once.Do(func() {
		w.in.Close()
		killGroup(w.cmd)
		_ = w.cmd.Wait() // its state is read by the caller
	})
}

// ask sends a file and waits for the answer. A *brokenWorker error says that
// the process is gone.
func (p *WorkerPool) ask(ctx context.Context, w *workerProcess, src Source, t fileType) (*Document, error) {
	limit := p.limits.Timeout
	switch {
	case p.limits.Helpers && t.ocr:
		limit = p.limits.OCRTimeout
	case t.size > 0:
		limit = min(limit, lightTimeout)
	}
	deadline, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(deadline, func() { killGroup(w.cmd) })
	answer, err := w.exchange(src, t)
	if !stop() || err != nil {
		w.kill()
		return nil, &brokenWorker{
			timeout: deadline.Err() != nil, limit: limit, cause: err,
			state: fmt.Sprint(w.cmd.ProcessState), stderr: w.stderr.String(),
		}
	}
	if answer.Retire {
		w.kill()
	} else {
		p.put(w)
	}
	switch {
	case answer.Fault != nil:
		return nil, answer.Fault.unpack()
	case answer.Document == nil:
		return nil, fault.New(fault.Permanent, "corrupt", "%s: the reader gave nothing", base(src.Path))
	}
	return answer.Document, nil
}

func (w *workerProcess) exchange(src Source, t fileType) (workerAnswer, error) {
	var answer workerAnswer
	req := workerRequest{Path: src.Path, ModTime: src.ModTime, Format: t.format.Name, Light: t.size > 0}
	if err := writeRequest(w.in, req, src.Data); err != nil {
		return answer, err
	}
	b, err := readFrame(w.out, answerMax)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(b, &answer)
}

// brokenWorker tells how a process ended.
type brokenWorker struct {
	timeout bool
	limit   time.Duration
	cause   error
	state   string // "signal: killed", "exit status 2"
	stderr  string
}

func (b *brokenWorker) Error() string {
	return fmt.Sprintf("worker ended (%s): %v: %s", b.state, b.cause, clip(b.stderr, 2<<10))
}

func (b *brokenWorker) fault(ctx context.Context, path string) error {
	name := base(path)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case b.timeout:
		return fault.New(fault.Permanent, "timeout", "%s took longer than %v to read", name, b.limit).Because(b)
	case strings.Contains(b.stderr, "out of memory") || strings.Contains(b.stderr, "cannot allocate memory"):
		return fault.New(fault.Permanent, "out_of_memory", "%s needs more memory to read than a file is allowed", name).Because(b)
	case strings.Contains(b.stderr, "extract worker:"):
		return fault.New(fault.Transient, "worker_start", "the process that reads %s could not work", name).Because(b)
	case strings.Contains(b.state, "killed"):
		return fault.New(fault.Transient, "worker_killed", "the process that read %s was killed from outside", name).Because(b)
	}
	return fault.New(fault.Permanent, "crashed", "the reader crashed on %s", name).Because(b)
}

// tailBuffer keeps the beginning and the end of what a process says on stderr.
type tailBuffer struct {
	mu         sync.Mutex
	head, tail []byte
}

const tailMax = 4 << 10

func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if room := tailMax - len(t.head); room > 0 {
		k := min(room, len(b))
		t.head = append(t.head, b[:k]...)
		b = b[k:]
	}
	t.tail = append(t.tail, b...)
	if len(t.tail) > tailMax {
		t.tail = bytes.Clone(t.tail[len(t.tail)-tailMax:])
	}
	return n, nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.head)+string(t.tail), "�")
}
