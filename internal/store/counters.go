package store

// Document states in the database.
const (
	docDeleted = iota
	docIndexed
	docPending
	docFailed
	docExcluded
)

// Job states in the database.
const (
	jobPending = iota + 1
	jobProcessing
	jobFailed
)

// stateNames are the states' names outside, by number.
var (
	docNames = [...]State{docDeleted: "", docIndexed: StateIndexed, docPending: StatePending, docFailed: StateFailed, docExcluded: StateExcluded}
	jobNames = [...]JobState{jobPending: JobPending, jobProcessing: JobProcessing, jobFailed: JobFailed}
)

// counters are changes of a KB's counters within one transaction.
type counters struct {
	documents, chunks, terms, bytes int64
	docs                            [5]int64 // by state
	jobs                            [4]int64 // by state
	oldRevisions, oldBytes          int64
	indexed                         int64 // time of the latest indexing, ms
}

func (t *wtx) counters(kb int64) *counters {
	c, ok := t.deltas[kb]
	if !ok {
		c = &counters{}
		t.deltas[kb] = c
	}
	return c
}

func (t *wtx) writeCounters() error {
	for kb, d := range t.deltas {
		if *d == (counters{}) {
			continue
		}
		err := t.run(`UPDATE kbs SET documents = documents + ?, chunks = chunks + ?, terms = terms + ?, bytes = bytes + ?,
			indexed = indexed + ?, pending = pending + ?, failed = failed + ?, excluded = excluded + ?,
			jobs_pending = jobs_pending + ?, jobs_processing = jobs_processing + ?, jobs_failed = jobs_failed + ?,
			old_revisions = old_revisions + ?, old_bytes = old_bytes + ?, indexed_ms = max(indexed_ms, ?) WHERE id = ?`,
			d.documents, d.chunks, d.terms, d.bytes,
			d.docs[docIndexed], d.docs[docPending], d.docs[docFailed], d.docs[docExcluded],
			d.jobs[jobPending], d.jobs[jobProcessing], d.jobs[jobFailed],
			d.oldRevisions, d.oldBytes, d.indexed, kb)
		if err != nil {
			return err
		}
	}
	return nil
}
