package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/sqlite"
)

const (
	dynamoCase  = "dynamodb/"
	dynamoDelay = 5 * time.Millisecond // of a request, where a case says so

	dynamoShare     = 0.8 // of the SQLite store, in large batches
	dynamoPutShare  = 1.5 // of the time of one conditional put
	dynamoFourShare = 0.6 // of one process, with four
	dynamoLostMost  = 0.5 // of all puts
)

// dynamoBenchmarks returns the cases on DynamoDB, or none if the server of the tests is not installed.
func dynamoBenchmarks() []benchmark {
	if !dyntest.Installed(dyntest.Dynoxide) {
		return nil
	}
	return slices.Concat(dynamoLargeBenchmarks(), []benchmark{dynamoOneBenchmark(), dynamoFourBenchmark()}, dynamoUnitsBenchmarks())
}

// dynamoTable is a table on a server of its own, and the processes that share it.
type dynamoTable struct {
	b      *bench
	server *dyntest.Server
	proxy  *dyntest.Proxy
	name   string
	stores []*dynamo.Store
}

// openDynamo starts a server with its tables in memory, and opens the table some times, each with a replica on the disk.
func openDynamo(b *bench, processes int, delay time.Duration, parameters string) (t *dynamoTable, err error) {
	t = &dynamoTable{b: b, name: "bench-" + strings.ToLower(rand.Text()[:8])}
	if t.server, err = dyntest.Open(dyntest.Dynoxide); err != nil {
		return nil, err
	}
	if t.proxy, err = t.server.OpenProxy(); err == nil {
		t.proxy.Delay(delay)
	}
	url := func() string { // requests without a delay need no proxy
		if delay == 0 && !strings.Contains(parameters, "count") {
			return t.server.URL(t.name)
		}
		return t.proxy.URL(t.name)
	}
	for n := 0; err == nil && n < processes; n++ {
		var s *dynamo.Store
		dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", t.name, n))
		s, err = dynamo.Open(b.ctx, url()+strings.TrimSuffix(parameters, "count"), dynamo.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			t.stores = append(t.stores, s)
		}
	}
	if err != nil {
		err = errors.Join(err, t.close())
	}
	return t, err
}

func (t *dynamoTable) close() (err error) {
	for _, s := range t.stores {
		err = errors.Join(err, s.Close())
	}
	if t.proxy != nil {
		t.proxy.Close()
	}
	t.server.Close()
	return err
}

// dynamoStep handles some jobs, and returns what that took.
type dynamoStep func(ctx context.Context, s rota.Store, size int) (usage, error)

func dynamoEnqueue(ctx context.Context, s rota.Store, size int) (took usage, err error) {
	jobs := newJobs(size)
	err = took.measure(func() error { return enqueue(ctx, s, jobs) })
	return took, err
}

// dynamoRun claims and finishes jobs; it does not measure how they are enqueued.
func dynamoRun(ctx context.Context, s rota.Store, size int) (took usage, err error) {
	if err := enqueue(ctx, s, newJobs(size)); err != nil {
		return took, err
	}
	err = took.measure(func() error {
		jobs, err := claim(ctx, s, size)
		if err == nil {
			err = finish(ctx, s, jobs)
		}
		return err
	})
	return took, err
}

// dynamoLargeBenchmarks compare thousands of jobs in a batch with the SQLite store.
func dynamoLargeBenchmarks() (all []benchmark) {
	for _, one := range []struct {
		name string
		step dynamoStep
		left int // of each job that is handled
	}{{"enqueue/1000", dynamoEnqueue, 1}, {"claim+finish/1000", dynamoRun, 0}} {
		name := dynamoCase + one.name
		all = append(all, benchmark{
			cases: []string{name},
			bars:  []bar{{caseName: name, subject: "rota", against: "sqlite", least: dynamoShare}},
			run: func(b *bench) error {
				b.report.explain(name, "One process, layout=off, the table in the memory of "+string(dyntest.Dynoxide)+" on the same machine; sqlite: the SQLite store, which syncs each commit.")
				return b.compare(name, dynamoLarge(b, name, "rota", one.step, one.left), dynamoLarge(b, name, "sqlite", one.step, one.left))
			},
		})
	}
	return all
}

