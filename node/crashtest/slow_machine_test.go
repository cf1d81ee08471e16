//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// On a busy machine servers lose leases as short as those of a test, and cannot prevent
// it. The test therefore measures delays: of this process, which proxies the connections
// to the database; of the database, with a small write that waits for no lock; and of
// each server, with a trivial request.
const (
	faultSlowMachine = "slow machine"
	probeInterval    = 50 * time.Millisecond
	probeTolerance   = 20 * time.Millisecond // shorter delays are normal
	probeWindow      = 2 * clusterLease
	probeDelayMax    = clusterLease / 4 // sum of delays within the window from which the machine counts as slow
)

// measureMachine measures delays until the test ends.
func (f *testCluster) measureMachine() {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	f.Cleanup(func() {
		stop()
		wg.Wait()
	})
	wg.Go(func() { f.measure(ctx, "this process", nil, func() error { return nil }) })
	wg.Go(func() {
		for ctx.Err() == nil {
			f.measureDatabase(ctx)
			time.Sleep(lockWaitInterval) // the database is down
		}
	})
	for _, s := range f.servers {
		wg.Go(func() { f.measure(ctx, "the server", s, s.ping(ctx)) })
	}
}

// measureDatabase measures delays on one connection until the connection breaks.
func (f *testCluster) measureDatabase(ctx context.Context) {
	write, end, err := f.shared.probe(ctx)
	if err != nil {
		return
	}
	defer end()
	f.measure(ctx, "the database", nil, write)
}

// errConnectionLost ends a measurement.
var errConnectionLost = errors.New("connection lost")

// ping returns a function that sends a trivial request to the server.
func (s *testServer) ping(ctx context.Context) func() error {
	client := &http.Client{Transport: &http.Transport{}}
	return func() error {
		addr, _ := s.address()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
}

// measure repeats a probe and records a fault when the delays within the window add up
// to probeDelayMax. It ignores probes that fail, or that another fault delays.
func (f *testCluster) measure(ctx context.Context, subject string, s *testServer, probe func() error) {
	var delays []span
	var record *faultRecord
	for last := time.Now(); ctx.Err() == nil; {
		time.Sleep(probeInterval)
		err := probe()
		if err == errConnectionLost {
			return
		}
		now := time.Now()
		late := now.Sub(last) - probeInterval - probeTolerance
		last = now
		if late <= 0 || err != nil || f.faults.deliberate(s, now.Add(-late), now) {
			continue
		}
		delays = append(delays, span{now.Add(-late), now})
		delays = slices.DeleteFunc(delays, func(d span) bool { return d.to.Before(now.Add(-probeWindow)) })
		sum := time.Duration(0)
		for _, d := range delays {
			sum += d.to.Sub(d.from)
		}
		if sum < probeDelayMax {
			continue
		}
		if record == nil || record.to.Before(delays[0].from) {
			record = f.faults.begin(faultSlowMachine, s)
		}
		f.faults.extend(record, delays[0].from, now, fmt.Sprintf("%s lost %s", subject, sum.Round(time.Millisecond)))
	}
}

// extend extends a fault so that it contains a span.
func (f *faults) extend(record *faultRecord, from, to time.Time, detail string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if from.Before(record.from) {
		record.from = from
	}
	record.to, record.detail = to, detail
}

// deliberate reports whether the test itself caused a fault of a server within a span;
// a nil server stands for the database.
func (f *faults) deliberate(s *testServer, from, to time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(record *faultRecord) bool {
		return record.kind != faultSlowMachine && record.kind != faultLockWait && record.server == s && record.overlaps(from, to)
	})
}

// machineSlow reports whether the machine was slow within a span.
func (f *faults) machineSlow(from, to time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(record *faultRecord) bool { return record.kind == faultSlowMachine && record.overlaps(from, to) })
}

// countAttempts returns the number of attempts at a job, without those that failed
// because the machine was slow.
func (f *testCluster) countAttempts(chain []*rota.Job) (n int) {
	for _, j := range chain {
		if f.leaseExpired(j) && f.faults.machineSlow(j.Run.StartedAt, j.Run.FinishedAt) {
			f.Logf("job %s lost its lease while the machine was slow", j.ID)
			continue
		}
		n++
	}
	return n
}

// leaseExpired reports whether a run ended because its lease expired: another server
// reaped it, or its own server stopped it.
func (f *testCluster) leaseExpired(j *rota.Job) bool {
	return reaped(j) || slices.ContainsFunc(f.servers, func(s *testServer) bool {
		return strings.Contains(s.log(), logLeaseExpired+`" job=`+j.ID.String())
	})
}

// failFunc fails a test that may be repeated.
type failFunc func(f *testCluster, format string, args ...any)

// retryIfSlow runs a test up to three times. It repeats a test that failed while the
// machine was slow; a failure of the last try counts.
func retryIfSlow(t *testing.T, test func(t *testing.T, fail failFunc)) {
	t.Helper()
	const tries = 3
	for try := 1; try <= tries; try++ {
		repeat := false
		t.Run(fmt.Sprint("try ", try), func(t *testing.T) {
			began := time.Now()
			test(t, func(f *testCluster, format string, args ...any) {
				t.Helper()
				if repeat = try < tries && f.faults.machineSlow(began, time.Now()); repeat {
					t.Skipf(format+"; the machine was slow:%s", append(args, f.faults.summary())...)
				}
				t.Fatalf(format, args...)
			})
		})
		if !repeat {
			return
		}
		t.Log("repeated: the machine was slow")
	}
}
