package extract

import (
	"os"
	"path/filepath"
)

// helperFolders are where helpers are looked for: folders that only the
// system's owner writes to, whatever PATH says.
var helperFolders = []string{"/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"}

// findHelper returns the path of an installed program, or "".
func findHelper(name string) string {
	for _, dir := range helperFolders {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// InstalledHelpers lists the helpers that are there, in a fixed order. When
// the list grows, files parked for want of one (codes "needs_tesseract",
// "needs_helper") are worth another try.
func InstalledHelpers() []string {
	var found []string
	for _, name := range []string{"tesseract", "antiword", "catdoc", "xls2csv", "catppt"} {
		if findHelper(name) != "" {
			found = append(found, name)
		}
	}
	return found
}
