//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// writeMax is how long a write may take at a server that runs, whatever happens to the others.
const writeMax = time.Second

// TestKillsDelayNoWritesOfOtherServers kills servers at random times while clients write to
// each of them. The servers that run answer every write within writeMax. A long test kills
// 50 servers.
func TestKillsDelayNoWritesOfOtherServers(t *testing.T) {
	t.Parallel()
	kills := 6
	if !crashTime(t).IsZero() {
		kills = 50
	}
	f := newDynamoCluster(t, dyntest.Start(t, dyntest.Dynoxide), 3)
	f.startAll()
	m := f.startWriting(0, 1, 2)
	for range kills {
		s := f.randomServer()
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		f.ensureKilled(s)
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond) // the others go on
		s.startUntilReady()
	}
	m.stop()
	t.Logf("%d kills", kills)
	m.check()
	f.checkIdleCluster()
}

// writeTimes measures the writes of clients that write to one server each.
type writeTimes struct {
	*testCluster
	end context.CancelFunc
	wg  sync.WaitGroup

	mu  sync.Mutex
	all []writeTime
}

// writeTime is a write to a server that ran from its begin to its answer.
type writeTime struct {
	server *testServer
	span
}

func (w writeTime) took() time.Duration { return w.to.Sub(w.from) }

// startWriting starts a client for each of some servers.
func (f *testCluster) startWriting(servers ...int) *writeTimes {
	m := &writeTimes{testCluster: f}
	ctx, end := context.WithCancel(f.Context())
	m.end = end
	for _, i := range servers {
		m.wg.Go(func() { m.write(ctx, f.servers[i], f.callerOf(i)) })
	}
	return m
}

// write enqueues one job after the other. A write that is answered with 503 is sent again,
// and is answered when that is.
func (m *writeTimes) write(ctx context.Context, s *testServer, c *caller) {
	for ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
		if addr, _ := s.address(); addr == "" {
			continue
		}
		p, began, mark := s.incarnation(), time.Now(), m.answers.newMark()
		a, err := c.write(m.Context(), http.MethodPost, "/jobs", object{"type": "ledger", "params": object{"mark": mark}})
		answered := time.Now()
		var job api.Job
		if err == nil {
			err = a.decode(&job)
		}
		if err != nil {
			m.Errorf("%s: %v", s.name, err)
			return
		}
		m.answers.acknowledge(mark, job)
		if s.incarnation() == p && !isClosed(p.ended) {
			m.mu.Lock()
			m.all = append(m.all, writeTime{s, span{began, answered}})
			m.mu.Unlock()
		}
	}
}

// stop waits until all writes are answered.
func (m *writeTimes) stop() {
	m.end()
	m.wg.Wait()
}

// check fails the test if a write took longer than writeMax, unless the machine was slow.
func (m *writeTimes) check() {
	m.Helper()
	if len(m.all) == 0 {
		m.Fatal("no write was measured")
	}
	slices.SortFunc(m.all, func(a, b writeTime) int { return int(a.took() - b.took()) })
	at := func(part float64) time.Duration {
		return m.all[int(part*float64(len(m.all)-1))].took().Round(time.Millisecond)
	}
	m.Logf("%d writes at servers that ran: median %s, 99%% %s, longest %s", len(m.all), at(0.5), at(0.99), at(1))
	for _, w := range m.all {
		if w.took() <= writeMax {
			continue
		}
		text := fmt.Sprintf("%s answered a write of %s after %s", w.server.name, w.from.UTC().Format(clockTime), w.took().Round(time.Millisecond))
		if m.faults.machineSlow(w.from, w.to) {
			m.Log(text, "on a slow machine")
		} else {
			m.Error(text)
		}
	}
}
