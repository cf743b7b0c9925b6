package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ragd/internal/wire"
)

const (
	eventPause = 40 * time.Millisecond // least time between two batches under a flood
	eventBatch = 1000
)

// nextEvents waits for an event and takes with it all that came meanwhile. A
// lone event is handed on at once; under a flood there is one batch per pause,
// so that the screen is drawn for people and not for every document.
func nextEvents(events <-chan wire.Event) tea.Cmd {
	if events == nil {
		return nil
	}
	return func() tea.Msg {
		ev, ok := <-events
		if !ok {
			return eventsMsg{closed: true}
		}
		batch := []wire.Event{ev}
		if drain(events, &batch) {
			return eventsMsg{events: batch, closed: true}
		}
		if len(batch) > 8 {
			time.Sleep(eventPause)
			if drain(events, &batch) {
				return eventsMsg{events: batch, closed: true}
			}
		}
		return eventsMsg{events: batch}
	}
}

func drain(events <-chan wire.Event, batch *[]wire.Event) (closed bool) {
	for len(*batch) < eventBatch {
		select {
		case ev, ok := <-events:
			if !ok {
				return true
			}
			*batch = append(*batch, ev)
		default:
			return false
		}
	}
	return false
}

// linkLine says how the link is: a short word, a longer sentence, and whether it is bad.
func linkLine(w *world) (word, sentence string, bad bool) {
	switch w.link.State {
	case wire.LinkLive:
		if w.status == nil {
			return "connecting", "Waiting for the daemon's first words.", false
		}
		return "live", "", false
	case wire.LinkDown:
		if w.wasLive {
			return "lost", "What is shown is from before the daemon went away.", true
		}
		return "no daemon", "", true
	}
	return "connecting", "Connecting to the daemon.", false
}
