package indexer

import (
	"fmt"
	"testing"

	"ragd/internal/store"
)

// While a transaction is written the workers go on with more than what was
// claimed before it began.
func TestWorkersGoOnWhileTheCommitterWrites(t *testing.T) {
	r := newRig(t)
	release, blocked := make(chan struct{}), make(chan struct{}, 1)
	r.store.mu.Lock()
	r.store.commit = func([]store.Outcome) error {
		select {
		case blocked <- struct{}{}:
		default:
		}
		<-release
		return nil
	}
	r.store.mu.Unlock()
	const files = maxClaim + maxClaim/2
	for i := range files {
		r.write(fmt.Sprintf("kb/f%04d.md", i), fmt.Sprintf("# Note %d\n\nsome words\n", i))
	}
	r.hintRoot()
	<-blocked
	defer func() {
		close(release)
		r.settle()
	}()
	r.eventually("all files are extracted while the first commit waits", func() bool { return r.ext.total() >= files })
}
