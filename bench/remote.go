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
	remoteworker "github.com/rotajobs/rota/worker"
)

// Remote workers, which use the server over HTTP.
const (
	pollsCase = "worker/idle"
	polls     = 1000
	pollWait  = 10 * time.Second // of one poll; short enough that every poll returns at least once during the measurement
	pollsMost = 5.0              // percent of a core

	remoteCase    = "worker/throughput"
	remoteWorkers = 8
	remoteBatch   = 20
	remoteJobs    = 4000 // in a part
	remoteLeast   = 2000 // jobs per second
)

// The clients of the worker protocol.
const (
	remoteProtocol = "rota, the bare protocol"
	remotePackage  = "rota, worker package"
)

func remoteBenchmarks() []benchmark {
	return []benchmark{
		{
			cases: []string{pollsCase},
			bars:  []bar{{caseName: pollsCase, subject: "rota", most: pollsMost}},
			run:   runPolls,
		},
		{
			cases: []string{remoteCase},
			bars: []bar{
				{caseName: remoteCase, subject: remoteProtocol, least: remoteLeast},
				{caseName: remoteCase, subject: remotePackage, least: remoteLeast},
			},
			run: runRemote,
		},
	}
}

// runPolls measures the processor time of a server while many workers wait for jobs and none arrives. Each worker polls
// again when its poll ends.
func runPolls(b *bench) error {
	b.report.explain(pollsCase+": what is measured", fmt.Sprintf(
		"The processor time of a server in a separate process while %d connections wait in POST /claim, %v at a time.", polls, pollWait))
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
	waits, failed := s.startPolls(ctx, b.sized(polls, 10))
	percent, err := 0.0, s.awaitPolls(ctx, b.sized(polls, 10))
	if err == nil {
		percent, err = s.processorPercent(b.sized(int(idleFor.Milliseconds()), 500))
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

// startPolls starts n workers that poll for jobs until ctx ends.
func (s *server) startPolls(ctx context.Context, n int) (*sync.WaitGroup, <-chan error) {
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

// awaitPolls waits until the server reports n waiting polls.
func (s *server) awaitPolls(ctx context.Context, n int) error {
	ctx, done := context.WithTimeout(ctx, serverTimeout)
	defer done()
	want := fmt.Sprintf("\nrota_worker_polls %d\n", n)
	for {
		text, err := s.metrics(ctx)
		if err != nil || strings.Contains(text, want) {
			return err
		}
		time.Sleep(pollInterval)
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

func runRemote(b *bench) error {
	b.report.explain(remoteCase+": what is timed", fmt.Sprintf(
		"%d workers, each with %d jobs at a time, from the queue of a server in a separate process to their recorded end, by\n"+
			"POST /claim and POST /finish. The bare protocol claims and finishes in turns without a handler; the worker package runs\n"+
			"a handler in %d slots. Both share the processors with the server.", remoteWorkers, remoteBatch, remoteBatch))
	return b.compare(remoteCase, remoteSubject(b, remoteProtocol, workByProtocol), remoteSubject(b, remotePackage, workByPackage))
}

// remoteSubject lets remote workers run the jobs in the queue.
func remoteSubject(b *bench, name string, work func(ctx context.Context, s *server, ended *counter) error) subject {
	path, jobs := b.file("away-"+name[6:9]), b.sized(remoteJobs, 2*remoteBatch)
	var s *server
	var took usage
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
				return withTimeout(ctx, jobs, func(ctx context.Context, n int) error { return workUntil(ctx, n, s, work) })
			})
			return errors.Join(err, s.stop())
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			b.report.add(remoteCase, name, "throughput", float64(parts*jobs)/took.wall.Seconds(), "jobs/s")
			return audit(ctx, path, counts{completed: parts * jobs})
		},
	}
}

// workUntil runs all workers until n jobs are finished.
func workUntil(ctx context.Context, n int, s *server, work func(context.Context, *server, *counter) error) error {
	var ended counter
	all := ended.await(n)
	ctx, done := context.WithCancel(ctx)
	defer done()
	var workers sync.WaitGroup
	failed := make(chan error, remoteWorkers)
	for range remoteWorkers {
		workers.Go(func() {
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
	workers.Wait()
	return err
}

// workByProtocol claims and finishes jobs in turns, without a handler.
func workByProtocol(ctx context.Context, s *server, ended *counter) error {
	p := &protocol{client: &http.Client{Transport: &http.Transport{}}, server: s, name: "plain"}
	for {
		items, err := p.claim(ctx, remoteBatch, time.Second)
		if err != nil {
			return err
		}
		if err := p.finish(ctx, items); err != nil {
			return err
		}
		ended.add(len(items))
	}
}

// workByPackage runs a handler with package worker. It counts handler calls; the last finishes are recorded when the
// worker stops.
func workByPackage(ctx context.Context, s *server, ended *counter) error {
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, benchJob) error { ended.add(1); return nil })
	return remoteworker.New("http://"+s.addr, s.token, reg, remoteworker.Config{Workers: remoteBatch, Logger: warnings()}).Run(ctx)
}
