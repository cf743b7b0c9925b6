//go:build !linux

package embed

// lower does nothing where niceness belongs to the whole process.
func lower(int) {}
