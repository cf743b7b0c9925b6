//go:build !linux

package kbroot

func setFSUser(int) bool { return false }
