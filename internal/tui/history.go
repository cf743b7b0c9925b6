package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

const maxHistory = 200

// queryHistory is the list of earlier queries and the place in it.
type queryHistory struct {
	queries []string // oldest first
	at      int      // len(queries) = what is being typed
	draft   string
}

type historyMsg struct{ queries []string }

// loadHistory reads the queries of earlier sessions; without them there is just no history.
func (p *searchPage) loadHistory() tea.Cmd {
	return func() tea.Msg {
		qs, err := p.sh.desk.History()
		if err != nil {
			return nil
		}
		return historyMsg{qs}
	}
}

func (h *queryHistory) load(queries []string) {
	h.queries = append(append([]string{}, newest(queries, maxHistory)...), h.queries...)
	h.rest()
}

func (h *queryHistory) rest() { h.at = len(h.queries) }

func (h *queryHistory) older(now string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.queries) {
		h.draft = now
	}
	h.at--
	return h.queries[h.at], true
}

func (h *queryHistory) newer() (string, bool) {
	if h.at >= len(h.queries) {
		return "", false
	}
	h.at++
	if h.at == len(h.queries) {
		return h.draft, true
	}
	return h.queries[h.at], true
}

// add puts a query at the end; it is there once only.
func (h *queryHistory) add(query string) bool {
	if n := len(h.queries); n > 0 && h.queries[n-1] == query {
		return false
	}
	out := h.queries[:0]
	for _, q := range h.queries {
		if q != query {
			out = append(out, q)
		}
	}
	h.queries = append(out, query)
	h.queries = newest(h.queries, maxHistory)
	h.rest()
	return true
}

// remember keeps the query that led to something.
func (p *searchPage) remember() tea.Cmd {
	query := strings.TrimSpace(p.in.text)
	if query == "" || !p.history.add(query) {
		return nil
	}
	return func() tea.Msg {
		if err := p.sh.desk.Remember(query); err != nil {
			return toastMsg{"the query is not kept: " + err.Error(), true}
		}
		return nil
	}
}
