package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"ragd/internal/adminclient"
	"ragd/internal/config"
	"ragd/internal/fault"
	"ragd/internal/usock"
	"ragd/internal/wire"
)

func (a *app) doctorCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the index, the folders, the watches and the sockets",
		Long: `Check the index, the folders, the watches and the sockets. It works while the daemon
runs (which then checks its own index) and while it does not. --repair mends what can
be mended; nothing of it touches your files. Exit code 5 means that problems are left.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			began := time.Now()
			cfg, err := a.config()
			if err != nil {
				return err
			}
			report, err := examine(cmd.Context(), cfg, repair)
			if err != nil {
				return err
			}
			report.TookMS = time.Since(began).Milliseconds()
			if a.json {
				err = a.printJSON(report)
			} else {
				err = a.printCheck(report)
			}
			if err == nil && !report.OK {
				return errProblems
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "mend what can be mended")
	return a.jsonFlag(cmd)
}

// examine checks the surroundings from here, and the index through the daemon
// or, when there is none, itself with the daemon's lock held.
func examine(ctx context.Context, cfg *config.Config, repair bool) (wire.Check, error) {
	report := wire.Check{Deep: true, Problems: surroundings(cfg)}
	index, err := examineIndex(ctx, cfg, repair)
	if err != nil {
		return report, err
	}
	report.Problems = append(report.Problems, index.Problems...)
	report.OK = true
	for _, p := range report.Problems {
		if !p.Repaired && !p.Warning {
			report.OK = false
		}
	}
	return report, nil
}

func examineIndex(ctx context.Context, cfg *config.Config, repair bool) (wire.Check, error) {
	c := adminclient.New(cfg.Sockets.Admin)
	defer c.Close()
	ask := func() (wire.Check, error) {
		if repair {
			return c.Repair(ctx)
		}
		return c.Check(ctx, true)
	}
	r, err := ask()
	if !adminclient.IsNotRunning(err) {
		return r, err
	}
	// Nobody answers. The lock says whether that is so because nobody runs.
	lock, err := usock.Lock(cfg.LockPath(), "the index "+cfg.DBPath)
	if err != nil {
		if f, ok := fault.As(err); ok && f.Code == "already_running" {
			return r, f.WithHint("it does not answer on %s; is it just starting or stopping, or was it started with other settings?", cfg.Sockets.Admin)
		}
		return r, err
	}
	r, err = checkOffline(ctx, cfg, repair)
	if cerr := lock.Close(); err == nil {
		err = cerr
	}
	return r, err
}

func (a *app) printCheck(r wire.Check) error {
	p := a.page()
	for _, pr := range r.Problems {
		mark := "problem"
		switch {
		case pr.Repaired:
			mark = "mended"
		case pr.Warning:
			mark = "note"
		}
		p.line("%-8s %s: %s (%s)", mark, visible(pr.Part), visible(pr.Detail), visible(pr.Code))
		hint := pr.Hint
		if hint == "" && pr.Repairable && !pr.Repaired {
			hint = "ragd doctor --repair mends it"
		}
		if hint != "" {
			p.line("         %s", visible(hint))
		}
	}
	if r.OK {
		p.line("all is well (%s)", durationText(max(time.Duration(r.TookMS)*time.Millisecond, time.Second)))
	}
	return p.end()
}
