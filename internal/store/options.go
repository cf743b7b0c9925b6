package store

import (
	"log/slog"
	"time"
)

// Options configure Open.
type Options struct {
	Path      string // of the index file; its folder is made when missing
	Logger    *slog.Logger
	Retention Retention // zero = 10 revisions, 30 days
	Readers   int       // connections for reads; 0 = 4
	Now       func() time.Time
	// Reanalyse makes the index terms of one chunk anew; Repair needs it.
	Reanalyse func(path, title string, headings []string, content string) (titleTerms, headingTerms, bodyTerms string)
	// Hook is called before each statement of a write transaction; an error
	// makes that statement fail. For tests.
	Hook func(point string) error
}

func (o *Options) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Retention == (Retention{}) {
		o.Retention = Retention{Revisions: 10, DeletedKept: 30 * 24 * time.Hour}
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// OpenReport says what Open found.
type OpenReport struct {
	Created     bool
	Quarantined string // where a damaged index was set aside; "" = it was sound
	Migrated    bool
	Rescued     int // jobs that a crash left in processing; RescueStale gives them back
}
