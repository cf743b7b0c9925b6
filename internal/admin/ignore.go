package admin

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"ragd/internal/fault"
)

const (
	ignoreFile    = ".ragdignore"
	maxIgnoreFile = 1 << 20
)

// appendIgnore adds a rule for exactly this file to the .ragdignore in dir,
// unless it is there, and returns the rule.
func appendIgnore(dir, path string) (rule string, err error) {
	rule, err = ignoreRule(path)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", ignoreFailed(err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if info, err := root.Lstat(ignoreFile); err == nil && !info.Mode().IsRegular() {
		return "", fault.New(fault.Conflict, "ignore_not_a_file", "the knowledge base's %s is not a plain file", ignoreFile)
	}
	f, err := root.OpenFile(ignoreFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return "", ignoreFailed(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
	if err != nil {
		return "", ignoreFailed(err)
	}
	if len(old) > maxIgnoreFile {
		return "", fault.New(fault.Conflict, "ignore_too_large", "the knowledge base's %s has more than %d bytes", ignoreFile, maxIgnoreFile)
	}
	for line := range bytes.Lines(old) {
		if string(bytes.TrimRight(line, "\r\n")) == rule {
			return rule, nil
		}
	}
	text := rule + "\n"
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		text = "\n" + text
	}
	if _, err := f.WriteString(text); err != nil {
		return "", ignoreFailed(err)
	}
	return rule, nil
}

func ignoreFailed(err error) error {
	return fault.New(fault.Unavailable, "ignore_failed", "the knowledge base's %s cannot be written", ignoreFile).Because(err).
		WithHint("check the owner and mode of the folder and the file")
}

// ignoreRule is the pattern that matches exactly this path of the KB. Of a
// part of a file ("mail.eml › report.pdf") it is the file's.
func ignoreRule(path string) (string, error) {
	path, _, _ = strings.Cut(path, " › ")
	if strings.ContainsAny(path, "\n\r\x00") || path == "" {
		return "", fault.New(fault.Conflict, "ignore_impossible", "the name %q cannot be written in %s", path, ignoreFile).
			WithHint("rename or move the file")
	}
	var b strings.Builder
	b.WriteByte('/')
	for i := range len(path) {
		if strings.IndexByte(`\*?[`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	rule := b.String()
	// Spaces at the end are dropped unless the last is escaped; a tab likewise.
	if c := rule[len(rule)-1]; c == ' ' || c == '\t' {
		trimmed := strings.TrimRight(rule, " \t")
		tail := rule[len(trimmed):]
		rule = trimmed
		for i := range len(tail) {
			rule += `\` + tail[i:i+1]
		}
	}
	return rule, nil
}
