package usock

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"ragd/internal/fault"
)

// PrivateDir makes dir, or checks the one that is there: a folder, no link,
// owned by this user, closed to all others (it is closed if it is not).
// It is for folders that are ragd's own, such as the one in the shared /tmp,
// where anybody could have put something of that name first.
func PrivateDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fault.New(fault.Unavailable, "socket_folder", "the folder %s cannot be made", filepath.Dir(dir)).Because(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return fault.New(fault.Unavailable, "socket_folder", "the folder %s cannot be made", dir).Because(err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fault.New(fault.Unavailable, "socket_folder", "the folder %s cannot be looked at", dir).Because(err)
	}
	if !info.IsDir() || !mine(info) {
		return fault.New(fault.Denied, "socket_folder", "%s is not a folder of this user (%s)", dir, info.Mode()).
			WithHint("someone else made it; set XDG_RUNTIME_DIR, or put the sockets elsewhere with RAGD_MCP_SOCKET and RAGD_ADMIN_SOCKET")
	}
	if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fault.New(fault.Denied, "socket_folder", "the folder %s is open to others and cannot be closed", dir).Because(err)
		}
	}
	return nil
}

// listenDir makes the folder for a socket where it is missing. One that is
// ragd's own by its name is closed to others. Any other is left as it is (it
// may be the user's home), but one in which others may write is refused: they
// could put their own socket in place of ours.
func listenDir(dir, setting string) error {
	info, err := os.Stat(dir)
	if base := filepath.Base(dir); os.IsNotExist(err) || base == "ragd" || base == "ragd-"+strconv.Itoa(os.Getuid()) {
		return PrivateDir(dir)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "socket_folder", "the folder %s of the socket cannot be looked at", dir).Because(err)
	}
	if !info.IsDir() {
		return fault.New(fault.Invalid, "socket_folder", "%s is not a folder, so no socket can be put there", dir).
			WithHint("set %s to a path in a folder of your own", setting)
	}
	if !mine(info) || info.Mode().Perm()&0o022 != 0 {
		return fault.New(fault.Denied, "socket_folder", "others may write in %s (%s), where the socket is to be", dir, info.Mode()).
			WithHint("set %s to a path in a folder of your own with mode 0700", setting)
	}
	return nil
}

func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
