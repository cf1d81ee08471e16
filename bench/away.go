package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
	away "github.com/rotajobs/rota/worker"
)

// Workers elsewhere, which reach the server over HTTP.
const (
	pollsCase = "worker/idle"
	polls     = 1000
	pollWait  = 10 * time.Second // of one poll: so short that each comes back while they are watched
	pollsMost = 5.0              // percent of a core

	awayCase    = "worker/throughput"
	awayWorkers = 8
	awayBatch   = 20
	awayJobs    = 4000 // in a part
	awayLeast   = 2000 // jobs a second
)

// Who does the work.
const (
	awayPlain = "rota, the bare protocol"
	awayGo    = "rota, worker package"
)

func awayBenchmarks() []benchmark {
	return []benchmark{
		{
			cases: []string{pollsCase},
			bars:  []bar{{caseName: pollsCase, subject: "rota", most: pollsMost}},
			run:   runPolls,
		},
		{
			cases: []string{awayCase},
			bars: []bar{
				{caseName: awayCase, subject: awayPlain, least: awayLeast},
				{caseName: awayCase, subject: awayGo, least: awayLeast},
			},
			run: runAway,
		},
	}
}

// runPolls reads how much processor time a server takes at which many workers
// wait for jobs that do not come. Each waits again when its wait was in vain.
func runPolls(b *bench) error {
	b.report.explain(pollsCase+": what is measured", fmt.Sprintf(
		"The processor time of a server in a process of its own while %d connections wait in POST /claim, %v at a time.", polls, pollWait))
	path := b.file("polls")
	defer b.drop(path)
	if err := declareBench(b.ctx, path); err != nil {
		return err
	}
	s, err := b.serve("polls", path)
	if err != nil {
		return err
	}
	ctx, done := context.WithCancel(b.ctx)
	waits, failed := s.waitMany(ctx, b.sized(polls, 10))
	percent, err := 0.0, s.awaitPolls(ctx, b.sized(polls, 10))
	if err == nil {
		percent, err = s.idle(b.sized(int(idleFor.Milliseconds()), 500))
	}
	done()
	waits.Wait()
	select {
	case failure := <-failed:
		err = errors.Join(err, failure)
	default:
	}
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	b.report.add(pollsCase, "rota", "processor time of a server with idle workers", percent, "% of a core")
	return nil
}

// waitMany has n workers wait for jobs until ctx ends.
func (s *server) waitMany(ctx context.Context, n int) (*sync.WaitGroup, <-chan error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n, MaxConnsPerHost: n}}
	failed := make(chan error, 1)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			p := &protocol{client: client, server: s, name: fmt.Sprintf("idle-%d", i)}
			for ctx.Err() == nil {
				_, err := p.claim(ctx, 1, pollWait)
				if err != nil && ctx.Err() == nil {
					select {
					case failed <- err:
					default:
					}
					return
				}
			}
		})
	}
	return &all, failed
}

// awaitPolls waits until the server says that so many wait.
func (s *server) awaitPolls(ctx context.Context, n int) error {
	ctx, done := context.WithTimeout(ctx, serverPatience)
	defer done()
	want := fmt.Sprintf("\nrota_worker_polls %d\n", n)
	for {
		text, err := s.metrics(ctx)
		if err != nil || strings.Contains(text, want) {
			return err
		}
		time.Sleep(askEvery)
	}
}

func (s *server) metrics(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/metrics", http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func runAway(b *bench) error {
	b.report.explain(awayCase+": what is timed", fmt.Sprintf(
		"%d workers, each with %d jobs at a time, from the queue of a server in a process of its own to their recorded ends, by\n"+
			"POST /claim and POST /finish. The bare protocol claims and finishes in turn and runs nothing; the worker package runs\n"+
			"a handler in %d slots. Both share the processors with the server.", awayWorkers, awayBatch, awayBatch))
	return b.compare(awayCase, awaySubject(b, awayPlain, plainWork), awaySubject(b, awayGo, packageWork))
}

// awaySubject has workers do the jobs that lie in the queue.
func awaySubject(b *bench, name string, work func(ctx context.Context, s *server, ended *tally) error) subject {
	path, jobs := b.file("away-"+name[6:9]), b.sized(awayJobs, 2*awayBatch)
	var s *server
	var took spent
	return subject{
		name: name,
		open: func() error { return declareBench(b.ctx, path) },
		part: func(ctx context.Context) error {
			err := withStore(path, func(store *sqlite.Store) error { return enqueueAll(ctx, store, jobs) })
			if err == nil {
				s, err = b.serve("away", path)
			}
			if err != nil {
				return err
			}
			err = took.measure(func() error {
				return patiently(ctx, jobs, func(ctx context.Context, n int) error { return until(ctx, n, s, work) })
			})
			return errors.Join(err, s.stop())
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			b.report.add(awayCase, name, "throughput", float64(parts*jobs)/took.wall.Seconds(), "jobs/s")
			return audit(ctx, path, counts{completed: parts * jobs})
		},
	}
}

// until has all workers work until n jobs are finished.
func until(ctx context.Context, n int, s *server, work func(context.Context, *server, *tally) error) error {
	var ended tally
	all := ended.await(n)
	ctx, done := context.WithCancel(ctx)
	defer done()
	var crew sync.WaitGroup
	failed := make(chan error, awayWorkers)
	for range awayWorkers {
		crew.Go(func() {
			if err := work(ctx, s, &ended); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	var err error
	select {
	case <-all:
	case err = <-failed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	done()
	crew.Wait()
	return err
}

// plainWork claims and finishes in turn.
func plainWork(ctx context.Context, s *server, ended *tally) error {
	p := &protocol{client: &http.Client{Transport: &http.Transport{}}, server: s, name: "plain"}
	for {
		items, err := p.claim(ctx, awayBatch, time.Second)
		if err != nil {
			return err
		}
		if err := p.finish(ctx, items); err != nil {
			return err
		}
		ended.add(len(items))
	}
}

// packageWork runs a handler in a worker of its own. What it has run is counted,
// and the last of it is recorded when the worker ends.
func packageWork(ctx context.Context, s *server, ended *tally) error {
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, benchJob) error { ended.add(1); return nil })
	return away.New("http://"+s.addr, s.token, reg, away.Config{Workers: awayBatch, Logger: warnings()}).Run(ctx)
}
