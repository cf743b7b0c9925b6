package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ragd/internal/fault"
	"ragd/kbroot"
)

type fakeFiles world

func (f *fakeFiles) Roots() []kbroot.RootState {
	return []kbroot.RootState{{Name: "main", Dir: f.root, Available: true}}
}

func (f *fakeFiles) KBs() ([]kbroot.KB, error) {
	entries, err := os.ReadDir(f.root)
	var out []kbroot.KB
	for _, e := range entries {
		if k, ok := f.KB(e.Name()); ok && e.IsDir() {
			out = append(out, k)
		}
	}
	return out, err
}

func (f *fakeFiles) KB(name string) (kbroot.KB, bool) {
	dir := filepath.Join(f.root, name)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return kbroot.KB{}, false
	}
	f.mu.Lock()
	k := f.kbs[name]
	f.mu.Unlock()
	return kbroot.KB{Name: name, Root: "main", Dir: dir, Mounted: k != nil && k.info.Mounted}, true
}

func (f *fakeFiles) file(p kbroot.DocPath) string { return filepath.Join(f.root, p.KB, p.Path) }

func (f *fakeFiles) Stat(p kbroot.DocPath) (kbroot.Entry, error) {
	info, err := os.Lstat(f.file(p))
	if err != nil {
		return kbroot.Entry{DocPath: p, Verdict: kbroot.Verdict{Code: kbroot.Missing}}, nil
	}
	return kbroot.Entry{DocPath: p, Size: info.Size(), ModTime: info.ModTime(), CTime: info.ModTime(), Mode: info.Mode(), Verdict: kbroot.Verdict{Code: kbroot.OK}}, nil
}

func (f *fakeFiles) Open(p kbroot.DocPath) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(f.file(p))
	if err != nil {
		return nil, nil, fault.New(fault.NotFound, "document_not_found", "no such file")
	}
	info, err := file.Stat()
	return file, info, err
}

func (f *fakeFiles) WriteFileIn(_ string, p kbroot.DocPath, data []byte) (bool, error) {
	if strings.HasPrefix(p.Path, ".") {
		return false, fault.New(fault.Invalid, "ignored_path", "%s would never be indexed", p.Path)
	}
	_, err := os.Stat(f.file(p))
	replaced := err == nil
	if err := os.MkdirAll(filepath.Dir(f.file(p)), 0o755); err != nil {
		return false, err
	}
	return replaced, os.WriteFile(f.file(p), data, 0o644)
}

func (f *fakeFiles) Remove(p kbroot.DocPath) (bool, error) {
	err := os.Remove(f.file(p))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (f *fakeFiles) RemoveKB(name string) error { return os.RemoveAll(filepath.Join(f.root, name)) }

type fakeIndex world

func (x *fakeIndex) Reindex(_ context.Context, kb string, force bool) (Counts, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reindex = append(x.reindex, fmt.Sprint(kb, " ", force))
	return Counts{Added: 1, Modified: 2, Deleted: 3, Skipped: 4, Excluded: 5, Enqueued: 3}, nil
}

func (x *fakeIndex) Enqueue(_ context.Context, p kbroot.DocPath) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kbs[p.KB] == nil {
		(*world)(x).addKB(p.KB)
	}
	(*world)(x).indexLocked(p.KB, p.Path)
	return nil
}

func (x *fakeIndex) Forget(_ context.Context, p kbroot.DocPath) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.kbs[p.KB].docs[p.Path]
	delete(x.kbs[p.KB].docs, p.Path)
	return ok, nil
}

func (x *fakeIndex) ForgetKB(_ context.Context, name string) (bool, int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k, ok := x.kbs[name]
	if !ok {
		return false, 0, nil
	}
	delete(x.kbs, name)
	return true, int64(len(k.docs)), nil
}

type fakeFresh world

func (f *fakeFresh) Wait(ctx context.Context, kbs []string) ([]kbroot.DocPath, int, []string, error) {
	if f.onWait != nil {
		return f.onWait(ctx, kbs)
	}
	return nil, 0, nil, nil
}

type fakeStatus world

func (s *fakeStatus) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Version: "1.2.3", Uptime: 90 * time.Second, Phase: "idle", Embedder: s.embedder, Watchers: s.watchers}
}
