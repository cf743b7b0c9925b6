package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"ragd/indexer"
	"ragd/internal/admin"
	"ragd/internal/config"
	"ragd/internal/extract"
	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/usock"
	"ragd/internal/wire"
	"ragd/kbroot"
	"ragd/mcpserver"
	"ragd/watcher"
)

// stopLimit is how long a stop may take before the process ends regardless:
// what is not written then is found again by the rescue at the next start.
const stopLimit = 4500 * time.Millisecond

// runServe runs the daemon until ctx ends. progress is a terminal to draw on,
// or nil.
func runServe(ctx context.Context, cfg *config.Config, sources config.Sources, progress io.Writer) error {
	d, err := openDaemon(ctx, cfg, sources)
	if err != nil {
		return err
	}
	defer d.close()
	for _, n := range cfg.Notes {
		d.log.Info(n)
	}
	for _, w := range cfg.Warnings {
		d.log.Warn(w)
	}
	return d.run(ctx, progress)
}

// daemon is the whole program: every long-lived part and what joins them.
type daemon struct {
	cfg     *config.Config // of the start; reloads replace it under mu in status.go
	sources config.Sources
	log     *slog.Logger
	level   *slog.LevelVar
	started time.Time

	lock     *usock.FileLock
	set      *kbroot.Set
	store    *store.Store
	opened   store.OpenReport
	pool     *extract.WorkerPool
	registry *extract.Registry
	indexer  *indexer.Indexer
	watcher  *watcher.Watcher
	searcher *search.Searcher
	embed    embedding
	mcp      *mcpserver.Server
	doors    agentDoors
	audit    *auditLog
	admin    *admin.Server
	hub      *admin.Hub
	recorder *admin.Recorder
	state    daemonState
}

// openDaemon makes every part in the order lock → store → services. It starts
// no goroutine of its own.
func openDaemon(ctx context.Context, cfg *config.Config, sources config.Sources) (*daemon, error) {
	if err := cfg.Prepare(); err != nil {
		return nil, err
	}
	d := &daemon{cfg: cfg, sources: sources, started: time.Now(), level: new(slog.LevelVar), hub: admin.NewHub()}
	d.state.cfg = cfg
	d.level.Set(cfg.LogLevel)
	text := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: d.level})
	d.recorder = admin.NewRecorder(text, slog.LevelInfo, func(l wire.LogLine) {
		d.hub.Publish(wire.Event{Type: "log", At: l.At, Log: &l})
	})
	d.log = slog.New(d.recorder)
	if err := d.open(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *daemon) open(ctx context.Context) (err error) {
	if d.lock, err = usock.Lock(d.cfg.LockPath(), "the index "+d.cfg.DBPath); err != nil {
		return err
	}
	if d.set, err = kbroot.New(d.cfg.KBRoot()); err != nil {
		return err
	}
	if err := d.openStore(ctx); err != nil {
		return err
	}
	if err := d.openServices(); err != nil {
		return err
	}
	d.openDoors()
	return nil
}

func (d *daemon) openStore(ctx context.Context) (err error) {
	d.store, d.opened, err = store.Open(ctx, store.Options{
		Path:   d.cfg.DBPath,
		Logger: d.log,
		Retention: store.Retention{
			// Not 0 and 0, which would mean the store's defaults.
			Revisions: d.cfg.Retention.Revisions, DeletedKept: max(d.cfg.Retention.Deleted, time.Nanosecond),
		},
		Reanalyse: reanalyser(),
	})
	if err != nil {
		return err
	}
	known, err := d.store.KBs(ctx)
	if err != nil {
		return err
	}
	kbs := make([]kbroot.KB, len(known))
	for i, k := range known {
		kbs[i] = kbroot.KB{Name: k.Name, Root: k.Root, Dir: k.Dir, Mounted: k.Mounted}
	}
	d.set.Remember(kbs)
	return nil
}

func (d *daemon) openServices() (err error) {
	if err := d.openExtractors(); err != nil {
		return err
	}
	d.openEmbedding()
	if d.indexer, err = indexer.New(indexer.Options{
		Root: d.set, Store: d.store, Extractor: d.registry, Logger: d.log, Embedding: d.embed.stage,
		Concurrency:   d.cfg.Indexer.Concurrency,
		RetryMax:      d.cfg.Indexer.RetryMax,
		StaleTimeout:  d.cfg.Indexer.StaleTimeout,
		ScanInterval:  d.cfg.ScanInterval,
		ChunkMaxChars: d.cfg.ChunkMaxChars,
		MaxFileBytes:  d.cfg.MaxFileBytes,
	}); err != nil {
		return err
	}
	cookies := filepath.Join(d.cfg.DataDir(), "barrier")
	if err := usock.PrivateDir(cookies); err != nil {
		return err
	}
	if d.watcher, err = watcher.New(watcher.Options{
		Set: d.set, Quiet: d.cfg.Watch.Quiet, MaxDelay: d.cfg.Watch.MaxDelay,
		PollInterval: d.cfg.Watch.PollInterval, CookieDir: cookies, Logger: d.log,
	}); err != nil {
		return err
	}
	d.searcher, err = search.New(search.Options{Index: d.store, Logger: d.log, SnippetChars: d.cfg.SnippetMaxChars, Meaning: d.meaning()})
	return err
}

