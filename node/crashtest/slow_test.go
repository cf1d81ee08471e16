//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

// On a busy machine servers lose leases as short as those of a test, and cannot prevent
// it. So the test measures delays: of this process, which proxies the connections to the
// database; of the database, with a small write that waits for no lock; and of each
// server, with a trivial request.
const (
	slowMachine = "slow machine"
	probeEvery  = 50 * time.Millisecond
	probeUsual  = 20 * time.Millisecond // shorter delays are normal
	probeSpan   = 2 * clusterLease
	probeMost   = clusterLease / 4 // may be lost within that
)

// watchMachine measures until the test ends.
func (f *testCluster) watchMachine() {
	ctx, stop := context.WithCancel(context.Background())
	var over sync.WaitGroup
	f.Cleanup(func() {
		stop()
		over.Wait()
	})
	over.Go(func() { f.measure(ctx, "this process", nil, func() error { return nil }) })
	over.Go(func() {
		for ctx.Err() == nil {
			f.measureDatabase(ctx)
			time.Sleep(waitsEvery) // it is away
		}
	})
	for _, s := range f.servers {
		over.Go(func() { f.measure(ctx, "the server", s, s.ping(ctx)) })
	}
}

// measureDatabase measures one connection, until that breaks.
func (f *testCluster) measureDatabase(ctx context.Context) {
	conn, err := pgconn.Connect(ctx, f.cluster.SocketURL("postgres"))
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	f.measure(ctx, "the database", nil, func() error {
		err := conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'probe', '')").Close()
		if err != nil && conn.IsClosed() {
			return errGone
		}
		return err
	})
}

// errGone ends a measurement.
var errGone = fmt.Errorf("it is gone")

// ping sends a trivial request to a server.
func (s *testServer) ping(ctx context.Context) func() error {
	client := &http.Client{Transport: &http.Transport{}}
	return func() error {
		addr, _ := s.where()
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

// measure repeats a small operation and records a fault when its delays add up to too
// much. It ignores operations that fail, or that another fault delays.
func (f *testCluster) measure(ctx context.Context, of string, s *testServer, small func() error) {
	var lost []stall
	var one *fault
	for last := time.Now(); ctx.Err() == nil; {
		time.Sleep(probeEvery)
		err := small()
		if err == errGone {
			return
		}
		now := time.Now()
		late := now.Sub(last) - probeEvery - probeUsual
		last = now
		if late <= 0 || err != nil || f.faults.done(s, now.Add(-late), now) {
			continue
		}
		lost = append(lost, stall{now.Add(-late), now})
		lost = slices.DeleteFunc(lost, func(l stall) bool { return l.to.Before(now.Add(-probeSpan)) })
		sum := time.Duration(0)
		for _, l := range lost {
			sum += l.to.Sub(l.from)
		}
		if sum < probeMost {
			continue
		}
		if one == nil || one.to.Before(lost[0].from) {
			one = f.faults.begin(slowMachine, s)
		}
		f.faults.extend(one, lost[0].from, now, fmt.Sprintf("%s lost %s", of, sum.Round(time.Millisecond)))
	}
}

type stall struct{ from, to time.Time }

// extend extends a fault to a span.
func (f *faults) extend(one *fault, from, to time.Time, more string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if from.Before(one.from) {
		one.from = from
	}
	one.to, one.more = to, more
}

// done says whether something was done on purpose within a span that makes a server
// late, or, of none, the database.
func (f *faults) done(s *testServer, from, to time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(one *fault) bool {
		return one.what != slowMachine && one.what != heldLocks && one.testServer == s && one.touches(from, to)
	})
}

// slowed reports whether the machine was slow within a span.
func (f *faults) slowed(from, to time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(one *fault) bool { return one.what == slowMachine && one.touches(from, to) })
}

// tried is the number of attempts at a job, without those that a slow machine failed.
func (f *testCluster) tried(chain []*rota.Job) (n int) {
	for _, j := range chain {
		if f.lost(j) && f.faults.slowed(j.Run.StartedAt, j.Run.FinishedAt) {
			f.Logf("job %s lost its lease while the machine was slow", j.ID)
			continue
		}
		n++
	}
	return n
}

// lost says whether a run ended because its lease was over: another has seen that, or
// its own server.
func (f *testCluster) lost(j *rota.Job) bool {
	return reaped(j) || slices.ContainsFunc(f.servers, func(s *testServer) bool {
		return strings.Contains(s.log(), outlived+`" job=`+j.ID.String())
	})
}

// failFunc fails a test that may be repeated.
type failFunc func(f *testCluster, format string, args ...any)

// retryIfSlow runs a test up to three times: it repeats a test that failed while the
// machine was slow, except the last time.
func retryIfSlow(t *testing.T, test func(t *testing.T, fail failFunc)) {
	t.Helper()
	const most = 3
	for try := 1; try <= most; try++ {
		spoiled := false
		t.Run(fmt.Sprint("try ", try), func(t *testing.T) {
			began := time.Now()
			test(t, func(f *testCluster, format string, args ...any) {
				t.Helper()
				if spoiled = try < most && f.faults.slowed(began, time.Now()); spoiled {
					t.Skipf(format+"; the machine was slow:%s", append(args, f.faults.summary())...)
				}
				t.Fatalf(format, args...)
			})
		})
		if !spoiled {
			return
		}
		t.Log("repeated: the machine was slow")
	}
}
