package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"ragd/internal/config"
	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/internal/wire"
)

// checkOffline checks the index while no daemon has it; the caller holds the lock.
func checkOffline(ctx context.Context, cfg *config.Config, repair bool) (report wire.Check, err error) {
	began := time.Now()
	if _, err := os.Stat(cfg.DBPath); errors.Is(err, fs.ErrNotExist) {
		return wire.Check{Problems: []wire.Problem{{
			Part: "index", Code: "no_index", Detail: "there is no index yet at " + cfg.DBPath, Hint: "ragd serve makes it", Warning: true,
		}}}, nil
	} else if err != nil {
		return wire.Check{}, fault.New(fault.Unavailable, "index_unreadable", "the index %s cannot be looked at", cfg.DBPath).Because(err)
	}
	s, opened, err := store.Open(ctx, store.Options{
		Path: cfg.DBPath, Logger: slog.New(slog.DiscardHandler), Reanalyse: reanalyser(),
		Retention: store.Retention{Revisions: cfg.Retention.Revisions, DeletedKept: cfg.Retention.Deleted},
	})
	if err != nil {
		return wire.Check{}, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	var rep store.CheckReport
	if repair {
		rep, err = s.Repair(ctx)
	} else {
		rep, err = s.Check(ctx, true)
	}
	if err != nil {
		return wire.Check{}, err
	}
	report = checkProblems(rep, true)
	if opened.Quarantined != "" {
		report.Problems = append(report.Problems, wire.Problem{
			Part: "index", Code: "index_corrupt", Detail: "the index was damaged; it was set aside as " + opened.Quarantined, Repaired: true,
			Hint: "ragd serve builds it anew from the files",
		})
	}
	report.TookMS = time.Since(began).Milliseconds()
	return report, nil
}

// checkProblems is the store's report as the admin API tells it.
func checkProblems(rep store.CheckReport, deep bool) wire.Check {
	out := wire.Check{OK: len(rep.Problems) == 0, Deep: deep, Problems: []wire.Problem{}}
	for _, p := range rep.Problems {
		out.Problems = append(out.Problems, wire.Problem{Part: "index", Code: p.Code, Detail: p.Detail, Repairable: p.Repairable})
	}
	return out
}
