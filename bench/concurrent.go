package main

import (
	"context"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

const (
	concurrentCase = "enqueue/concurrent"
	callersCount   = 100
	groupGain      = 5 // how much faster callers are that share a commit
)

const (
	alone    = "one by one"
	together = "100 at once"
)

func concurrentBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{concurrentCase},
		bars:  []bar{{caseName: concurrentCase, subject: together, against: alone, least: groupGain}},
		run:   runConcurrent,
	}}
}

// runConcurrent enqueues single jobs: by concurrent callers that share commits, and by one caller that waits for each
// commit.
func runConcurrent(b *bench) error {
	return b.compare(concurrentCase,
		singleSubject(b, together, callersCount, b.sized(20, 1), wrap.Coalesce),
		singleSubject(b, alone, 1, b.sized(200, 5), func(s rota.Store) rota.Store { return s }),
	)
}

func singleSubject(b *bench, name string, callers, each int, wrapped func(rota.Store) rota.Store) subject {
	path, jobs := b.file("single-"+map[string]string{alone: "alone", together: "together"}[name]), parts*callers*each
	var inner *sqlite.Store
	var store rota.Store
	var took usage
	return subject{
		name: name,
		open: func() (err error) {
			inner, err = sqlite.Open(path)
			store = wrapped(inner)
			return err
		},
		part: func(ctx context.Context) error {
			return took.measure(func() error { return enqueueSingles(ctx, store, callers, each) })
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			if err := inner.Close(); err != nil {
				return err
			}
			b.report.addUsage(concurrentCase, name, jobs, took)
			return audit(ctx, path, counts{queued: jobs})
		},
	}
}

// enqueueSingles runs concurrent callers that enqueue one job per command.
func enqueueSingles(ctx context.Context, store rota.Store, callers, each int) error {
	errs := make(chan error, callers)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				if err := enqueue(ctx, store, newJobs(1)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}
