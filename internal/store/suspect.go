package store

import "database/sql"

// codeInterrupted marks jobs that were being worked on when the program died.
// One of them may be what killed it, so they are claimed one at a time: the
// culprit runs out of attempts, and those that were only claimed beside it do not.
const codeInterrupted = "interrupted"

// suspectSQL finds the next one, unless one is in work.
const suspectSQL = `SELECT j.id FROM jobs j JOIN kbs k ON k.id = j.kb_id
	WHERE j.code = 'interrupted' AND j.state = 1 AND NOT k.paused
	AND NOT EXISTS (SELECT 1 FROM jobs p WHERE p.code = 'interrupted' AND p.state = 2)`

func (t *wtx) suspect() (out []Job, err error) {
	err = t.each(func(rows *sql.Rows) error {
		j, err := scanJob(rows.Scan)
		out = append(out, j)
		return err
	}, "SELECT "+jobColumns+" FROM jobs j JOIN kbs k ON k.id = j.kb_id WHERE j.id = ("+suspectSQL+" ORDER BY j.priority DESC, j.id LIMIT 1)")
	return out, err
}
