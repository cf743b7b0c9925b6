package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ragd/internal/extract"
	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/kbroot"
)

// Options configure an Indexer. Zero values get the defaults named.
type Options struct {
	Root      Root
	Store     Store
	Extractor extract.Extractor
	Logger    *slog.Logger
	Embedding *Embedding // the stage behind insert; nil = search by keyword only

	Concurrency   int           // workers; default: the number of CPUs
	RetryMax      int           // attempts before a job is parked; default 3
	StaleTimeout  time.Duration // a job processing for longer is rescued; default 300 s
	ScanInterval  time.Duration // between backstop scans; 0 = off
	ChunkMaxChars int           // hard cap of a chunk; default 3200
	MaxFileBytes  int64         // most bytes read of one file; default 50 MiB
}

// Indexer keeps the index equal to the disk. Make one with New, run it with Run.
type Indexer struct {
	root      Root
	store     Store
	extractor extract.Extractor
	log       *slog.Logger
	opt       Options

	hints  *hintSet
	scans  *scanQueue
	kick   chan struct{} // wakes the dispatcher; capacity 1
	events *broadcaster
	rate   *rateMeter
	ahead  ahead

	planMu sync.Mutex // held while looking at the disk and writing the plan of it

	mu        sync.Mutex
	kbIDs     map[string]int64    // name → store id
	rootIDs   map[string]rootSeen // identity of each root at its last good scan
	heldRoots map[string]string   // roots whose disappearance is not believed → why
	confirmed map[string]bool     // roots whose emptiness the user confirmed
	outage    string              // why the pipeline rests; "" = it does not
	lastWork  time.Time
	orphans   []store.Job // claimed, but giving them back failed

	inflight  atomic.Int64 // jobs claimed and not committed
	stages    stages
	scanned   atomic.Bool // the first full scan is over
	scanning  atomic.Int64
	scanEvery atomic.Int64 // ns between backstop scans; 0 = off
	unsettled atomic.Bool  // written since the last maintenance
}

type rootSeen struct {
	id kbroot.RootID
}

// New makes an Indexer; it starts nothing.
func New(o Options) (*Indexer, error) {
	if o.Root == nil || o.Store == nil || o.Extractor == nil {
		return nil, errors.New("indexer: Root, Store and Extractor are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Concurrency <= 0 {
		o.Concurrency = runtime.GOMAXPROCS(0)
	}
	if o.RetryMax <= 0 {
		o.RetryMax = 3
	}
	if o.StaleTimeout <= 0 {
		o.StaleTimeout = 300 * time.Second
	}
	if o.ChunkMaxChars <= 0 {
		o.ChunkMaxChars = 3200
	}
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = 50 << 20
	}
	ix := &Indexer{
		root: o.Root, store: o.Store, extractor: o.Extractor, log: o.Logger, opt: o,
		hints:     newHintSet(),
		scans:     newScanQueue(),
		kick:      make(chan struct{}, 1),
		events:    newBroadcaster(),
		rate:      newRateMeter(),
		ahead:     ahead{workers: o.Concurrency, mean: map[string]time.Duration{}},
		kbIDs:     map[string]int64{},
		rootIDs:   map[string]rootSeen{},
		heldRoots: map[string]string{},
		confirmed: map[string]bool{},
	}
	ix.scanEvery.Store(int64(o.ScanInterval))
	return ix, nil
}

// Run indexes until ctx ends. It returns nil on a clean stop. Jobs under way
// when ctx ends are given back without burning an attempt.
func (ix *Indexer) Run(ctx context.Context, changes <-chan kbroot.Change) error {
	if n, err := ix.store.RescueStale(ctx, 0, ix.opt.RetryMax); err != nil {
		return fmt.Errorf("indexer: rescue jobs left by a crash: %w", err)
	} else if n > 0 {
		ix.log.Info("jobs left unfinished were rescued", "jobs", n)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return ix.intake(ctx, changes) })
	g.Go(func() error { return ix.planner(ctx) })
	g.Go(func() error { return ix.scanner(ctx) })
	g.Go(func() error { return ix.pipeline(ctx) })
	g.Go(func() error { return ix.upkeep(ctx) })
	if e := ix.opt.Embedding; e != nil {
		e.busy = func() bool { return ix.inflight.Load() > 0 }
		g.Go(func() error { return e.Run(ctx) })
	}
	err := g.Wait()
	if err != nil && (errors.Is(err, context.Canceled) || fault.KindOf(err) == fault.Cancelled) {
		return nil
	}
	return err
}

// Hint takes a change as if the watcher had sent it.
func (ix *Indexer) Hint(c kbroot.Change) { ix.hints.add(c) }

// intake drains the hint channel at once, so that the watcher never waits.
func (ix *Indexer) intake(ctx context.Context, changes <-chan kbroot.Change) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, ok := <-changes:
			if !ok {
				<-ctx.Done()
				return ctx.Err()
			}
			ix.hints.add(c)
		}
	}
}

// wake tells the dispatcher that there may be work.
func (ix *Indexer) wake() {
	select {
	case ix.kick <- struct{}{}:
	default:
	}
}

// wakeEmbedding tells the embed stage that there may be new chunks.
func (ix *Indexer) wakeEmbedding() {
	if e := ix.opt.Embedding; e != nil {
		e.Wake()
	}
}
