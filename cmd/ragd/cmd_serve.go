package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "The daemon: watch, index, answer",
		Long: `Watch the configured folders, index what is in them, and answer agents and ragd's own
commands until it is stopped (Ctrl-C, SIGTERM). SIGHUP makes it read its settings again.`,
		Example: "  ragd serve --root ~/knowledge\n  KB_ROOT=~/knowledge ragd serve",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src := a.sources()
			cfg, err := a.config()
			if err != nil {
				return err
			}
			return runServe(cmd.Context(), cfg, src, a.terminal())
		},
	}
}

// terminal is standard error where a person looks at it, else nil.
func (a *app) terminal() io.Writer {
	f, ok := a.err.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || f.Name() == os.DevNull {
		return nil
	}
	return f
}
