package extract

import (
	"context"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ragd/internal/chunk"
	"ragd/internal/fault"
)

// misbehave are file names that make the worker of a test do what a reader
// should not.
func misbehave(ctx context.Context, src Source, _ fileType) (*Document, error) {
	switch string(src.Data) {
	case "panic":
		panic("a reader's fault")
	case "panic elsewhere":
		go func() { panic("a goroutine's fault") }()
		<-ctx.Done()
	case "exit":
		os.Exit(3)
	case "hang":
		for ctx.Err() == nil {
		}
	case "memory":
		var all [][]byte
		for {
			b := make([]byte, 64<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			if len(all) > 1000 {
				return nil, nil
			}
		}
	case "deep":
		return &Document{Title: string(rune('0' + deep(1)%2))}, nil
	case "read":
		_, err := os.ReadFile("/etc/passwd")
		return saying(err), nil
	case "write":
		return saying(os.WriteFile("/tmp/extract-escape", nil, 0o600)), nil
	case "exec":
		_, err := os.StartProcess("/proc/self/exe", []string{"x"}, &os.ProcAttr{})
		return saying(err), nil
	case "network":
		return saying(dial()), nil
	case "environment":
		return &Document{Title: strings.Join(os.Environ(), "\n")}, nil
	case "large":
		return &Document{Text: textOf(strings.Repeat("word ", outputMax/5+1))}, nil
	}
	return &Document{Title: "fine", Text: textOf(string(src.Data))}, nil
}

func textOf(s string) chunk.Text { return chunk.Text{Body: s} }

func dial() error {
	c, err := net.Dial("tcp", "127.0.0.1:9")
	if err == nil {
		c.Close()
	}
	if err != nil && strings.Contains(err.Error(), "connection refused") {
		return nil // it came as far as the network
	}
	return err
}

func cageExpected() bool {
	return runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
}

func deep(n int) int { return deep(n+1) + n }

func saying(err error) *Document {
	if err != nil {
		return &Document{Title: "refused: " + err.Error()}
	}
	return &Document{Title: "allowed"}
}

func misbehaving(t testing.TB, limits WorkerLimits) (*Registry, *WorkerPool) {
	t.Helper()
	pool := newPool(t, limits)
	r, err := New(Options{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	r.byExt["misbehave"] = fileType{format: Format{Name: "misbehave", Version: 1, Worker: true}, env: r.env}
	return r, pool
}

func TestABadFileCostsOneJob(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("the race detector needs more address space than a worker has")
	}
	r, _ := misbehaving(t, WorkerLimits{Workers: 1, Timeout: 2 * time.Minute, MemoryBytes: 2 << 30})
	for _, c := range []struct{ data, code, title string }{
		{data: "good", title: "fine"},
		{data: "panic", code: "corrupt"},
		{data: "good", title: "fine"},
		{data: "panic elsewhere", code: "crashed"},
		{data: "exit", code: "crashed"},
		{data: "memory", code: "out_of_memory"},
		{data: "deep", code: "out_of_memory crashed"}, // whichever limit comes first
		{data: "large", code: "too_large"},
		{data: "good again", title: "fine"},
	} {
		doc, err := r.Extract(context.Background(), Source{Path: "kb/x.misbehave", Data: []byte(c.data)})
		switch f, ok := fault.As(err); {
		case c.code != "" && (!ok || f.Kind != fault.Permanent || !strings.Contains(" "+c.code+" ", " "+f.Code+" ") || !strings.Contains(f.Message, "x.misbehave")):
			t.Errorf("%s: %v, want permanent %s", c.data, err, c.code)
		case c.code == "" && (err != nil || doc.Title != c.title):
			t.Errorf("%s: %v %v", c.data, doc, err)
		}
	}
}

func TestAFileThatHangsIsEndedAtItsDeadline(t *testing.T) {
	t.Parallel()
	r, pool := misbehaving(t, WorkerLimits{Workers: 1, Timeout: time.Second})
	_, err := r.Extract(context.Background(), Source{Path: "x.misbehave", Data: []byte("hang")})
	if f, ok := fault.As(err); !ok || f.Kind != fault.Permanent || f.Code != "timeout" {
		t.Fatalf("error %v, want permanent timeout", err)
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if len(pool.idle) != 0 {
		t.Error("the hanging process is kept for the next file")
	}
}

func TestTheCageHolds(t *testing.T) {
	t.Parallel()
	r, _ := misbehaving(t, WorkerLimits{})
	for _, c := range []string{"read", "write", "network"} {
		doc, err := r.Extract(context.Background(), Source{Path: "x.misbehave", Data: []byte(c)})
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if !strings.HasPrefix(doc.Title, "refused") && cageExpected() {
			t.Errorf("%s: %s", c, doc.Title)
		}
		t.Logf("%s: %s", c, doc.Title)
	}
}

func TestTheWorkerSeesNoEnvironment(t *testing.T) {
	t.Setenv("RAGD_TEST_SECRET", "do-not-pass-on")
	r, _ := misbehaving(t, WorkerLimits{})
	doc, err := r.Extract(context.Background(), Source{Path: "x.misbehave", Data: []byte("environment")})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(doc.Title, "do-not-pass-on") || !strings.Contains(doc.Title, "GOMEMLIMIT") {
		t.Errorf("environment: %s", doc.Title)
	}
}

func TestCancelEndsTheWorkersFile(t *testing.T) {
	t.Parallel()
	r, _ := misbehaving(t, WorkerLimits{Workers: 1})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := r.Extract(ctx, Source{Path: "x.misbehave", Data: []byte("hang")}); err != context.DeadlineExceeded {
		t.Fatalf("error %v, want the context's", err)
	}
	if _, err := r.Extract(context.Background(), Source{Path: "x.misbehave", Data: []byte("good")}); err != nil {
		t.Fatalf("the next file: %v", err)
	}
}

func TestWorkersServeManyFilesAtOnce(t *testing.T) {
	t.Parallel()
	r, pool := misbehaving(t, WorkerLimits{Workers: 2, IdleTimeout: 50 * time.Millisecond})
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			want := strings.Repeat("x", i*1000)
			doc, err := r.Extract(context.Background(), Source{Path: "x.misbehave", Data: []byte(want)})
			if err != nil || doc.Text.Body != want {
				t.Errorf("file %d: %v", i, err)
			}
		})
	}
	group.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for {
		pool.mu.Lock()
		idle := len(pool.idle)
		pool.mu.Unlock()
		if idle == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d workers still wait long after their idle time", idle)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestAWorkerThatDoesNotStartIsTransient(t *testing.T) {
	t.Parallel()
	p := NewWorkerPool("/nonexistent/program", nil, WorkerLimits{})
	r, err := New(Options{Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Extract(context.Background(), Source{Path: "a.pdf", Data: []byte("%PDF-1.4")})
	if f, ok := fault.As(err); !ok || f.Kind != fault.Transient || f.Code != "worker_start" {
		t.Fatal(err)
	}
}

func TestFormatsOfTheWorkerAreNotReadWithoutOne(t *testing.T) {
	t.Parallel()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, reason, ok := r.Lookup("a.pdf"); ok || !strings.Contains(reason, "worker") {
		t.Errorf("pdf without a worker: %q, %v", reason, ok)
	}
	if _, err := r.Extract(context.Background(), Source{Path: "a.pdf", Data: []byte("%PDF-1.4")}); err == nil {
		t.Error("read all the same")
	}
}
