package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"ragd/internal/fault"
)

const jobColumns = `j.id, j.kb_id, k.name, j.path, j.reason, j.state, j.priority, j.attempts, j.claim,
	j.size, j.mtime_ns, j.ctime_ns, j.inode, j.stage, j.class, j.code, j.message, j.hint,
	j.next_try_ms, j.created_ms, j.updated_ms`

func scanJob(scan func(...any) error) (j Job, err error) {
	var state int
	var inode, next, created, updated int64
	var class string
	err = scan(&j.ID, &j.KB, &j.KBName, &j.Path, &j.Reason, &state, &j.Priority, &j.Attempts, &j.claim,
		&j.Stat.Size, &j.Stat.MTimeNS, &j.Stat.CTimeNS, &inode, &j.Stage, &class, &j.Code, &j.Message, &j.Hint,
		&next, &created, &updated)
	if err != nil {
		return j, err
	}
	j.State, j.Stat.Inode, j.Class = jobNames[state], uint64(inode), fault.ParseKind(class)
	j.NextTry, j.Created, j.Updated = timeOf(next), timeOf(created), timeOf(updated)
	return j, nil
}

// timeOf turns stored milliseconds into a time; 0 is the zero time.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func stateOfJob(s JobState) int {
	for n, name := range jobNames {
		if n > 0 && name == s {
			return n
		}
	}
	return 0
}

// where makes the condition of a filter over "jobs j".
func (f JobFilter) where() (string, []any) {
	cond, args := []string{"1"}, []any(nil)
	if f.KBs != nil {
		in, list := inList(f.KBs)
		cond, args = append(cond, "j.kb_id IN "+in), append(args, list...)
	}
	if f.State != "" {
		// A constant, so that the index of the failed ones can be used.
		cond = append(cond, "j.state = "+string(rune('0'+stateOfJob(f.State))))
	}
	if f.Class != "" {
		cond, args = append(cond, "j.class = ?"), append(args, f.Class)
	}
	if f.Code != "" {
		cond, args = append(cond, "j.code = ?"), append(args, f.Code)
	}
	return strings.Join(cond, " AND "), args
}

// inList makes "(?, ?, …)" of ids.
func inList(ids []int64) (string, []any) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	if len(ids) == 0 {
		return "()", nil
	}
	return "(?" + strings.Repeat(", ?", len(ids)-1) + ")", args
}

// Jobs lists jobs from the newest, and says how many the filter selects in
// all (After and Limit apart).
func (s *Store) Jobs(ctx context.Context, f JobFilter) (jobs []Job, total int64, err error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 1000)
	where, args := f.where()
	err = s.read(ctx, "list jobs", func(r *reader) error {
		if total, err = countJobs(r, f, where, args); err != nil || total == 0 {
			return err
		}
		query := "SELECT " + jobColumns + " FROM jobs j JOIN kbs k ON k.id = j.kb_id WHERE " + where
		args := append([]any(nil), args...)
		if f.After > 0 {
			query += " AND j.id < ?"
			args = append(args, f.After)
		}
		return r.each(func(rows *sql.Rows) error {
			j, err := scanJob(rows.Scan)
			jobs = append(jobs, j)
			return err
		}, query+" ORDER BY j.id DESC LIMIT ?", append(args, f.Limit)...)
	})
	return jobs, total, err
}

// countJobs takes the number from the KBs' counters where they know it.
func countJobs(r *reader, f JobFilter, where string, args []any) (n int64, err error) {
	if f.Class != "" || f.Code != "" {
		return n, r.row("SELECT count(*) FROM jobs j WHERE "+where, args...).Scan(&n)
	}
	column := map[JobState]string{
		"": "jobs_pending + jobs_processing + jobs_failed", JobPending: "jobs_pending",
		JobProcessing: "jobs_processing", JobFailed: "jobs_failed",
	}[f.State]
	if column == "" {
		return 0, fault.New(fault.Invalid, "bad_job_state", "job state %q; allowed are pending, processing and failed", string(f.State))
	}
	cond, list := kbCond("id", f.KBs)
	return n, r.row("SELECT coalesce(sum("+column+"), 0) FROM kbs WHERE "+cond, list...).Scan(&n)
}

// kbCond limits a column to KBs; nil = all.
func kbCond(column string, kbs []int64) (string, []any) {
	if kbs == nil {
		return "1", nil
	}
	in, args := inList(kbs)
	return column + " IN " + in, args
}

// Job returns one job; false when it is done or never was.
func (s *Store) Job(ctx context.Context, id int64) (j Job, ok bool, err error) {
	err = s.read(ctx, "look up job", func(r *reader) error {
		var e error
		j, e = scanJob(r.row("SELECT "+jobColumns+" FROM jobs j JOIN kbs k ON k.id = j.kb_id WHERE j.id = ?", id).Scan)
		if e == sql.ErrNoRows {
			return nil
		}
		ok = e == nil
		return e
	})
	return j, ok, err
}

// Unfinished lists documents with a job that is pending or processing, at
// most limit, and says how many there are.
func (s *Store) Unfinished(ctx context.Context, kbs []int64, limit int) (paths []PathRef, total int64, err error) {
	cond, args := kbCond("id", kbs)
	err = s.read(ctx, "list unfinished", func(r *reader) error {
		err := r.row("SELECT coalesce(sum(jobs_pending + jobs_processing), 0) FROM kbs WHERE "+cond, args...).Scan(&total)
		if err != nil || total == 0 || limit <= 0 {
			return err
		}
		cond, args := kbCond("j.kb_id", kbs)
		return r.each(func(rows *sql.Rows) error {
			var p PathRef
			err := rows.Scan(&p.KB, &p.Path)
			paths = append(paths, p)
			return err
		}, "SELECT k.name, j.path FROM jobs j JOIN kbs k ON k.id = j.kb_id WHERE j.state IN (1, 2) AND "+cond+" LIMIT ?", append(args, limit)...)
	})
	return paths, total, err
}
