package main

import (
	"strings"

	"ragd/internal/wire"
)

// verdictText says in a sentence what becomes of a file.
func verdictText(v wire.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Path + ": ")
	switch {
	case v.Code == "ok" && v.Indexed:
		b.WriteString("indexed in " + v.KB)
	case v.Code == "ok" && v.State != "":
		b.WriteString(v.State + " in " + v.KB)
	case v.Code == "ok" && v.Doc == "":
		b.WriteString("a folder whose files are indexed")
	case v.Code == "ok":
		b.WriteString("to be indexed in " + v.KB)
	default:
		b.WriteString("not indexed (" + v.Code + ")")
	}
	if v.Reason != "" {
		b.WriteString(": " + v.Reason)
	}
	if v.Rule != "" && !strings.Contains(v.Reason, v.Rule) {
		b.WriteString(" [" + v.Rule + "]")
	}
	return b.String()
}
