package main

import (
	"context"
	"time"

	"github.com/rotajobs/rota/store/postgres"
)

// pgWithoutCase compares a store with a store that does not use one of its fast paths, or none of them. It takes
// minutes, so it runs only if BENCH names it.
const pgWithoutCase = "postgres/without"

// The subjects of a comparison.
const (
	pgAllOn   = "all fast paths"
	pgWithout = "without"
)

// pgWorkload is work that a fast path may make cheaper.
type pgWorkload struct {
	name string
	jobs int // of a part
	open func(ctx context.Context, db *database) (workerPool, error)
}

func pgWorkloads() []pgWorkload {
	return []pgWorkload{
		{"engine", pgJobs / 2, func(_ context.Context, db *database) (workerPool, error) { return openPgRotaPool(db, pgWorkers) }},
		{"insert", pgInsertBatches * pgBatch, openPgInsertPool},
		{"latency", latencyJobs, openPgLatencyPool(openPgRotaProbe)},
		{"notified", latencyJobs, openPgLatencyPool(openPgNotifiedProbe)},
		{"two", pgJobs / 2, func(_ context.Context, db *database) (workerPool, error) {
			c := &pgProcesses{db: db}
			return c, c.open(2, pgWorkers, 0)
		}},
	}
}

func pgWithoutBenchmarks() (all []benchmark) {
	for _, path := range append(postgres.FastPaths(), postgres.EveryFastPath) {
		name := path.String()
		if path == postgres.EveryFastPath {
			name = "all"
		}
		for _, w := range pgWorkloads() {
			all = append(all, w.without(name, path))
		}
	}
	return all
}

// without compares a workload on a store with all fast paths and on one without some of them.
func (w pgWorkload) without(name string, disable postgres.FastPath) benchmark {
	caseName := pgWithoutCase + "/" + name + "/" + w.name
	s := pgEngineComparison{name: caseName, jobs: w.jobs, contenders: []pgContender{
		{name: pgAllOn, note: "the store as it is", open: w.open},
		{name: pgWithout, note: "Config.Disable is " + disable.String(), open: func(ctx context.Context, db *database) (workerPool, error) {
			db.disable = disable
			return w.open(ctx, db)
		}},
	}}
	s.bars = []bar{
		{caseName: caseName + totalTail, subject: pgWithout, against: pgAllOn},
		{caseName: caseName, subject: pgAllOn, against: pgWithout},
	}
	if w.name == "latency" || w.name == "notified" {
		s.bars[1] = bar{caseName: caseName + medianTail, subject: pgWithout, against: pgAllOn}
	}
	m := s.benchmark()
	m.keyword = pgWithoutCase
	return m
}

// pgInsertPool inserts jobs in place of running them.
type pgInsertPool struct {
	queue rivalQueue
	size  int
}

func openPgInsertPool(ctx context.Context, db *database) (workerPool, error) {
	queue, err := openPgRotaQueue(ctx, db, pgBatch)
	return &pgInsertPool{queue: queue, size: pgBatch}, err
}

func (p *pgInsertPool) fill(context.Context, int) error { return nil }

func (p *pgInsertPool) work(ctx context.Context, n int) error {
	for range max(1, n/p.size) {
		if err := p.queue.enqueue(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *pgInsertPool) stopWorkers(context.Context) error { return nil }

func (p *pgInsertPool) close(ctx context.Context, _ int) error {
	if _, err := p.queue.jobs(ctx); err != nil {
		return err
	}
	return p.queue.close()
}

// pgLatencyPool runs jobs one at a time, with pauses between them.
type pgLatencyPool struct {
	probe probe
	times []time.Duration // from enqueue to handler
}

func openPgLatencyPool(open func(context.Context, *database) (probe, error)) func(context.Context, *database) (workerPool, error) {
	return func(ctx context.Context, db *database) (workerPool, error) {
		p, err := open(ctx, db)
		return &pgLatencyPool{probe: p}, err
	}
}

func (p *pgLatencyPool) fill(context.Context, int) error { return nil }

func (p *pgLatencyPool) work(ctx context.Context, n int) error {
	for range n {
		time.Sleep(idlePause())
		took, err := p.probe.measure(ctx)
		if err != nil {
			return err
		}
		p.times = append(p.times, took)
	}
	return nil
}

func (p *pgLatencyPool) stopWorkers(context.Context) error { return nil }

func (p *pgLatencyPool) close(ctx context.Context, n int) error { return p.probe.close(ctx, n) }

// latencies returns the times from enqueue to handler.
func (p *pgLatencyPool) latencies() []time.Duration { return p.times }
