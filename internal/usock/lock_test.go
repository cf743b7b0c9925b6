package usock_test

import (
	"os"
	"strconv"
	"testing"

	"ragd/internal/usock"
)

func TestASecondLockIsRefusedNamingTheFirstsPID(t *testing.T) {
	path := join(t.TempDir(), "index.db.lock")
	pid, _ := holder(t, "lock", path)
	_, err := usock.Lock(path, "the index /x/index.db")
	wantCode(t, err, "already_running", "pid "+strconv.Itoa(pid), "/x/index.db")
}

func TestALockIsFreeAfterItsHolderWasKilled(t *testing.T) {
	path := join(t.TempDir(), "l.lock")
	_, kill := holder(t, "lock", path)
	kill()
	l, err := usock.Lock(path, "the index")
	must(t, err)
	must(t, l.Close())
}

func TestThePIDInALockFileDecidesNothing(t *testing.T) {
	for name, content := range map[string]string{
		"of a living stranger": strconv.Itoa(os.Getppid()), "of this process": strconv.Itoa(os.Getpid()),
		"garbage": "no number", "empty": "", "long": "11111111111111111111111111111111111111111111111111",
	} {
		t.Run(name, func(t *testing.T) {
			path := join(t.TempDir(), "l.lock")
			must(t, os.WriteFile(path, []byte(content), 0o600))
			l, err := usock.Lock(path, "the index")
			must(t, err)
			defer func() { must(t, l.Close()) }()
			got, err := os.ReadFile(path)
			must(t, err)
			if string(got) != strconv.Itoa(os.Getpid())+"\n" {
				t.Errorf("the lock file says %q", got)
			}
		})
	}
}

func TestALockHeldWithoutPIDIsStillRefused(t *testing.T) {
	path := join(t.TempDir(), "l.lock")
	_, _ = holder(t, "lock", path)
	must(t, os.Truncate(path, 0))
	_, err := usock.Lock(path, "the index")
	wantCode(t, err, "already_running", "another ragd")
}

func TestALockFileStaysWhenTheLockIsGivenUp(t *testing.T) {
	path := join(t.TempDir(), "deep", "er", "l.lock")
	l, err := usock.Lock(path, "the index")
	must(t, err)
	must(t, l.Close())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock file was removed: %v", err)
	}
	again, err := usock.Lock(path, "the index")
	must(t, err)
	must(t, again.Close())
}

func TestALockFileThatIsALinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	target := join(dir, "precious")
	must(t, os.WriteFile(target, []byte("data"), 0o600))
	must(t, os.Symlink(target, join(dir, "l.lock")))
	_, err := usock.Lock(join(dir, "l.lock"), "the index")
	wantCode(t, err, "lock_failed", "symbolic link")
	if got, _ := os.ReadFile(target); string(got) != "data" {
		t.Errorf("the link's target was written: %q", got)
	}
}
