package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) auditCommand() *cobra.Command {
	var limit int
	var agent, kb string
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "What agents have written and deleted",
		Long: `Show what agents have written, replaced and deleted, newest last: who, what, when, and
the SHA-256 of the file before and after. The log lies beside the index as
audit.jsonl, one JSON object a line, and needs no running daemon to be read.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 100_000 {
				return usageError{fmt.Errorf("--limit is %d; allowed: 1 to 100000", limit)}
			}
			c, err := a.config()
			if err != nil {
				return err
			}
			byAgent := cmd.Flags().Changed("agent")
			entries, bad, err := auditIn(c.DataDir()).read(limit, func(e auditEntry) bool {
				return (!byAgent || e.Agent == agent) && (kb == "" || e.KB == kb)
			})
			if err != nil {
				return err
			}
			if a.json {
				if entries == nil {
					entries = []auditEntry{}
				}
				return a.printJSON(entries)
			}
			return a.printAudit(entries, bad)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "the newest so many")
	cmd.Flags().StringVar(&agent, "agent", "", "only what this agent did (\"\" = the main socket)")
	cmd.Flags().StringVar(&kb, "kb", "", "only in this knowledge base")
	return a.jsonFlag(cmd)
}

func (a *app) printAudit(entries []auditEntry, bad int) error {
	p := a.page()
	if len(entries) == 0 {
		p.line("no agent has written anything")
	} else {
		t := newTable("WHEN", "AGENT", "CLIENT", "ACTION", "KNOWLEDGE BASE", "PATH", "BEFORE", "AFTER", "OUTCOME")
		for _, e := range entries {
			agent := e.Agent
			if agent == "" {
				agent = "-"
			}
			t.add(e.At.Local().Format("2006-01-02 15:04:05"), agent, e.Client, e.Action, e.KB, e.Path, shortHash(e.Before), shortHash(e.After), e.Outcome)
		}
		t.write(p, "")
	}
	if bad > 0 {
		p.line("%s of the log could not be read", plural(int64(bad), "line"))
	}
	return p.end()
}

func shortHash(h string) string {
	if len(h) > 12 {
		return h[:12]
	}
	return h
}
