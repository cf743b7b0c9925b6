package main

import (
	"context"
	"errors"
	"fmt"

	"ragd/internal/adminclient"
	"ragd/internal/fault"
)

// The exit codes; rootCommand's help tells them.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNoDaemon   = 3
	exitNotFound   = 4
	exitFoundFault = 5
)

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// errProblems is the end of a check that found something; what it found is printed already.
var errProblems = errors.New("problems were found")

func exitCode(err error) int {
	var usage usageError
	var exit exitError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errProblems):
		return exitFoundFault
	case adminclient.IsNotRunning(err):
		return exitNoDaemon
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return exitUsage
	case fault.NotFound:
		return exitNotFound
	}
	return exitFailed
}

// printError writes "ragd: message (code)" and the hint on a line of its own.
func (a *app) printError(err error) {
	var exit exitError
	if errors.Is(err, errProblems) || errors.As(err, &exit) {
		return // what there is to say has been said
	}
	message, code, hint := err.Error(), "", ""
	var usage usageError
	if f, ok := fault.As(err); ok {
		// The cause is part of the message here: whoever sits at the shell owns the daemon.
		message, code, hint = f.Error(), f.Code, f.Hint
	} else if errors.As(err, &usage) {
		code, hint = "usage", "see: ragd --help"
	} else if errors.Is(err, context.Canceled) {
		message, code = "stopped", "cancelled"
	}
	line := "ragd: " + visible(message)
	if code != "" {
		line += " (" + code + ")"
	}
	if hint != "" {
		line += "\n  " + visible(hint)
	}
	// When even stderr is gone there is nobody to tell.
	_, _ = fmt.Fprintln(a.err, line)
}
