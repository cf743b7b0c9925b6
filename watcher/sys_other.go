//go:build !unix

package watcher

import "io/fs"

func fileIDOf(fs.FileInfo) fileID { return fileID{} }
