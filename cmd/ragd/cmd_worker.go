package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ragd/internal/extract"
)

// exitError is the end of a command that has chosen its exit code itself and said why.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// workerCommand is the child process in which the daemon opens risky files.
func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "extract-worker",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := extract.WorkerMain(cmd.Context(), a.in, a.out); code != 0 {
				return exitError{code}
			}
			return nil
		},
	}
}
