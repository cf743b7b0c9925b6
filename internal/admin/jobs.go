package admin

import (
	"net/http"

	"ragd/internal/fault"
	"ragd/internal/store"
	"ragd/internal/wire"
	"ragd/kbroot"
)

func (s *Server) jobs(_ http.ResponseWriter, c *call) (any, error) {
	state, err := c.oneOf("state", "pending", "processing", "failed")
	if err != nil {
		return nil, err
	}
	q := JobQuery{State: store.JobState(state)}
	limit, err := c.number("limit", 100, 1, 1000)
	if err != nil {
		return nil, err
	}
	q.Limit = int(limit)
	if q.After, err = c.number("after", 0, 0, 1<<62); err != nil {
		return nil, err
	}
	stats, err := s.sv.Index.KBStats(c.Context(), nil)
	if err != nil {
		return nil, err
	}
	if name := c.str("kb"); name != "" {
		kb, err := s.kbByName(c.Context(), name)
		if err != nil {
			return nil, err
		}
		q.KBs = []int64{kb.ID}
	}
	jobs, total, err := s.sv.Index.ListJobs(c.Context(), q)
	if err != nil {
		return nil, err
	}
	out := wire.Jobs{Queue: s.begun(sumStats(stats).queue), Jobs: make([]wire.Job, 0, len(jobs)), Total: total}
	stages := s.sv.Work.Stages()
	for _, j := range jobs {
		row := wireJob(j)
		if j.State == store.JobProcessing {
			row.Stage = stages[j.ID] // what its row says is of an earlier attempt
		}
		out.Jobs = append(out.Jobs, row)
	}
	return out, nil
}

func (s *Server) retryJob(_ http.ResponseWriter, c *call) (any, error) {
	id, err := c.jobID()
	if err != nil {
		return nil, err
	}
	if err := s.sv.Work.Retry(c.Context(), id); err != nil {
		return nil, err
	}
	return wire.RetriedJob{ID: id, State: string(store.JobPending)}, nil
}

func (s *Server) retryAll(_ http.ResponseWriter, c *call) (any, error) {
	n, err := s.sv.Work.RetryAll(c.Context())
	if err != nil {
		return nil, err
	}
	return wire.Retried{Retried: n}, nil
}

func (s *Server) bump(w http.ResponseWriter, c *call) (any, error) {
	var body wire.Bump
	if err := decodeBody(w, c, smallBody, &body); err != nil {
		return nil, err
	}
	path := body.Path
	if len(body.PathBytes) > 0 {
		path = string(body.PathBytes)
	}
	p, err := docPath(body.KB, path)
	if err != nil {
		return nil, err
	}
	found, err := s.sv.Work.Bump(c.Context(), p)
	if err != nil {
		return nil, err
	}
	return wire.Bumped{Bumped: found}, nil
}

// ignoreJob writes the job's file into its KB's .ragdignore.
func (s *Server) ignoreJob(_ http.ResponseWriter, c *call) (any, error) {
	id, err := c.jobID()
	if err != nil {
		return nil, err
	}
	job, ok, err := s.sv.Index.Job(c.Context(), id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "job_not_found", "there is no job %d", id).
			WithHint("GET /admin/jobs lists them (ragd jobs)")
	}
	kb, ok := s.sv.Files.KB(job.KBName)
	if !ok {
		return nil, noSuchKB(job.KBName)
	}
	rule, err := appendIgnore(kb.Dir, job.Path)
	if err != nil {
		return nil, err
	}
	s.log.Info("ignore rule written", "kb", kb.Name, "rule", rule)
	s.sv.Work.Hint(kbroot.Change{Kind: kbroot.ChangePath, DocPath: kbroot.DocPath{KB: kb.Name, Path: ignoreFile}, Live: true})
	return wire.IgnoredJob{ID: id, KB: kb.Name, Path: job.Path, File: ignoreFile, Rule: rule}, nil
}
