package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/fault"
)

// addFolderPrompt asks for a folder and adds it as a KB.
func addFolderPrompt(sh *shared) tea.Cmd {
	return send(promptMsg{
		title: "Add a folder",
		hint:  "The folder to index; it stays where it is. A name may follow after a comma: ~/notes, my notes",
		done: func(text string) tea.Cmd {
			return send(runMsg{func(sh *shared) tea.Cmd { return addFolder(sh, text) }})
		},
	})
}

func addFolder(sh *shared, text string) tea.Cmd {
	return sh.act(func(ctx context.Context) (string, error) {
		dir, name, err := folderAndName(text)
		if err != nil {
			return "", err
		}
		return "added " + visible(dir), sh.desk.AddFolder(ctx, dir, name)
	})
}

// folderAndName reads "folder" or "folder, name". A folder whose own name has a comma wins.
func folderAndName(text string) (dir, name string, err error) {
	dir = text
	if i := strings.LastIndexByte(text, ','); i > 0 {
		if whole, err := absolute(text); err != nil || !isFolder(whole) {
			dir, name = strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		}
	}
	if dir, err = absolute(dir); err != nil {
		return "", "", err
	}
	if !isFolder(dir) {
		return "", "", fault.New(fault.Invalid, "not_a_folder", "there is no folder %s", dir).WithHint("give the path of an existing folder")
	}
	return dir, name, nil
}

func isFolder(dir string) bool {
	fi, err := os.Stat(dir)
	return err == nil && fi.IsDir()
}

func absolute(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, path[1:])
	}
	return filepath.Abs(path)
}
