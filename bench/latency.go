package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/mikestefanello/backlite"
	"github.com/rotajobs/rota"
	"golang.org/x/sys/unix"
)

const (
	latencyCase = "latency/idle"
	latencyJobs = 500 // in a run

	// What an enqueued job may wait for its handler, in milliseconds, where a
	// write and sync takes 0.2: one commit lies between, in backlite two.
	latencyMedian = 1
	latencyWorst  = 5
)

// The tails mark how many of a hundred were faster.
const (
	medianTail = "/p50"
	worstTail  = "/p99"
)

func latencyBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{latencyCase + medianTail, latencyCase + worstTail},
		bars: []bar{
			{caseName: latencyCase + medianTail, subject: "rota", most: latencyMedian},
			{caseName: latencyCase + worstTail, subject: "rota", most: latencyWorst},
			{caseName: latencyCase + medianTail, subject: "rota", against: "backlite"},
		},
		run: runLatency,
	}}
}

// addTimes notes how long something took in the middle and at its worst.
func (r *report) addTimes(caseName, subject, metric string, times []time.Duration) {
	r.add(caseName+medianTail, subject, "median "+metric, percentile(times, 50).Seconds()*1e3, "ms")
	r.add(caseName+worstTail, subject, "99th percentile of "+metric, percentile(times, 99).Seconds()*1e3, "ms")
}

// runLatency enqueues single jobs into queues that have nothing to do, with
// pauses in between.
func runLatency(b *bench) error {
	b.report.explain(latencyCase+": what is timed",
		"From the call that enqueues a job to the first instruction of its handler, both in this process: one commit lies\n"+
			"between. fsync is a write and sync of 4 KiB, timed in the same minutes.")
	return b.compare(latencyCase,
		latencySubject(b, latencyCase, "rota", openRotaProbe), latencySubject(b, latencyCase, "backlite", openBackliteProbe),
		latencySubject(b, latencyCase, "fsync", openSyncProbe))
}

// probe is something that takes time, and can be done again after a pause.
type probe interface {
	// once does it once, and returns when all that belongs to it is over.
	once(context.Context) (time.Duration, error)
	// close refuses a store in which not n are finished.
	close(ctx context.Context, n int) error
}

func latencySubject(b *bench, caseName, name string, open func(ctx context.Context, path string) (probe, error)) subject {
	path, count := b.file("latency-"+name), b.sized(latencyJobs/parts, 3)
	var p probe
	var times []time.Duration
	return subject{
		name: name,
		open: func() (err error) {
			p, err = open(b.ctx, path)
			return err
		},
		part: func(ctx context.Context) error {
			ctx, done := context.WithTimeout(ctx, patience)
			defer done()
			for range count {
				time.Sleep(idlePause())
				took, err := p.once(ctx)
				if err != nil {
					return err
				}
				times = append(times, took)
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			b.report.addTimes(caseName, name, map[bool]string{false: "wait for the handler", true: "write and sync"}[name == "fsync"], times)
			return p.close(ctx, len(times))
		},
	}
}

// idlePause is a moment in which nothing is asked of anybody. It is never the
// same, so that it keeps no step with anybody's clock.
func idlePause() time.Duration { return time.Duration(2+rand.IntN(8000)) * time.Microsecond }

// rotaProbe is an engine with nothing to do.
type rotaProbe struct {
	*rotaCrew
	from    rota.Store // by which jobs are enqueued
	started chan time.Time
}

func openRotaProbe(ctx context.Context, path string) (probe, error) {
	p := &rotaProbe{rotaCrew: &rotaCrew{path: path}, started: make(chan time.Time, 1)}
	p.handler = p.begin
	if err := p.open(); err != nil {
		return nil, err
	}
	p.from = p.store
	return p, wait(ctx, p.start(ctx).Ready())
}

// begin is its handler.
func (p *rotaProbe) begin(context.Context, benchJob) error {
	p.started <- time.Now()
	return nil
}

func (p *rotaProbe) once(ctx context.Context) (time.Duration, error) {
	ended, jobs := p.ended.await(1), newJobs(1)
	begun := time.Now()
	if err := enqueue(ctx, p.from, jobs); err != nil {
		return 0, err
	}
	select {
	case started := <-p.started:
		return started.Sub(begun), wait(ctx, ended)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *rotaProbe) close(ctx context.Context, n int) error {
	return errors.Join(p.rest(ctx), p.rotaCrew.close(ctx, n))
}

// backliteProbe is a dispatcher with nothing to do.
type backliteProbe struct {
	*backliteCrew
	started chan time.Time
}

func openBackliteProbe(ctx context.Context, path string) (probe, error) {
	p := &backliteProbe{backliteCrew: &backliteCrew{workers: 16}, started: make(chan time.Time, 1)}
	p.handler = func(context.Context, backliteTask) error { p.started <- time.Now(); return nil }
	if err := p.open(ctx, path); err != nil {
		return nil, err
	}
	p.client.Start(context.WithoutCancel(ctx))
	return p, nil
}

func (p *backliteProbe) once(ctx context.Context) (time.Duration, error) {
	task := backlite.Task(backliteTask{Text: innerText()})
	begun := time.Now()
	if _, err := p.client.Add(task).Ctx(ctx).Save(); err != nil {
		return 0, err
	}
	p.done++
	select {
	case started := <-p.started:
		over := make(chan struct{})
		close(over)
		return started.Sub(begun), settled(ctx, over, p.done, p.finished)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *backliteProbe) close(ctx context.Context, n int) error {
	return errors.Join(p.rest(ctx), p.backliteCrew.close(ctx, n))
}

// syncProbe is the disk.
type syncProbe struct {
	file *os.File
	page [fsyncBytes]byte
}

func openSyncProbe(_ context.Context, path string) (probe, error) {
	file, err := os.Create(filepath.Clean(path))
	return &syncProbe{file: file}, err
}

func (p *syncProbe) once(context.Context) (time.Duration, error) {
	begun := time.Now()
	if _, err := p.file.Write(p.page[:]); err != nil {
		return 0, err
	}
	err := unix.Fdatasync(int(p.file.Fd()))
	return time.Since(begun), err
}

func (p *syncProbe) close(context.Context, int) error { return p.file.Close() }
