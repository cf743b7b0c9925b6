package store

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// Nobody waits while those that came later are served: with the pool's own
// random order, a few calls among many would take very long.
func TestReadsThatWaitAreServedInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, func(o *Options) { o.Readers = 1 })
		held := make(chan struct{})
		go func() {
			_ = s.read(context.Background(), "hold", func(*reader) error { <-held; return nil })
		}()
		synctest.Wait()
		var order []int
		for i := range 12 {
			go func() {
				err := s.read(context.Background(), "wait", func(*reader) error { order = append(order, i); return nil })
				if err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(context.Background())
		var given error
		go func() { given = s.read(ctx, "give up", func(*reader) error { return nil }) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if given == nil {
			t.Error("a read that was given up while it waited is no error")
		}
		close(held)
		synctest.Wait()
		if len(order) != 12 || !slices.IsSorted(order) {
			t.Errorf("served in the order %v", order)
		}
	})
}