// openExtractors sets up the readers; the risky ones run in children of this
// same binary.
func (d *daemon) openExtractors() error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's file, for the extraction workers: %w", err)
	}
	cache := filepath.Join(d.cfg.DataDir(), "cache")
	d.pool = extract.NewWorkerPool(exe, []string{"extract-worker"}, extract.WorkerLimits{
		CacheDir: cache, Helpers: true, Archives: d.cfg.Archives, TextExtensions: d.cfg.TextExtensions,
	})
	d.registry, err = extract.New(extract.Options{TextExtensions: d.cfg.TextExtensions, Pool: d.pool})
	return err
}

func (d *daemon) openDoors() {
	d.audit = auditIn(d.cfg.DataDir())
	d.doors.changes = make(chan doorChange)
	d.mcp = mcpserver.New(d.mcpOptions(d.cfg, config.Agent{}), d.mcpDeps())
	d.admin = admin.New(admin.Options{
		Services: admin.Services{
			Index: adminIndex{d.store}, Search: toldSearch{d}, Files: d.set,
			Work: adminWork{d.indexer}, Daemon: d,
		},
		Hub: d.hub, Recorder: d.recorder, Logger: d.log, MaxFileBytes: d.cfg.MaxFileBytes,
	})
}

func (d *daemon) close() {
	if d.pool != nil {
		d.pool.Close()
	}
	d.closeEmbedding()
	if d.store != nil {
		if err := d.store.Close(); err != nil {
			d.log.Error("the index did not close cleanly", "error", err)
		}
	}
	if d.lock != nil {
		if err := d.lock.Close(); err != nil {
			d.log.Error("the lock of the index could not be given up", "error", err)
		}
	}
}

// sweep finishes removals that an earlier run was killed in.
func (d *daemon) sweep() {
	n, err := d.set.Sweep()
	if err != nil {
		d.log.Warn("what is left of a removed knowledge base could not be taken away", "error", err)
	}
	if n > 0 {
		d.log.Info("removals of knowledge bases that were cut short are finished", "folders", n)
	}
}

// run joins the parts by one errgroup and stops them in time.
func (d *daemon) run(ctx context.Context, progress io.Writer) error {
	mcpSock, err := usock.Listen(d.cfg.Sockets.MCP, "sockets.mcp (RAGD_MCP_SOCKET)")
	if err != nil {
		return err
	}
	adminSock, err := usock.Listen(d.cfg.Sockets.Admin, "sockets.admin (RAGD_ADMIN_SOCKET)")
	if err != nil {
		return errors.Join(err, mcpSock.Close())
	}
	g, gctx := errgroup.WithContext(ctx)
	changes := make(chan kbroot.Change, 256)
	g.Go(func() error { return d.indexer.Run(gctx, changes) })
	g.Go(func() error { return ignoreCancel(d.watcher.Run(gctx, changes)) })
	if err := d.setAgents(gctx, d.cfg, func() error { return nil }); err != nil {
		return errors.Join(err, mcpSock.Close(), adminSock.Close())
	}
	g.Go(func() error { d.runDoors(gctx); return nil })
	g.Go(func() error { return d.mcp.Serve(gctx, mcpSock) })
	g.Go(func() error { return d.admin.ServeOwner(gctx, adminSock) })
	if d.cfg.Admin.Address != "" {
		l, err := net.Listen("tcp", d.cfg.Admin.Address)
		if err != nil {
			return errors.Join(fmt.Errorf("listen on admin.address %s: %w", d.cfg.Admin.Address, err), mcpSock.Close(), adminSock.Close())
		}
		g.Go(func() error { return d.admin.ServeTCP(gctx, l, d.cfg.Admin.Key) })
	}
	g.Go(func() error { d.publish(gctx); return nil })
	g.Go(func() error { d.reloadOnSignal(gctx); return nil })
	g.Go(func() error { d.retryWhenHelpersAppear(gctx); return nil })
	go d.sweep() // a stop need not wait for it: the next start goes on
	if progress != nil {
		g.Go(func() error { d.showProgress(gctx, progress); return nil })
	}
	d.log.Info("ragd is up", "version", versionText(), "pid", os.Getpid(), "index", d.cfg.DBPath,
		"mcp_socket", d.cfg.Sockets.MCP, "admin_socket", d.cfg.Sockets.Admin)
	d.sayRoots()
	watchdog := context.AfterFunc(gctx, func() {
		time.AfterFunc(stopLimit, func() {
			d.log.Error("stopping took too long; ending now")
			os.Exit(0)
		})
	})
	defer watchdog()
	err = g.Wait()
	d.log.Info("ragd stops")
	return ignoreCancel(err)
}

func (d *daemon) sayRoots() {
	for _, r := range d.set.Roots() {
		if r.Available {
			d.log.Info("root", "name", r.Name, "dir", r.Dir)
		} else {
			d.log.Warn("root is not available", "name", r.Name, "dir", r.Dir, "reason", r.Reason)
		}
		for _, n := range r.Notes {
			d.log.Warn(n, "root", r.Name)
		}
	}
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
