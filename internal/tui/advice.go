package tui

import (
	"ragd/internal/wire"
)

// fixes says in one line what would help, by the job's code, for daemons that
// send no hint of their own.
var fixes = map[string]string{
	"encrypted":       "The file is encrypted: save it without a password, or ignore it.",
	"needs_tesseract": "It is a scan without text: install tesseract, then retry.",
	"no_text":         "There is no text in it: nothing to do but ignore it.",
	"corrupt":         "The file is damaged: save or download it again.",
	"binary":          "It is not text, whatever its name says: ignore it.",
	"wrong_type":      "Its content does not fit its name: give it the right extension.",
	"unsupported":     "This kind of file cannot be read: ignore it.",
	"too_large":       "It is larger than the limit: split it, raise the limit, or ignore it.",
	"timeout":         "It took too long to read: retry when the machine is less busy, or ignore it.",
	"out_of_memory":   "It needs more memory than a file may take: split it, or ignore it.",
	"crashed":         "The reader crashed on it: save the file anew, or ignore it.",
	"panic":           "The reader failed on it: save the file anew, or ignore it.",
	"disk_full":       "The disk is full: make space; indexing goes on by itself.",
	"unreadable":      "The daemon may not read it: check its permissions (ls -l).",
	"read_failed":     "It could not be read: check its permissions and the disk, then retry.",
	"open_failed":     "It could not be opened: check its permissions, then retry.",
	"worker_killed":   "The reader was stopped from outside, often for memory: retry.",
}

// fixFor is the one line under a failed job.
func fixFor(j wire.Job) string {
	switch {
	case j.Hint != "":
		return sentence(visible(j.Hint))
	case fixes[j.Code] != "":
		return fixes[j.Code]
	}
	switch j.Class {
	case "permanent":
		return "It fails the same way until the file changes: mend the file, or ignore it."
	case "unavailable":
		return "It waits for a part that is out of order, and goes on by itself."
	case "transient":
		return "It may work the next time: retry."
	}
	return "Retry it; if it fails again, the log (6) says more."
}
