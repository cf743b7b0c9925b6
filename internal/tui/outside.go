package tui

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
)

// suspendMsg asks for what ctrl+z does to other programs.
type suspendMsg struct{}

// outside is something that gets the terminal while the dashboard waits: an
// editor, or the shell that the program was stopped from.
type outside struct {
	p   *program
	run func() error
}

func (outside) SetStdin(io.Reader)  {}
func (outside) SetStdout(io.Writer) {}
func (outside) SetStderr(io.Writer) {}

// Run gives the terminal away and takes it back.
func (o outside) Run() error {
	o.p.m.sh.editing.Store(true)
	defer o.p.m.sh.editing.Store(false)
	if err := o.p.screen.leave(); err != nil {
		return err
	}
	err := o.run()
	if enterErr := o.p.screen.enter(); enterErr != nil {
		return enterErr
	}
	return err
}

// backMsg comes when the terminal is ours again; it may have another size.
type backMsg struct{ err error }

func runOutside(p *program, msg editorMsg) tea.Cmd {
	if msg.err != nil {
		return send(toastMsg{explain(msg.err), true})
	}
	cmd := exec.Command(msg.argv[0], msg.argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if p.screen.in != nil {
		cmd.Stdin = p.screen.in
	}
	if p.screen.size != nil {
		cmd.Stdout = p.screen.size
	}
	return tea.Exec(outside{p, cmd.Run}, func(err error) tea.Msg { return backMsg{err} })
}

// suspend stops the process until the shell sends it on.
func suspend(p *program) tea.Cmd {
	stop := func() error {
		on := make(chan os.Signal, 1)
		signal.Notify(on, syscall.SIGCONT)
		defer signal.Stop(on)
		if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
			return err
		}
		<-on
		return nil
	}
	return tea.Exec(outside{p, stop}, func(err error) tea.Msg { return backMsg{err} })
}
