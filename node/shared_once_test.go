package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// tally counts what happened how often.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func newTally() *tally { return &tally{counts: map[string]int{}} }

func (c *tally) add(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[key]++
}

// keys returns how many keys there are, and an example of one that was counted more than once.
func (c *tally) keys() (n int, twice string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, count := range c.counts {
		if count > 1 {
			twice = key
		}
	}
	return len(c.counts), twice
}

// awaitKeys waits until there are so many keys.
func (c *tally) awaitKeys(t *testing.T, what string, want int) {
	t.Helper()
	for late := time.Now().Add(waitMax); ; time.Sleep(10 * time.Millisecond) {
		n, _ := c.keys()
		if n >= want {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d %s, want %d", n, what, want)
		}
	}
}

// receiver counts requests by what identify finds in their bodies.
func (c *tally) receiver(t *testing.T, identify func(path string, header http.Header, body string) string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if key := identify(r.URL.Path, r.Header, string(body)); key != "" {
			c.add(key)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Two nodes on one store run each job once, deliver each webhook once, report each failure once, and count each job once.
func TestNodesOnOneStoreDoEverythingOnce(t *testing.T) {
	onSharedStores(t, testNodesDoEverythingOnce)
}

func testNodesDoEverythingOnce(t *testing.T, kind sharedKind) {
	const jobs, failures = 20, 3
	runs, deliveries, reports := newTally(), newTally(), newTally()
	hook := deliveries.receiver(t, func(_ string, _ http.Header, body string) string {
		_, rest, _ := strings.Cut(body, `"job_id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return id
	})
	var requests atomic.Int64
	sentry := reports.receiver(t, func(string, http.Header, string) string {
		return strconv.FormatInt(requests.Add(1), 10)
	})
	config := Config{
		Store: kind.url(t), SQL: "none", HTTPAllow: "127.0.0.0/8", SentryDSN: strings.Replace(sentry, "://", "://key@", 1) + "/1",
		Register: func(reg *engine.Registry) {
			reg.Func("count", rota.TypeSpec{}, func(_ context.Context, job *rota.Job) error {
				runs.add(job.ID.String())
				return nil
			})
			reg.Func("break", rota.TypeSpec{}, func(context.Context, *rota.Job) error { return rota.Permanent(errors.New("broken")) })
		},
	}
	var nodes []*testNode
	for _, name := range []string{"a", "b"} {
		one := config
		one.Name, one.Data = name, t.TempDir()
		nodes = append(nodes, start(t, one))
	}
	nodes[0].must("PUT", "/webhooks", fmt.Sprintf(`{"webhooks": [{"url": %q, "events": ["job.completed"], "secret": %q}]}`, hook, testSecret))
	copyKey(t, nodes[0], nodes[1])
	for i := range jobs {
		nodes[i%2].enqueue(`{"type": "count"}`)
	}
	for i := range failures {
		nodes[i%2].enqueue(`{"type": "break"}`)
	}
	runs.awaitKeys(t, "runs", jobs)
	deliveries.awaitKeys(t, "deliveries", jobs)
	reports.awaitKeys(t, "reports", failures)
	for metric, want := range map[string]int{
		`rota_enqueued_total{type="count"}`: jobs, `rota_finished_total{outcome="completed",type="count"}`: jobs,
		`rota_finished_total{outcome="failed",type="break"}`: failures,
	} {
		sum := 0
		for _, n := range nodes {
			value, _ := strconv.Atoi(n.metric(metric))
			sum += value
		}
		if sum != want {
			t.Errorf("%s is %d at both nodes together, want %d", metric, sum, want)
		}
	}
	for _, n := range nodes {
		n.stopCleanly() // it sends what is left
	}
	for what, c := range map[string]*tally{"run": runs, "delivery": deliveries} {
		if n, twice := c.keys(); n != jobs || twice != "" {
			t.Errorf("%d jobs have a %s, and one of %q is repeated", n, what, twice)
		}
	}
	if n, _ := reports.keys(); n != failures {
		t.Errorf("%d failures are reported, want %d", n, failures)
	}
}
