package watcher

import (
	"context"
	"hash/maphash"
	"path"
	"strings"
	"time"

	"ragd/kbroot"
)

// Polling compares a fingerprint of every folder's files (names, sizes,
// times, inodes) with the one before. A look costs one walk and no query of
// the index, and only folders that differ are hinted. The time between two
// looks grows with what one costs, so polling takes at most a twentieth of
// one core, whatever the size of the root.
const pollShare = 20

// pollResult is one look at a root.
type pollResult struct {
	root *root
	id   fileID
	seen map[kbroot.DocPath]uint64
	took time.Duration
	gone error // the root's folder is not there
	err  error // it is, but not everything could be read
}

var pollSeed = maphash.MakeSeed() // one seed for the process; nothing is kept beyond it

func (l *loop) startPolls(ctx context.Context, now time.Time) {
	for _, r := range l.roots {
		if r.pollBusy || r.pollAt.IsZero() || r.pollAt.After(now) {
			continue
		}
		r.pollBusy = true
		l.polling++
		name, dir := r.status.Name, r.status.Dir
		go func() {
			res := poll(ctx, l.set, name, dir)
			res.root = r
			l.polled <- res // the loop takes one for each poll, also when it ends
		}()
	}
}

func poll(ctx context.Context, set Source, name, dir string) (res pollResult) {
	start := time.Now()
	defer func() { res.took = time.Since(start) }()
	id, _, err := idOf(dir)
	if err != nil {
		res.gone = err
		return res
	}
	res.id = id
	kbs, err := set.KBs()
	if err != nil {
		res.err = err
		return res
	}
	res.seen = map[kbroot.DocPath]uint64{}
	for _, kb := range kbs {
		if kb.Root != name {
			continue
		}
		res.seen[kbroot.DocPath{KB: kb.Name}] += 1
		err := set.Walk(ctx, kb.Name, "", func(e kbroot.Entry) error {
			folder := kbroot.DocPath{KB: kb.Name}
			if d := path.Dir(e.Path); d != "." {
				folder.Path = d
			}
			res.seen[folder] += fileSum(e) // a sum does not depend on the order
			return nil
		})
		if err != nil && res.err == nil {
			res.err = err
		}
	}
	return res
}

func fileSum(e kbroot.Entry) uint64 {
	return maphash.Comparable(pollSeed, struct {
		name       string
		code       kbroot.Code
		size       int64
		mtime      int64
		ctime      int64
		dev, inode uint64
	}{e.Path, e.Verdict.Code, e.Size, e.ModTime.UnixNano(), e.CTime.UnixNano(), e.Dev, e.Inode})
}

// pollDone compares a look with the one before.
func (l *loop) pollDone(res pollResult, now time.Time) {
	r := res.root
	r.pollBusy = false
	if r.pollAt.IsZero() || l.rootNamed(r.status.Name) != r {
		return // not polled any more
	}
	every := l.opt.PollInterval
	if r.status.Mode == ModeDegraded { // nobody chose to poll it: stay as near to events as is cheap
		every = l.opt.rootInterval()
	}
	r.pollAt = now.Add(max(every, pollShare*res.took))
	if res.gone != nil {
		if r.status.Mode != ModeUnavailable {
			l.unavailable(r, res.gone, now)
			l.hintRoot(r.status.Name, now)
		}
		return
	}
	if r.pollAlways {
		l.setMode(r, ModePolling, "the configuration says that this folder is polled", "", now)
		if r.present && r.id != res.id {
			r.seen = nil
		}
		r.present, r.id = true, res.id
	}
	if res.err != nil {
		// What could not be read is unknown, not gone: keep the last full look,
		// and have the root scanned once.
		if msg := res.err.Error(); r.pollErr != msg {
			r.pollErr = msg
			l.hintRoot(r.status.Name, now)
		}
		return
	}
	r.pollErr = ""
	old := r.seen
	r.seen = res.seen
	if old == nil {
		l.hintRoot(r.status.Name, now)
		return
	}
	l.hintDiffering(r, old, res.seen, now)
}

// maxTrees is how many differing folders are hinted one by one.
const maxTrees = 64

func (l *loop) hintDiffering(r *root, old, seen map[kbroot.DocPath]uint64, now time.Time) {
	var differ []kbroot.DocPath
	for d, sum := range seen {
		if before, ok := old[d]; !ok || before != sum {
			differ = append(differ, d)
		}
	}
	for d := range old {
		if _, ok := seen[d]; !ok {
			differ = append(differ, d)
		}
	}
	if len(differ) > maxTrees {
		l.hintRoot(r.status.Name, now)
		return
	}
	for _, d := range differ {
		if !coveredBy(d, differ) {
			l.hint(kbroot.ChangeTree, r.status.Name, d, false, now)
		}
	}
}

// coveredBy reports whether another of the folders contains d.
func coveredBy(d kbroot.DocPath, all []kbroot.DocPath) bool {
	for _, o := range all {
		if o.KB == d.KB && o != d && (o.Path == "" || strings.HasPrefix(d.Path, o.Path+"/")) {
			return true
		}
	}
	return false
}
