// Command ragtui is the dashboard of a running ragd. It reads flags, finds
// the admin socket and the terminal's abilities, and hands over to
// internal/tui. It indexes nothing and starts no daemon.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/charmbracelet/x/term"

	"ragd/internal/adminclient"
	"ragd/internal/config"
	"ragd/internal/fault"
	"ragd/internal/tui"
)

// version is stamped in by the build: -ldflags "-X main.version=…".
var version string //nolint:gochecknoglobals // the linker needs a variable

// Exit codes, the same as ragd's: 1 = it failed, 2 = it was called wrongly.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	// The lists are bounded and garbage is short-lived: collecting early keeps the program small.
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(36 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type flags struct {
	config, socket, page, query, snapshot, format, color, theme string
	offline, ascii, version                                     bool
}

const usage = `ragtui shows what ragd does: what is indexed, what waits, what failed, and search.

  ragtui                                  the dashboard
  ragtui --page search --query "…"        begin with a search
  ragtui --snapshot 80x24 [--page …]      print one frame as text and leave
  ragtui --snapshot 80x24 --format svg    … as a picture

`

func parse(args []string, errOut io.Writer) (flags, error) {
	var f flags
	fs := flag.NewFlagSet("ragtui", flag.ContinueOnError)
	fs.SetOutput(errOut)
	fs.StringVar(&f.config, "config", "", "settings file of ragd (RAGD_CONFIG)")
	fs.StringVar(&f.socket, "admin-socket", "", "the daemon's admin socket (RAGD_ADMIN_SOCKET)")
	fs.StringVar(&f.page, "page", "", "first page: "+strings.Join(tui.PageNames(), ", "))
	fs.StringVar(&f.query, "query", "", "search for this at the start")
	fs.StringVar(&f.snapshot, "snapshot", "", "print one frame of this size, such as 80x24, and leave")
	fs.StringVar(&f.format, "format", "text", "with --snapshot: text, or svg for a picture")
	fs.BoolVar(&f.offline, "offline", false, "with --snapshot: print the frame even when no daemon answers")
	fs.StringVar(&f.color, "color", "auto", "auto, none, mono, 16, 256 or true")
	fs.StringVar(&f.theme, "theme", "auto", "auto, dark or light")
	fs.BoolVar(&f.ascii, "ascii", false, "draw with ASCII only")
	fs.BoolVar(&f.version, "version", false, "print the version and leave")
	fs.Usage = func() {
		// Help that cannot be written has no other place to go.
		_, _ = io.WriteString(errOut, usage)
		fs.VisitAll(func(g *flag.Flag) { _, _ = fmt.Fprintf(errOut, "  --%-14s %s\n", g.Name, g.Usage) })
	}
	if err := fs.Parse(args); err != nil {
		return f, err
	}
	if fs.NArg() > 0 {
		return f, fault.New(fault.Invalid, "unknown_argument", "ragtui takes no argument %q", fs.Arg(0)).WithHint("see: ragtui --help")
	}
	return f, nil
}

func run(ctx context.Context, args []string, in *os.File, out, errOut *os.File) int {
	f, err := parse(args, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		if _, ok := fault.As(err); ok { // package flag has printed its own
			report(errOut, err)
		}
		return exitUsage
	case f.version:
		_, _ = fmt.Fprintln(out, "ragtui "+versionText())
		return 0
	}
	if err := show(ctx, f, in, out); err != nil {
		report(errOut, err)
		if fault.KindOf(err) == fault.Invalid {
			return exitUsage
		}
		return exitFailed
	}
	return 0
}

func show(ctx context.Context, f flags, in, out *os.File) error {
	sources := config.FromOS(f.config, nil)
	socket, err := adminSocket(sources, f.socket)
	if err != nil {
		return err
	}
	client := adminclient.New(socket)
	defer client.Close()
	screen := &screen{File: out}
	look, err := lookOf(f, out)
	if err != nil {
		return err
	}
	o := tui.Options{
		Backend: client, Desk: &desk{screen: screen, sources: sources, client: client}, Output: screen,
		Color: look.color, Dark: look.dark, UTF8: look.utf8, Page: f.page, Query: f.query,
	}
	if f.snapshot != "" {
		return snapshot(ctx, f, o, client, out)
	}
	if !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return fault.New(fault.Invalid, "no_terminal", "ragtui needs a terminal").
			WithHint("for scripts there are: ragtui --snapshot 80x24, ragd status")
	}
	return tui.Run(ctx, o)
}

// adminSocket is the socket as named, else as the settings say. A settings
// file with an error in it is no reason not to look at a named daemon.
func adminSocket(s config.Sources, named string) (string, error) {
	if named == "" {
		named = s.Env["RAGD_ADMIN_SOCKET"]
	}
	if named != "" {
		return named, nil
	}
	c, err := config.Load(s)
	if err != nil {
		return "", err
	}
	return c.Sockets.Admin, nil
}

func report(errOut io.Writer, err error) {
	text := "ragtui: " + err.Error() + "\n"
	if f, ok := fault.As(err); ok {
		text = "ragtui: " + f.Message + "\n"
		if f.Hint != "" {
			text += "  " + f.Hint + "\n"
		}
	}
	// There is no other place to say it.
	_, _ = io.WriteString(errOut, text)
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
