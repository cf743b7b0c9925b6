package main

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"ragd/indexer"
	"ragd/internal/config"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
	"ragd/mcpserver"
	"ragd/watcher"
)

// daemonState is what reloads change.
type daemonState struct {
	mu  sync.Mutex
	cfg *config.Config
}

func (d *daemon) config() *config.Config {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	return d.state.cfg
}

// Health implements admin.Daemon.
func (d *daemon) Health() wire.Health {
	h := wire.Health{Status: "ok", APIVersion: wire.APIVersion, Version: versionText(), PID: os.Getpid(), Degraded: map[string]string{}}
	st := d.indexer.Status(context.Background())
	if st.Phase == indexer.PhaseWarmingUp {
		h.Status = "warming_up"
	}
	if st.Phase == indexer.PhasePaused {
		h.Degraded["indexer"] = st.Why
	}
	for root, why := range st.Held {
		h.Degraded["root "+root] = why
	}
	for _, w := range d.watcher.State() {
		if w.Mode == watcher.ModeDegraded {
			h.Degraded["watcher "+w.Name] = w.Reason
		}
	}
	return h
}

// degraded says in words what makes answers less fresh than usual.
func (d *daemon) degraded() []string { return d.degradedAmong(func(string) bool { return true }) }

// degradedAmong says it of some roots.
func (d *daemon) degradedAmong(asked func(root string) bool) []string {
	var out []string
	held := d.indexer.HeldRoots()
	for _, root := range slices.Sorted(maps.Keys(held)) {
		if asked(root) {
			out = append(out, "root "+root+" cannot be read: "+held[root])
		}
	}
	for _, w := range d.watcher.State() {
		if w.Mode == watcher.ModeDegraded && asked(w.Name) {
			out = append(out, "root "+w.Name+" is polled: "+w.Reason)
		}
	}
	return out
}

// Status implements admin.Daemon.
func (d *daemon) Status(ctx context.Context) (wire.Status, error) {
	cfg := d.config()
	work := d.indexer.Status(ctx)
	totals, err := d.store.Totals(ctx)
	if err != nil {
		return wire.Status{}, err
	}
	return wire.Status{
		Version: versionText(), PID: os.Getpid(), Started: d.started,
		UptimeSeconds: int64(time.Since(d.started).Seconds()),
		Phase:         work.Phase, PausedReason: work.Why, Rate: work.Rate,
		Embedder: d.embedder(),
		Watchers: d.Watchers(),
		Index: wire.Index{
			Path: cfg.DBPath, Bytes: totals.DBBytes + totals.WALBytes,
			RetainedRevisions: totals.RetainedRevisions, RetainedBytes: totals.RetainedBytes,
			Quarantined: d.opened.Quarantined, FreeDiskBytes: freeDisk(filepath.Dir(cfg.DBPath)),
		},
		Sockets:  wire.Sockets{MCP: cfg.Sockets.MCP, Admin: cfg.Sockets.Admin},
		Agents:   d.sessions(),
		Warnings: d.warnings(),
	}, nil
}

func (d *daemon) warnings() []string {
	out := append([]string(nil), d.config().Warnings...)
	if d.opened.Quarantined != "" {
		out = append(out, "the index was damaged at the start and is being rebuilt; the damaged one is kept at "+d.opened.Quarantined)
	}
	for _, r := range d.set.Roots() {
		out = append(out, r.Notes...)
	}
	return append(out, d.degraded()...)
}

// Watchers implements admin.Daemon.
func (d *daemon) Watchers() []wire.Watcher {
	notes := map[string][]string{}
	for _, r := range d.set.Roots() {
		notes[r.Name] = r.Notes
	}
	held := d.indexer.HeldRoots()
	states := d.watcher.State()
	out := make([]wire.Watcher, len(states))
	for i, s := range states {
		out[i] = wire.Watcher{
			Root: s.Name, Dir: s.Dir, Mode: string(s.Mode), Watches: s.Watches, Overflows: int64(s.Overflows),
			Reason: s.Reason, Advice: s.Advice, Notes: notes[s.Name], LastEvent: s.LastEvent,
		}
		if why, ok := held[s.Name]; ok && out[i].Reason == "" {
			out[i].Reason = why
		}
	}
	return out
}

// statusSource is the daemon's state as mcpserver wants it.
type statusSource struct{ d *daemon }

// Status implements mcpserver.StatusSource.
func (s statusSource) Status() mcpserver.Status {
	return mcpserver.Status{
		Version: versionText(), Uptime: time.Since(s.d.started),
		Phase:    s.d.indexer.Status(context.Background()).Phase,
		Embedder: s.d.embedder(), Watchers: s.d.Watchers(),
	}
}

