package tui

import (
	"testing"
	"time"

	"ragd/internal/wire"
)

func TestTimesAreThoseOfThePersonsClock(t *testing.T) {
	zone := time.FixedZone("", 5*3600)
	f := richBackend()
	f.log = append(f.log, wire.LogLine{At: time.Date(2026, 3, 14, 20, 4, 5, 0, time.UTC), Level: "ERROR", Message: "late"})
	a := liveApp(t, f, 100, 30, func(o *Options) { o.Now = func() time.Time { return clock.In(zone) } })
	a.goTo("6")
	a.sees("01:04:05 ERROR late")
}
