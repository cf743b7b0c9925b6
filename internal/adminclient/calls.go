package adminclient

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"

	"ragd/internal/wire"
)

// Health asks whether the daemon's parts work. A degraded daemon is an answer, not an error.
func (c *Client) Health(ctx context.Context) (wire.Health, error) {
	var h wire.Health
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://ragd/health", nil)
	if err != nil {
		return h, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return h, c.transportError(ctx, err)
	}
	defer closeBody(resp.Body)
	// 503 carries a Health as well; only the version is checked here.
	if resp.StatusCode != http.StatusServiceUnavailable {
		if err := c.checkResponse(resp); err != nil {
			return h, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return h, c.transportError(ctx, err)
	}
	if err := json.Unmarshal(data, &h); err != nil || h.Status == "" {
		return h, badAnswer("an answer to GET /health that is not the expected JSON")
	}
	return h, nil
}

// Status returns the daemon's state in numbers.
func (c *Client) Status(ctx context.Context) (wire.Status, error) {
	var out wire.Status
	return out, c.call(ctx, callTimeout, http.MethodGet, "/admin/status", nil, nil, &out)
}

// KBs returns all knowledge bases, sorted by name.
func (c *Client) KBs(ctx context.Context) ([]wire.KB, error) {
	var out wire.KBs
	err := c.call(ctx, callTimeout, http.MethodGet, "/admin/kbs", nil, nil, &out)
	return out.KBs, err
}

// Documents returns one page of a KB's documents in path order. cursor is ""
// for the first page and NextCursor of the page before for the others; limit
// 0 is the daemon's default.
func (c *Client) Documents(ctx context.Context, kb, cursor string, limit int) (wire.Documents, error) {
	var out wire.Documents
	q := url.Values{}
	setStr(q, "cursor", cursor)
	setInt(q, "limit", limit)
	return out, c.call(ctx, callTimeout, http.MethodGet, "/admin/kbs/"+url.PathEscape(kb)+"/documents", q, nil, &out)
}

// Document returns a document with one page of its text; offset and limit
// count characters, limit 0 is the daemon's default.
func (c *Client) Document(ctx context.Context, kb, path string, offset, limit int) (wire.DocumentView, error) {
	var out wire.DocumentView
	q := url.Values{"kb": {kb}, "path": {path}}
	setInt(q, "offset", offset)
	setInt(q, "limit", limit)
	return out, c.call(ctx, callTimeout, http.MethodGet, "/document", q, nil, &out)
}

// Jobs lists the queue, newest first. state is "", "pending", "processing" or
// "failed"; limit 0 is the daemon's default.
func (c *Client) Jobs(ctx context.Context, state string, limit int) (wire.Jobs, error) {
	return c.JobsAfter(ctx, state, 0, limit)
}

// JobsAfter is Jobs from behind the job with the id after, the last of the
// page before; 0 = from the newest.
func (c *Client) JobsAfter(ctx context.Context, state string, after int64, limit int) (wire.Jobs, error) {
	var out wire.Jobs
	q := url.Values{}
	setStr(q, "state", state)
	setInt(q, "limit", limit)
	if after > 0 {
		q.Set("after", strconv.FormatInt(after, 10))
	}
	return out, c.call(ctx, callTimeout, http.MethodGet, "/admin/jobs", q, nil, &out)
}

// RetryJob starts a failed job afresh; unknown → NotFound, not failed → Conflict.
func (c *Client) RetryJob(ctx context.Context, id int64) error {
	return c.call(ctx, callTimeout, http.MethodPost, jobPath(id, "retry"), nil, nil, nil)
}

// RetryAll starts every failed job afresh and returns how many there were.
func (c *Client) RetryAll(ctx context.Context) (int, error) {
	var out wire.Retried
	err := c.call(ctx, slowTimeout, http.MethodPost, "/admin/jobs/retry", nil, nil, &out)
	return out.Retried, err
}

// IgnoreJob appends the job's path to its KB's .ragdignore.
func (c *Client) IgnoreJob(ctx context.Context, id int64) (wire.IgnoredJob, error) {
	var out wire.IgnoredJob
	return out, c.call(ctx, callTimeout, http.MethodPost, jobPath(id, "ignore"), nil, nil, &out)
}

// Search runs a query. kb is "", one name, or several separated by commas;
// mode "" is the daemon's default; topK 0 is 10.
func (c *Client) Search(ctx context.Context, query, kb, mode string, topK int, explain bool) (wire.SearchResult, error) {
	var out wire.SearchResult
	q := url.Values{"query": {query}}
	setStr(q, "kb", kb)
	setStr(q, "mode", mode)
	setInt(q, "top_k", topK)
	if explain {
		q.Set("explain", "true")
	}
	return out, c.call(ctx, callTimeout, http.MethodGet, "/search", q, nil, &out)
}

// Reindex compares disk and index now (of one KB, or of all for ""). With
// force everything is queued again. It returns before indexing is done.
func (c *Client) Reindex(ctx context.Context, kb string, force bool) (wire.ReindexCounts, error) {
	var out wire.ReindexCounts
	q := url.Values{}
	setStr(q, "kb", kb)
	if force {
		q.Set("force", "true")
	}
	return out, c.call(ctx, slowTimeout, http.MethodPost, "/admin/reindex", q, nil, &out)
}

// AddDocument writes a file into a KB's folder.
func (c *Client) AddDocument(ctx context.Context, kb, path, content string) (wire.Added, error) {
	var out wire.Added
	body := wire.AddDocument{Path: path, Content: content}
	return out, c.call(ctx, callTimeout, http.MethodPost, "/admin/kbs/"+url.PathEscape(kb)+"/documents", nil, body, &out)
}

// DeleteDocument removes a file and everything indexed of it.
func (c *Client) DeleteDocument(ctx context.Context, kb, path string) (wire.Deleted, error) {
	var out wire.Deleted
	return out, c.call(ctx, slowTimeout, http.MethodDelete, "/admin/kbs/"+url.PathEscape(kb)+"/documents/"+escapePath(path), nil, nil, &out)
}

// DeleteKB removes a KB's folder and index; of a mounted folder only the index.
func (c *Client) DeleteKB(ctx context.Context, kb string) (wire.Deleted, error) {
	var out wire.Deleted
	q := url.Values{"confirm": {"true"}}
	return out, c.call(ctx, slowTimeout, http.MethodDelete, "/admin/kbs/"+url.PathEscape(kb), q, nil, &out)
}

// Pause stops indexing of one KB, or of all for "". Searches go on.
func (c *Client) Pause(ctx context.Context, kb string) error { return c.pause(ctx, "/admin/pause", kb) }

// Resume ends a Pause.
func (c *Client) Resume(ctx context.Context, kb string) error {
	return c.pause(ctx, "/admin/resume", kb)
}

func (c *Client) pause(ctx context.Context, path, kb string) error {
	q := url.Values{}
	setStr(q, "kb", kb)
	return c.call(ctx, callTimeout, http.MethodPost, path, q, nil, nil)
}

// Bump moves a waiting file to the front of the queue; false = it does not wait there.
func (c *Client) Bump(ctx context.Context, kb, path string) (bool, error) {
	var out wire.Bumped
	body := wire.Bump{KB: kb, Path: path}
	if !utf8.ValidString(path) {
		body.PathBytes = []byte(path)
	}
	err := c.call(ctx, callTimeout, http.MethodPost, "/admin/jobs/bump", nil, body, &out)
	return out.Bumped, err
}

// Ignored says whether the file at an absolute path is indexed, and if not, why.
func (c *Client) Ignored(ctx context.Context, path string) (wire.Verdict, error) {
	var out wire.Verdict
	return out, c.call(ctx, callTimeout, http.MethodGet, "/admin/ignored", url.Values{"path": {path}}, nil, &out)
}

// Reload makes the daemon read its configuration again.
func (c *Client) Reload(ctx context.Context) (wire.Reloaded, error) {
	var out wire.Reloaded
	return out, c.call(ctx, callTimeout, http.MethodPost, "/admin/reload", nil, nil, &out)
}

// Log returns the daemon's last log lines, oldest first; limit 0 is all it keeps.
func (c *Client) Log(ctx context.Context, limit int) ([]wire.LogLine, error) {
	var out wire.Log
	q := url.Values{}
	setInt(q, "limit", limit)
	err := c.call(ctx, callTimeout, http.MethodGet, "/admin/log", q, nil, &out)
	return out.Lines, err
}

// Check looks for damage in the index and its surroundings; deep reads every row.
func (c *Client) Check(ctx context.Context, deep bool) (wire.Check, error) {
	var out wire.Check
	q := url.Values{}
	if deep {
		q.Set("deep", "true")
	}
	return out, c.call(ctx, slowTimeout, http.MethodGet, "/admin/check", q, nil, &out)
}

// Repair mends what Check finds and can be mended.
func (c *Client) Repair(ctx context.Context) (wire.Check, error) {
	var out wire.Check
	return out, c.call(ctx, slowTimeout, http.MethodPost, "/admin/repair", nil, nil, &out)
}

func jobPath(id int64, verb string) string {
	return "/admin/jobs/" + strconv.FormatInt(id, 10) + "/" + verb
}

func setStr(q url.Values, name, v string) {
	if v != "" {
		q.Set(name, v)
	}
}

func setInt(q url.Values, name string, v int) {
	if v != 0 {
		q.Set(name, strconv.Itoa(v))
	}
}

// escapePath escapes each element of a document's path, so that "?", "#", "%"
// and bytes that are no UTF-8 arrive as they are. Dots are escaped as well:
// an element ".." must reach the daemon to be refused there, not be tidied
// away on the road.
func escapePath(path string) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(path)+16)
	for i := 0; i < len(path); i++ {
		b := path[i]
		switch {
		case b == '/', b == '-', b == '_', b >= '0' && b <= '9', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
			out = append(out, b)
		default:
			out = append(out, '%', hex[b>>4], hex[b&15])
		}
	}
	return string(out)
}