func freeDisk(dir string) int64 {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

// Reload implements admin.Daemon: the settings are read again; a bad file
// leaves the old ones in force.
func (d *daemon) Reload(ctx context.Context) (wire.Reloaded, error) {
	after, err := config.Load(d.sources)
	if err != nil {
		return wire.Reloaded{}, err
	}
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	live, restart := config.Diff(d.state.cfg, after)
	if err := d.changeAgents(ctx, after, func() error { return d.set.Reconfigure(after.KBRoot()) }); err != nil {
		return wire.Reloaded{}, err
	}
	d.mcp.Update(d.mcpOptions(after, config.Agent{}))
	gone := vanishedRoots(d.state.cfg, after)
	d.level.Set(after.LogLevel)
	d.indexer.SetScanInterval(after.ScanInterval)
	d.searcher.SetSnippetChars(after.SnippetMaxChars)
	d.state.cfg = after
	d.watcher.Reconcile()
	for _, r := range d.set.Roots() {
		gone = append(gone, r.Name)
	}
	for _, name := range gone {
		d.indexer.Hint(kbroot.Change{Kind: kbroot.ChangeRoot, Root: name})
	}
	d.log.Info("settings were read again", "applied", live, "need_restart", restart)
	return wire.Reloaded{Applied: live, NeedRestart: restart}, nil
}

// vanishedRoots names the roots and mounts that the new settings lack; a hint
// about each removes its documents from the index.
func vanishedRoots(before, after *config.Config) []string {
	have := map[string]bool{}
	for _, r := range after.Roots {
		have[r.Name] = true
	}
	for _, m := range after.Mounts {
		have[m.Name] = true
	}
	var out []string
	for _, r := range before.Roots {
		if !have[r.Name] {
			out = append(out, r.Name)
		}
	}
	for _, m := range before.Mounts {
		if !have[m.Name] {
			out = append(out, m.Name)
		}
	}
	return out
}

func (d *daemon) reloadOnSignal(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if _, err := d.Reload(ctx); err != nil {
				d.log.Error("the settings could not be read again; the old ones stay in force", "error", err)
			}
		}
	}
}

// Check implements admin.Daemon.
func (d *daemon) Check(ctx context.Context, deep bool) (wire.Check, error) {
	start := time.Now()
	rep, err := d.store.Check(ctx, deep)
	if err != nil {
		return wire.Check{}, err
	}
	return d.checkOf(rep, deep, start), nil
}

// Repair implements admin.Daemon.
func (d *daemon) Repair(ctx context.Context) (wire.Check, error) {
	start := time.Now()
	rep, err := d.store.Repair(ctx)
	if err != nil {
		return wire.Check{}, err
	}
	for _, r := range d.set.Roots() {
		d.indexer.Hint(kbroot.Change{Kind: kbroot.ChangeRoot, Root: r.Name})
	}
	return d.checkOf(rep, true, start), nil
}

func (d *daemon) checkOf(rep store.CheckReport, deep bool, start time.Time) wire.Check {
	out := checkProblems(rep, deep)
	for _, w := range d.Watchers() {
		if w.Mode == string(watcher.ModeDegraded) || w.Mode == string(watcher.ModeUnavailable) {
			out.Problems = append(out.Problems, wire.Problem{Part: "watches", Code: "watch_" + w.Mode, Detail: w.Root + ": " + w.Reason, Hint: w.Advice})
			out.OK = false
		}
	}
	if e := d.embedder(); e.State == "failed" || e.State == "paused" {
		out.Problems = append(out.Problems, wire.Problem{
			Part: "embedder", Code: "embedder_" + e.State, Warning: true, Detail: "search is by keyword for what has no vectors: " + e.Reason,
		})
	}
	out.TookMS = time.Since(start).Milliseconds()
	return out
}

// publish turns the indexer's events into those of the admin socket.
func (d *daemon) publish(ctx context.Context) {
	sub := d.indexer.Subscribe()
	defer sub.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-sub.C:
			if e.Kind == indexer.EventPhase {
				d.hub.Publish(wire.Event{Type: "phase", At: e.At, Phase: d.indexer.Status(ctx).Phase})
				continue
			}
			d.hub.Publish(wire.Event{Type: "document", At: e.At, Document: &wire.DocEvent{
				KB: e.KB, Path: kbroot.DisplayPath(e.Path), What: e.What, Chunks: e.Chunks,
				Message: e.Message, TookMS: e.Took.Milliseconds(),
			}})
		}
	}
}
