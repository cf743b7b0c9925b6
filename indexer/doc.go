// Package indexer turns hints about the disk into an index of it: hints become
// plans with a reason, plans become jobs, and jobs run through the pipeline
// (read, extract, chunk, analyse, insert) with retries and parking.
//
// It owns the comparison of disk and index, the order of work, and the
// decision whether a failed job is tried again. It does not watch the disk
// (watcher), does not decide which files are documents (kbroot), knows no file
// format (extract) and no SQL (store).
//
// Goroutines, all owned by Run: intake (drains the hint channel into a dirty
// set), planner (looks at the disk for single paths), scanner (compares whole
// trees, one at a time), dispatcher with its workers, committer, upkeep.
// Lock order: planMu is outermost and is held only around "look at the disk
// and write the plan"; mu guards plain state and is never held over I/O.
package indexer
