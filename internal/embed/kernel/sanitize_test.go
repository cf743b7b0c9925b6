//go:build linux

package kernel

import (
	"os/exec"
	"strings"
	"testing"
)

// check/sanitize.sh without an argument tries all lengths; here every 150th of the long ones.
func TestSanitizersFindNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes about ten seconds")
	}
	out, err := exec.Command("sh", "check/sanitize.sh", "150").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.HasPrefix(string(out), "skipped") {
		t.Skip(string(out))
	}
}
