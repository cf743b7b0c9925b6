package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestManyClientsAtOnce has clients of two agents call everything at once: no
// answer is wrong or another's, and none is slow. RAGD_TEST_LOAD=1 makes it
// the size of the figures: 20 clients, 200 calls each, 50,000 chunks.
func TestManyClientsAtOnce(t *testing.T) {
	documents, clients, calls := 120, 6, 40
	full := os.Getenv("RAGD_TEST_LOAD") != ""
	if full {
		documents, clients, calls = 6250, 20, 200
	}
	t.Setenv("RAGD_TEST_LOAD", "")
	files := map[string]string{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range documents {
		kb := []string{"al", "be"}[i%2]
		var b strings.Builder
		fmt.Fprintf(&b, "# Document %d of %s\n\n", i, kb)
		for part := range 4 {
			fmt.Fprintf(&b, "## Part %d\n\nmark%s%d ", part, kb, i)
			for b.Len() < 2400*(part+1) {
				fmt.Fprintf(&b, "word%d ", int(rng.ExpFloat64()*800))
			}
			b.WriteString("\n\n")
		}
		files[fmt.Sprintf("kbs/%s/dir%d/d%d.md", kb, i%50, i)] = b.String()
	}
	s := serve(t, "[[agent]]\nname = \"al\"\nkbs = [\"al\"]\n[[agent]]\nname = \"be\"\nkbs = [\"be\"]\n", files)
	owner := s.agent("")
	for start := time.Now(); ; {
		st := owner.call("rag_status", obj{})
		q := st.obj("queue")
		if st.num("documents") == documents && q.num("pending")+q.num("processing") == 0 {
			t.Logf("%d documents, %d chunks indexed in %v", documents, st.num("chunks"), time.Since(start).Round(time.Second))
			break
		}
		if time.Since(start) > 10*time.Minute {
			t.Fatal("not indexed: ", st)
		}
		time.Sleep(200 * time.Millisecond)
	}
	before := cpuTime(t, s.cmd.Process.Pid)
	var mu sync.Mutex
	took := map[string][]time.Duration{}
	var wg sync.WaitGroup
	for n := range clients {
		kb := []string{"al", "be"}[n%2]
		c := s.agent(kb)
		wg.Go(func() {
			c.mixedCalls(kb, documents, calls, uint64(n), func(tool string, d time.Duration) { mu.Lock(); took[tool] = append(took[tool], d); mu.Unlock() })
		})
	}
	wg.Wait()
	var whole []time.Duration
	for tool, list := range took {
		slices.Sort(list)
		t.Logf("%-22s %4d calls, median %v, p99 %v", tool, len(list), list[len(list)/2].Round(time.Microsecond), list[len(list)*99/100].Round(time.Microsecond))
		whole = append(whole, list...)
	}
	slices.Sort(whole)
	t.Logf("%v of the processor a call", (cpuTime(t, s.cmd.Process.Pid)-before)/time.Duration(max(len(whole), 1)))
	t.Logf("all: %d calls, median %v, p99 %v, worst %v", len(whole), whole[len(whole)/2], whole[len(whole)*99/100], whole[len(whole)-1])
	if len(whole) != clients*calls {
		t.Errorf("%d of %d calls were answered", len(whole), clients*calls)
	}

	t.Logf("beside the most expensive prefixes, a search took at most %v", s.besideHostile())

	// A large KB goes quickly, and searches are answered meanwhile.
	done := make(chan time.Duration)
	go func() {
		start := time.Now()
		owner.call("rag_delete_kb", obj{"kb": "al", "confirm": true})
		done <- time.Since(start)
	}()
	be, searches, slowest := s.agent("be"), 0, time.Duration(0)
	for {
		start := time.Now()
		if r := be.call("rag_search", obj{"query": "word5 markbe1"}); len(r.list("results")) == 0 {
			t.Error("nothing found while another KB was deleted")
		}
		searches++
		slowest = max(slowest, time.Since(start))
		select {
		case d := <-done:
			t.Logf("the KB was deleted in %v; %d searches meanwhile, the slowest took %v", d, searches, slowest)
			return
		default:
		}
	}
}

// besideHostile is the longest a search takes while other clients ask for
// prefixes that every word begins with.
func (s *served) besideHostile() (slowest time.Duration) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		hostile := s.agent("al")
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					hostile.call("capsid_find_docs", obj{"action": "search", "mode": "keyword", "query": "wor* NOT mar* OR NEAR(wor* wor*, 900)"})
				}
			}
		})
	}
	be := s.agent("be")
	for range 30 {
		start := time.Now()
		if r := be.call("rag_search", obj{"query": "word5 markbe1"}); len(r.list("results")) == 0 {
			s.t.Error("nothing found beside hostile queries")
		}
		slowest = max(slowest, time.Since(start))
	}
	close(stop)
	wg.Wait()
	return slowest
}

// cpuTime is what a process has used; 0 where there is no /proc.
func cpuTime(t *testing.T, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	var user, sys int64
	if f := strings.Fields(rest); len(f) > 12 {
		_, err = fmt.Sscan(f[11]+" "+f[12], &user, &sys)
		must(t, err)
	}
	return time.Duration(user+sys) * 10 * time.Millisecond
}

// mixedCalls calls tools at random and checks that the answers are of kb and
// of what was asked.
func (c *mcpClient) mixedCalls(kb string, documents, calls int, seed uint64, note func(string, time.Duration)) {
	rng := rand.New(rand.NewPCG(seed, 7))
	other := map[string]string{"al": "be", "be": "al"}[kb]
	for range calls {
		i := rng.IntN(documents/2) * 2
		if kb == "be" {
			i++
		}
		path := fmt.Sprintf("dir%d/d%d.md", i%50, i)
		tool, args, has := "", obj{}, path
		switch rng.IntN(8) {
		case 0, 1, 2:
			tool, args = "rag_search", obj{"query": fmt.Sprintf("word%d mark%s%d word7", rng.IntN(2000), kb, i)}
		case 3:
			tool, args = "rag_read", obj{"kb": kb, "path": path, "limit_chars": 3000}
		case 4:
			tool, args = "list_chunks", obj{"prefix": kb + "/" + path}
		case 5:
			tool, args = "capsid_find_docs", obj{"action": "glob", "glob": path}
		case 6:
			tool, args = "capsid_find_docs", obj{"action": "search", "mode": "keyword", "query": fmt.Sprintf("mark%s%d OR zebra%d*", kb, i, rng.IntN(90))}
		case 7:
			tool, args, has = "rag_list_documents", obj{"kb": kb, "limit": 20}, "dir"
		}
		start := time.Now()
		m, err := c.try("tools/call", obj{"name": tool, "arguments": args})
		if err != nil {
			c.t.Errorf("%s %v: %v", tool, args, err)
			return
		}
		note(tool, time.Since(start))
		text, err := json.Marshal(m)
		if err != nil || !strings.Contains(string(text), has) || strings.Contains(string(text), "mark"+other) || strings.Contains(string(text), `"isError":true`) {
			c.t.Errorf("%s %v: %s", tool, args, text)
		}
	}
}