func dynamoLarge(b *bench, caseName, name string, step dynamoStep, left int) subject {
	turns, size := b.sized(10, 1), b.sized(1000, 10)
	var store rota.Store
	var end func() error
	var took usage
	return subject{
		name: name,
		open: func() error {
			if name == "sqlite" {
				s, err := sqlite.Open(b.file("dynamo-" + name))
				store, end = s, func() error { return s.Close() }
				return err
			}
			t, err := openDynamo(b, 1, 0, "&layout=off")
			if err == nil {
				store, end = t.stores[0], t.close
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range turns {
				used, err := step(ctx, store, size)
				if err != nil {
					return err
				}
				took.add(used)
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(b.file("dynamo-" + name))
			b.report.addUsage(caseName, name, parts*turns*size, took)
			return errors.Join(checkQueued(ctx, store, parts*turns*size*left), end())
		},
	}
}

// checkQueued fails unless so many jobs wait in a store, and none runs.
func checkQueued(ctx context.Context, s rota.Store, jobs int) error {
	stats, err := s.Stats(ctx)
	if err == nil && (stats.Queued != jobs || stats.Running != 0) {
		err = fmt.Errorf("%d of %d jobs wait, and %d run", stats.Queued, jobs, stats.Running)
	}
	return err
}

// dynamoFourBenchmark compares four processes that share a table with one.
func dynamoFourBenchmark() benchmark {
	name := dynamoCase + "four"
	lost := name + "/lost"
	return benchmark{
		cases: []string{name},
		bars: []bar{
			{caseName: name, subject: "four", against: "one", least: dynamoFourShare},
			{caseName: lost, subject: "four", most: dynamoLostMost},
		},
		run: func(b *bench) error {
			b.report.explain(name, "Each process enqueues 16 jobs, claims 16 and finishes them, again and again; each request takes 5 ms longer. "+
				"The figure is jobs a second of all processes together. lost: the share of their puts that found the slot taken.")
			return b.compare(name, dynamoFour(b, name, lost, "one", 1), dynamoFour(b, name, lost, "four", 4))
		},
	}
}

func dynamoFour(b *bench, caseName, lostCase, name string, processes int) subject {
	const size = 16
	turns := b.sized(120, 4) / processes
	var t *dynamoTable
	var took time.Duration
	slots, puts := uint64(0), 0
	return subject{
		name: name,
		open: func() (err error) {
			t, err = openDynamo(b, processes, dynamoDelay, "&layout=off")
			return err
		},
		part: func(ctx context.Context) error {
			before, counted := t.applied(), t.proxy.Counts().Requests["PutItem"]
			begun := time.Now()
			var all sync.WaitGroup
			errs := make([]error, processes)
			for n, s := range t.stores {
				all.Go(func() {
					for turn := 0; turn < turns && errs[n] == nil; turn++ {
						errs[n] = dynamoCycle(ctx, s, newJobs(size))
					}
				})
			}
			all.Wait()
			took += time.Since(begun)
			slots += t.applied() - before
			puts += t.proxy.Counts().Requests["PutItem"] - counted
			return errors.Join(errs...)
		},
		close: func(context.Context) error {
			b.report.add(caseName, name, "throughput", float64(parts*turns*processes*size)/took.Seconds(), "jobs/s")
			b.report.add(lostCase, name, "puts lost", 1-float64(slots)/float64(puts), "of all")
			return t.close()
		},
	}
}

// applied returns the last slot of the log.
func (t *dynamoTable) applied() (last uint64) {
	for _, s := range t.stores {
		last = max(last, s.Applied().Index)
	}
	return last
}

// dynamoCycle enqueues, claims and finishes jobs. Other processes may claim them first.
func dynamoCycle(ctx context.Context, s rota.Store, jobs []rota.NewJob) error {
	if err := enqueue(ctx, s, jobs); err != nil {
		return err
	}
	reply, err := apply[*rota.Claimed](ctx, s, newClaim(len(jobs)))
	if err != nil || len(reply.Jobs) == 0 {
		return err
	}
	return finish(ctx, s, reply.Jobs)
}
