package wire

// APIHeader is the response header in which the daemon states APIVersion.
const APIHeader = "Ragd-Api"

// The states of a Link.
const (
	LinkConnecting = "connecting" // dialling for the first time, or again after a break
	LinkLive       = "live"       // the hello of a stream has come; events flow
	LinkDown       = "down"       // no daemon, or it refused; it is tried again by itself
)

// Link is the state of a client's event stream. Clients make it themselves.
type Link struct {
	State   string `json:"state"`
	Code    string `json:"code,omitempty"`     // why it is down: daemon_not_running, api_version, …
	Reason  string `json:"reason,omitempty"`   // the same in words
	RetryMS int64  `json:"retry_ms,omitempty"` // until the next try
}

// KBs answers GET /admin/kbs.
type KBs struct {
	KBs []KB `json:"kbs"`
}

// RetriedJob answers POST /admin/jobs/:id/retry.
type RetriedJob struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

// IgnoredJob answers POST /admin/jobs/:id/ignore: the rule that was written, and where.
type IgnoredJob struct {
	ID   int64  `json:"id"`
	KB   string `json:"kb"`
	Path string `json:"path"`
	File string `json:"file"`
	Rule string `json:"rule"`
}

// Paused answers POST /admin/pause and /admin/resume. KB is empty for all.
type Paused struct {
	KB     string `json:"kb,omitempty"`
	Paused bool   `json:"paused"`
}

// Bump is the body of POST /admin/jobs/bump.
type Bump struct {
	KB        string `json:"kb"`
	Path      string `json:"path"`
	PathBytes []byte `json:"path_bytes,omitempty"` // wins over Path; for names that are not UTF-8
}

// Bumped answers POST /admin/jobs/bump; false = nothing of it waits in the queue.
type Bumped struct {
	Bumped bool `json:"bumped"`
}

// Reloaded answers POST /admin/reload.
type Reloaded struct {
	Applied     []string `json:"applied"`      // keys that changed and are in force
	NeedRestart []string `json:"need_restart"` // keys that changed and wait for a restart
}

// Log answers GET /admin/log, oldest line first.
type Log struct {
	Lines []LogLine `json:"lines"`
}

// Check answers GET /admin/check and POST /admin/repair.
type Check struct {
	OK       bool      `json:"ok"` // no problem is left
	Deep     bool      `json:"deep"`
	Problems []Problem `json:"problems"`
	TookMS   int64     `json:"took_ms"`
}

// Problem is one finding of a check.
type Problem struct {
	Part       string `json:"part"` // index, watches, embedder, sockets, roots, config
	Code       string `json:"code"`
	Detail     string `json:"detail"`
	Hint       string `json:"hint,omitempty"`
	Repairable bool   `json:"repairable"`
	Repaired   bool   `json:"repaired,omitempty"`
	Warning    bool   `json:"warning,omitempty"` // worth knowing, nothing is broken
}

// Scope is what an agent may see and do.
type Scope struct {
	KBs         []string `json:"kbs"`   // globs over names; null = all
	Tools       []string `json:"tools"` // it may call; null = all
	ReadOnly    bool     `json:"read_only"`
	NoKnowledge bool     `json:"no_knowledge,omitempty"` // search_knowledge is refused
	Root        string   `json:"root,omitempty"`         // the only root it sees
}

// History is what has happened of late, so that a client that has just come
// shows it too.
type History struct {
	Recent    []Event `json:"recent"`     // of type document, oldest first; not those of kind queued and unchanged
	PerSecond []int   `json:"per_second"` // documents indexed in each of the last seconds; the last is the event's own
}
