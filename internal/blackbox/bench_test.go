package blackbox

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A figure is measured once in a run, however often the benchmark is called.
type figure struct {
	name, goal string
	value      float64
	unit       string
}

// figures are what a run has measured, for the table at its end.
type figures struct {
	mu   sync.Mutex
	list []figure
	done map[string][]figure
}

var measured = figures{done: map[string][]figure{}}

// once runs a measurement at the first call of its benchmark and reports what
// it found at every call.
func once(b *testing.B, measure func(b *testing.B, add func(name string, value float64, unit, goal string))) {
	b.Helper()
	measured.mu.Lock()
	defer measured.mu.Unlock()
	list, ok := measured.done[b.Name()]
	if !ok {
		measure(b, func(name string, value float64, unit, goal string) {
			list = append(list, figure{name, goal, value, unit})
		})
		measured.done[b.Name()] = list
		measured.list = append(measured.list, list...)
	}
	b.ReportMetric(0, "ns/op")
	for _, f := range list {
		b.ReportMetric(f.value, strings.ReplaceAll(f.name, " ", "-")+"-"+f.unit)
	}
}

// table prints what was measured, as Markdown.
func (f *figures) table() {
	if len(f.list) == 0 {
		return
	}
	fmt.Printf("\n%s, %d cores, load at the end %s\n\n| figure | measured | goal |\n|---|---|---|\n", cpuModel(), runtime.NumCPU(), loadNow())
	for _, x := range f.list {
		fmt.Printf("| %s | %.4g %s | %s |\n", x.name, x.value, x.unit, x.goal)
	}
}

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}

func loadNow() string {
	data, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(data), " ")
	return one
}

// quantile of durations, in milliseconds.
func quantile(d []time.Duration, q float64) float64 {
	s := slices.Clone(d)
	slices.Sort(s)
	return float64(s[min(int(q*float64(len(s))), len(s)-1)].Microseconds()) / 1000
}

const mega = 1e6
