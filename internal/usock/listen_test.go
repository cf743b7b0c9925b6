package usock_test

import (
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"ragd/internal/usock"
)

func TestASocketIsItsOwnersAlone(t *testing.T) {
	path := join(sockDir(t), "ragd", "admin.sock")
	must(t, os.Mkdir(join(path, ".."), 0o755)) // left open by somebody
	l := listenAt(t, path)
	if got := modeOf(t, join(path, "..")); got != 0o700 {
		t.Errorf("folder has mode %o", got)
	}
	if got := modeOf(t, path); got != 0o600 {
		t.Errorf("socket has mode %o", got)
	}
	exchange(t, l, path)
}

// exchange sees a byte go from a client to the listener.
func exchange(t *testing.T, l *usock.Listener, path string) {
	t.Helper()
	client, err := net.Dial("unix", path)
	must(t, err)
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	must(t, err)
	defer func() { _ = server.Close() }()
	_, err = client.Write([]byte{7})
	must(t, err)
	got := make([]byte, 1)
	_, err = server.Read(got)
	if err != nil || got[0] != 7 {
		t.Fatalf("read %v, %v", got, err)
	}
	peer, known, err := usock.PeerOf(server.(*net.UnixConn))
	must(t, err)
	if known && peer.UID != os.Geteuid() {
		t.Errorf("peer is %+v", peer)
	}
}

func TestASecondDaemonIsRefusedAndTheFirstKeepsItsSocket(t *testing.T) {
	path := join(sockDir(t), "admin.sock")
	pid, _ := holder(t, "listen", path)
	_, err := usock.Listen(path, "sockets.admin")
	wantCode(t, err, "already_running", "pid "+strconv.Itoa(pid), path)
	conn, err := net.Dial("unix", path)
	must(t, err)
	must(t, conn.Close())
}

func TestASocketLeftByAKilledDaemonIsReplaced(t *testing.T) {
	path := join(sockDir(t), "admin.sock")
	_, kill := holder(t, "listen", path)
	kill()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("kill -9 should leave the socket behind: %v", err)
	}
	exchange(t, listenAt(t, path), path)
}

func TestASocketThatAStrangerAnswersIsLeftAlone(t *testing.T) {
	path := join(sockDir(t), "admin.sock")
	stranger, err := net.Listen("unix", path)
	must(t, err)
	defer func() { _ = stranger.Close() }()
	_, err = usock.Listen(path, "sockets.admin")
	wantCode(t, err, "socket_taken", path, "sockets.admin")
	conn, err := net.Dial("unix", path)
	must(t, err)
	must(t, conn.Close())
}

func TestAFileThatIsNoSocketIsNeverRemoved(t *testing.T) {
	path := join(sockDir(t), "admin.sock")
	must(t, os.WriteFile(path, []byte("letter"), 0o600))
	_, err := usock.Listen(path, "sockets.admin")
	wantCode(t, err, "socket_taken", path)
	if got, _ := os.ReadFile(path); string(got) != "letter" {
		t.Errorf("the file holds %q", got)
	}
}

func TestTheLengthLimitOfSocketPathsIsNamed(t *testing.T) {
	dir := sockDir(t)
	fill := usock.MaxPath - len(dir) - 1
	exact := join(dir, strings.Repeat("s", fill))
	exchange(t, listenAt(t, exact), exact)

	_, err := usock.Listen(exact+"s", "sockets.admin")
	wantCode(t, err, "socket_path_long", strconv.Itoa(usock.MaxPath), "sockets.admin")
}

func TestSocketPathsThatAreNone(t *testing.T) {
	for name, path := range map[string]string{
		"relative": "admin.sock", "abstract": "@admin", "empty": "", "NUL": "/tmp/a\x00b",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := usock.Listen(path, "sockets.admin")
			wantCode(t, err, "socket_path", "sockets.admin")
		})
	}
}

func TestAFolderWhereOthersMayWriteIsRefused(t *testing.T) {
	dir := join(sockDir(t), "open")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, 0o777))
	_, err := usock.Listen(join(dir, "a.sock"), "sockets.admin")
	wantCode(t, err, "socket_folder", dir, "sockets.admin")

	must(t, os.WriteFile(join(dir, "file"), nil, 0o600))
	_, err = usock.Listen(join(dir, "file", "a.sock"), "sockets.admin")
	if err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestClosingRemovesTheSocketAndKeepsTheLockFile(t *testing.T) {
	path := join(sockDir(t), "a.sock")
	l := listenAt(t, path)
	must(t, l.Close())
	must(t, l.Close())
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("socket after close: %v", err)
	}
	if _, err := os.Lstat(path + ".lock"); err != nil {
		t.Errorf("lock file after close: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after close: %v", err)
	}
	exchange(t, listenAt(t, path), path)
}

func TestAPrivateFolderIsClosedToOthers(t *testing.T) {
	dir := join(sockDir(t), "ragd-1000")
	must(t, os.Mkdir(dir, 0o755))
	must(t, usock.PrivateDir(dir))
	if got := modeOf(t, dir); got != 0o700 {
		t.Errorf("mode %o", got)
	}
	link := dir + "-link"
	must(t, os.Symlink(dir, link))
	wantCode(t, usock.PrivateDir(link), "socket_folder", link)
	must(t, os.WriteFile(dir+"-file", nil, 0o600))
	wantCode(t, usock.PrivateDir(dir+"-file"), "socket_folder")
}

func TestAPrivateFolderOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	dir := join(sockDir(t), "theirs")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chown(dir, 12345, 12345))
	wantCode(t, usock.PrivateDir(dir), "socket_folder", dir)
	_, err := usock.Listen(join(dir, "a.sock"), "sockets.admin")
	wantCode(t, err, "socket_folder", dir)
}
