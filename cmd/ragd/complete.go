package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completeTime is what a shell waits for a completion.
const completeTime = 500 * time.Millisecond

// complete gives a flag its allowed words.
func (a *app) complete(cmd *cobra.Command, flag string, words func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag's name is misspelt in this program
	}
}

func (a *app) completeKB(cmd *cobra.Command, flag string) { a.complete(cmd, flag, a.kbNames) }

// kbNames asks the daemon; without one there is nothing to offer.
func (a *app) kbNames() []string {
	c, err := a.client()
	if err != nil {
		return nil
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	kbs, err := c.KBs(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(kbs))
	for _, kb := range kbs {
		names = append(names, kb.Name)
	}
	return names
}

// kbArg completes a command's only argument.
func (a *app) kbArg(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.kbNames(), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) mountArg(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := a.config()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, m := range c.Mounts {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
