package admin

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// metrics answers GET /metrics in Prometheus' text form, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, c *call) (any, error) {
	status, err := s.fullStatus(c.Context())
	if err != nil {
		return nil, err
	}
	stats, err := s.sv.Index.KBStats(c.Context(), nil)
	if err != nil {
		return nil, err
	}
	var m metricText
	m.family("ragd_build_info", "gauge", "The running version.")
	m.sample("ragd_build_info", 1, "version", status.Version)
	m.family("ragd_uptime_seconds", "gauge", "Seconds since the start.")
	m.sample("ragd_uptime_seconds", float64(status.UptimeSeconds))
	m.family("ragd_phase", "gauge", "1 for what the daemon does now.")
	m.sample("ragd_phase", 1, "phase", status.Phase)

	perKB := []struct {
		name, help string
		value      func(i int) int64
	}{
		{"ragd_documents", "Documents that can be found.", func(i int) int64 { return stats[i].Documents }},
		{"ragd_chunks", "Chunks that can be found.", func(i int) int64 { return stats[i].Chunks }},
		{"ragd_document_bytes", "Bytes of the indexed files.", func(i int) int64 { return stats[i].Bytes }},
		{"ragd_documents_excluded", "Documents that are listed as excluded.", func(i int) int64 { return stats[i].Excluded }},
	}
	for _, f := range perKB {
		m.family(f.name, "gauge", f.help)
		for i := range stats {
			m.sample(f.name, float64(f.value(i)), "kb", stats[i].Name)
		}
	}
	m.family("ragd_jobs", "gauge", "Jobs in the queue.")
	for _, k := range stats {
		m.sample("ragd_jobs", float64(k.Pending), "kb", k.Name, "state", "pending")
		m.sample("ragd_jobs", float64(k.Processing), "kb", k.Name, "state", "processing")
		m.sample("ragd_jobs", float64(k.Failed), "kb", k.Name, "state", "failed")
	}
	m.family("ragd_documents_per_second", "gauge", "Documents indexed a second over the last minute.")
	m.sample("ragd_documents_per_second", status.Rate)
	m.family("ragd_index_bytes", "gauge", "Bytes of the index on disk.")
	m.sample("ragd_index_bytes", float64(status.Index.Bytes))
	m.family("ragd_free_disk_bytes", "gauge", "Bytes free where the index is.")
	m.sample("ragd_free_disk_bytes", float64(status.Index.FreeDiskBytes))
	m.family("ragd_embedding_backlog", "gauge", "Chunks that wait for their vectors.")
	m.sample("ragd_embedding_backlog", float64(status.Embedder.Backlog))
	m.family("ragd_watches", "gauge", "Folders watched.")
	for _, wt := range status.Watchers {
		m.sample("ragd_watches", float64(wt.Watches), "root", wt.Root, "mode", wt.Mode)
	}
	m.family("ragd_watch_overflows_total", "counter", "Times that file events were lost and the disk was compared instead.")
	for _, wt := range status.Watchers {
		m.sample("ragd_watch_overflows_total", float64(wt.Overflows), "root", wt.Root)
	}
	m.family("ragd_agents", "gauge", "Connected MCP clients.")
	m.sample("ragd_agents", float64(len(status.Agents)))
	s.processMetrics(&m)

	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if _, err := w.Write([]byte(m.b.String())); err != nil {
		s.log.Debug("metrics not delivered", "error", err)
	}
	return written{}, nil
}

func (s *Server) processMetrics(m *metricText) {
	m.family("ragd_admin_requests_total", "counter", "Answers of this API by status.")
	counts := s.counts.snapshot()
	codes := make([]int, 0, len(counts))
	for code := range counts {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	for _, code := range codes {
		m.sample("ragd_admin_requests_total", float64(counts[code]), "code", strconv.Itoa(code))
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m.family("go_goroutines", "gauge", "Goroutines.")
	m.sample("go_goroutines", float64(runtime.NumGoroutine()))
	m.family("go_memstats_heap_inuse_bytes", "gauge", "Bytes of the heap in use.")
	m.sample("go_memstats_heap_inuse_bytes", float64(mem.HeapInuse))
}

// metricText writes families of samples.
type metricText struct{ b strings.Builder }

func (m *metricText) family(name, kind, help string) {
	fmt.Fprintf(&m.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value; labels are names and values in turn.
func (m *metricText) sample(name string, v float64, labels ...string) {
	m.b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		m.b.WriteByte(sep)
		fmt.Fprintf(&m.b, `%s="%s"`, labels[i], escapeLabel(labels[i+1]))
	}
	if len(labels) > 0 {
		m.b.WriteByte('}')
	}
	m.b.WriteByte(' ')
	m.b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	m.b.WriteByte('\n')
}

func escapeLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "�"))
}
