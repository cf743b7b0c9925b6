package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ragd/internal/wire"
)

func (a *app) jobsCommand() *cobra.Command {
	var failed bool
	var state string
	var limit int
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "The queue: what waits, what is in work, what failed and why",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case failed && state != "" && state != "failed":
				return usageError{fmt.Errorf("--failed and --state %s contradict one another", state)}
			case failed:
				state = "failed"
			case state != "" && !slices.Contains(jobStates(), state):
				return usageError{fmt.Errorf("--state is %q; allowed: %s", state, strings.Join(jobStates(), ", "))}
			}
			if limit < 1 || limit > 1000 {
				return usageError{fmt.Errorf("--limit is %d; allowed: 1 to 1000", limit)}
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			jobs, err := c.Jobs(cmd.Context(), state, limit)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(jobs)
			}
			return a.printJobs(jobs)
		},
	}
	cmd.Flags().BoolVar(&failed, "failed", false, "only those that failed")
	cmd.Flags().StringVar(&state, "state", "", strings.Join(jobStates(), ", "))
	cmd.Flags().IntVar(&limit, "limit", 100, "how many, 1 to 1000")
	a.complete(cmd, "state", jobStates)
	return a.jsonFlag(cmd)
}

func jobStates() []string { return []string{"pending", "processing", "failed"} }

func (a *app) printJobs(jobs wire.Jobs) error {
	p := a.page()
	p.line("queue: %s pending, %s in work, %s failed", countText(jobs.Queue.Pending), countText(jobs.Queue.Processing), countText(jobs.Queue.Failed))
	t := newTable(">ID", "STATE", "FILE", "STAGE", ">TRIES", "NEXT TRY", "WHY")
	for _, j := range jobs.Jobs {
		why := j.Message
		if why == "" {
			why = j.Reason
		}
		if j.Hint != "" {
			why += " (" + j.Hint + ")"
		}
		t.add(strconv.FormatInt(j.ID, 10), j.State, j.KB+"/"+shownPath(j.Path, j.PathBytes), j.Stage,
			strconv.Itoa(j.Attempts), nextTry(j), oneLine(why, 160))
	}
	if len(jobs.Jobs) > 0 {
		p.line("")
		t.write(p, "")
	}
	if rest := jobs.Total - int64(len(jobs.Jobs)); rest > 0 {
		p.line("and %s more; --limit shows up to 1000", countText(rest))
	}
	if jobs.Queue.Failed > 0 {
		p.line("\ntry again: ragd retry ID, or ragd retry --all")
	}
	return p.end()
}

func nextTry(j wire.Job) string {
	if j.NextTry.IsZero() {
		return ""
	}
	if d := time.Until(j.NextTry); d > 0 {
		return "in " + durationText(d)
	}
	return "now"
}

func (a *app) retryCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "retry ID… | --all",
		Short: "Try failed files again",
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usageError{fmt.Errorf("retry takes the ids of failed jobs, or --all")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			defer c.Close()
			n := 0
			if all {
				if n, err = c.RetryAll(cmd.Context()); err != nil {
					return err
				}
			}
			for _, id := range ids {
				if err := c.RetryJob(cmd.Context(), id); err != nil {
					return err
				}
				n++
			}
			if a.json {
				return a.printJSON(wire.Retried{Retried: n})
			}
			p := a.page()
			p.line("%s queued again", plural(int64(n), "file"))
			return p.end()
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that failed")
	return a.jsonFlag(cmd)
}

// jobIDs reads all arguments before anything is done with the first.
func jobIDs(args []string) ([]int64, error) {
	ids := make([]int64, 0, len(args))
	for _, s := range args {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil || id < 1 {
			return nil, usageError{fmt.Errorf("%q is no job's id; allowed: a whole number from 1 (see ragd jobs --failed)", s)}
		}
		ids = append(ids, id)
	}
	return ids, nil
}
