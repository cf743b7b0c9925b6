package tui

import (
	"context"

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
