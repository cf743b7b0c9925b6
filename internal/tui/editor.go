package tui

import (
	"context"
	"io"
	"os/exec"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

type editorMsg struct {
	argv []string
	err  error
}

// edit opens a file in the person's editor; the screen is handed over and taken back.
func (s *shared) edit(file string, line int) tea.Cmd {
	return func() tea.Msg {
		argv, err := s.desk.Editor(file, line)
		return editorMsg{argv, err}
	}
}

// editorProcess is the editor while it has the terminal.
type editorProcess struct {
	*exec.Cmd
	editing *atomic.Bool
}

func (p editorProcess) SetStdin(r io.Reader) { p.Stdin = r }

// SetStdout unwraps the terminal: an editor needs the file itself, not a pipe into it.
func (p editorProcess) SetStdout(w io.Writer) {
	p.Stdout = w
	if t, ok := w.(Terminal); ok {
		p.Stdout = t.TTY()
	}
}

func (p editorProcess) SetStderr(w io.Writer) { p.Stderr = w }

// Run waits for the editor's end.
func (p editorProcess) Run() error {
	p.editing.Store(true)
	defer p.editing.Store(false)
	return p.Cmd.Run()
}

func runEditor(sh *shared, msg editorMsg) tea.Cmd {
	if msg.err != nil {
		return send(toastMsg{explain(msg.err), true})
	}
	editor := editorProcess{exec.Command(msg.argv[0], msg.argv[1:]...), &sh.editing}
	return tea.Exec(editor, func(err error) tea.Msg {
		if err != nil {
			return toastMsg{"the editor ended with: " + err.Error(), true}
		}
		return nil
	})
}

// verdictMsg opens a window with why a file is indexed or not.
type verdictMsg struct {
	verdict wire.Verdict
	err     error
}

func why(sh *shared, file string) tea.Cmd {
	return func() tea.Msg {
		v, err := sh.backend.Ignored(context.Background(), file)
		return verdictMsg{v, err}
	}
}

func whyPrompt(sh *shared, text string) tea.Cmd {
	return send(promptMsg{
		title: "Why is a file not indexed?", hint: "The path of the file", text: text,
		done: func(text string) tea.Cmd {
			return func() tea.Msg {
				file, err := absolute(text)
				if err != nil {
					return verdictMsg{err: err}
				}
				return why(sh, file)()
			}
		},
	})
}
