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

	// Limits for the time from enqueue to handler, in milliseconds, if a write and sync takes 0.2 ms. One commit lies
	// between; in backlite two.
	latencyMedian = 1
	latencyWorst  = 5
)

// The suffixes of cases that report percentiles.
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

// addTimes reports the median and the 99th percentile of some times.
func (r *report) addTimes(caseName, subject, metric string, times []time.Duration) {
	r.add(caseName+medianTail, subject, "median "+metric, percentile(times, 50).Seconds()*1e3, "ms")
	r.add(caseName+worstTail, subject, "99th percentile of "+metric, percentile(times, 99).Seconds()*1e3, "ms")
}

// runLatency enqueues single jobs into idle queues, with pauses between them.
func runLatency(b *bench) error {
	b.report.explain(latencyCase+": what is timed",
		"From the call that enqueues a job to the first instruction of its handler, both in this process: one commit lies\n"+
			"between. The log of the database has its largest size from the start, and is overwritten. fsync is a write and sync\n"+
			"of 4 KiB, measured at the same time.")
	return b.compare(latencyCase,
		latencySubject(b, latencyCase, "rota", openRotaProbe), latencySubject(b, latencyCase, "backlite", openBackliteProbe),
		latencySubject(b, latencyCase, "fsync", openSyncProbe))
}

// probe measures something that takes time, repeatedly and with pauses.
type probe interface {
	// measure returns the time of one measurement. It returns when all work for it is finished.
	measure(context.Context) (time.Duration, error)
	// close fails unless the store holds n finished jobs.
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
			ctx, done := context.WithTimeout(ctx, workTimeout)
			defer done()
			for range count {
				time.Sleep(idlePause())
				took, err := p.measure(ctx)
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

// idlePause returns a random pause, so that measurements are not synchronized with a timer of a subject.
func idlePause() time.Duration { return time.Duration(2+rand.IntN(8000)) * time.Microsecond }

// rotaProbe is an idle engine.
type rotaProbe struct {
	*rotaPool
	from    rota.Store // enqueues the jobs
	started chan time.Time
}

func openRotaProbe(ctx context.Context, path string) (probe, error) {
	p := &rotaProbe{rotaPool: &rotaPool{path: path}, started: make(chan time.Time, 1)}
	p.handler = p.begin
	if err := p.open(); err != nil {
		return nil, err
	}
	if err := growLog(path); err != nil {
		return nil, err
	}
	p.from = p.store
	return p, wait(ctx, p.start(ctx).Ready())
}

// begin is the handler.
func (p *rotaProbe) begin(context.Context, benchJob) error {
	p.started <- time.Now()
	return nil
}

func (p *rotaProbe) measure(ctx context.Context) (time.Duration, error) {
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
	return errors.Join(p.stopWorkers(ctx), p.rotaPool.close(ctx, n))
}

// backliteProbe is an idle dispatcher.
type backliteProbe struct {
	*backlitePool
	started chan time.Time
}

func openBackliteProbe(ctx context.Context, path string) (probe, error) {
	p := &backliteProbe{backlitePool: &backlitePool{workers: 16}, started: make(chan time.Time, 1)}
	p.handler = func(context.Context, backliteTask) error { p.started <- time.Now(); return nil }
	if err := p.open(ctx, path); err != nil {
		return nil, err
	}
	if err := growLog(path); err != nil {
		return nil, err
	}
	p.client.Start(context.WithoutCancel(ctx))
	return p, nil
}

func (p *backliteProbe) measure(ctx context.Context) (time.Duration, error) {
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
		return started.Sub(begun), awaitFinished(ctx, over, p.done, p.finished)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *backliteProbe) close(ctx context.Context, n int) error {
	return errors.Join(p.stopWorkers(ctx), p.backlitePool.close(ctx, n))
}

// syncProbe measures a write and sync of the disk.
type syncProbe struct {
	file *os.File
	page [fsyncBytes]byte
}

func openSyncProbe(_ context.Context, path string) (probe, error) {
	file, err := os.Create(filepath.Clean(path))
	return &syncProbe{file: file}, err
}

func (p *syncProbe) measure(context.Context) (time.Duration, error) {
	begun := time.Now()
	if _, err := p.file.Write(p.page[:]); err != nil {
		return 0, err
	}
	err := unix.Fdatasync(int(p.file.Fd()))
	return time.Since(begun), err
}

func (p *syncProbe) close(context.Context, int) error { return p.file.Close() }
