package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/rotajobs/rota/store/postgres"
)

const (
	pgLatencyCase = "postgres/latency"

	// Limits for the time from enqueue to handler, in milliseconds. One commit lies between, and two if another process
	// enqueues the job.
	pgLatencyMedian = 3
	pgLatencyWorst  = 15
)

// pgNotified is Rota if another process enqueues the job, pgInTx if the job is in a transaction of the caller.
const (
	pgNotified = "rota, notified"
	pgInTx     = "rota, transaction"
	pgInTxMost = 1.3 // of the time without a transaction
)

func pgLatencyBenchmark() benchmark {
	m := benchmark{cases: []string{pgLatencyCase + medianTail, pgLatencyCase + worstTail}, run: runPgLatency}
	for _, name := range []string{"rota", pgNotified} {
		m.bars = append(m.bars,
			bar{caseName: pgLatencyCase + medianTail, subject: name, most: pgLatencyMedian},
			bar{caseName: pgLatencyCase + worstTail, subject: name, most: pgLatencyWorst},
			bar{caseName: pgLatencyCase + medianTail, subject: name, against: "river"})
	}
	m.bars = append(m.bars, bar{caseName: pgLatencyCase + medianTail, subject: pgInTx, against: "rota", most: pgInTxMost})
	return m
}

func runPgLatency(b *bench) error {
	b.report.explain(pgLatencyCase+": what is timed",
		"From the call that enqueues a job to the first instruction of its handler. rota: the job is enqueued through the store of the engine.\n"+
			pgNotified+": through a second store, as in another process, so that the engine receives a NOTIFY.\n"+
			pgInTx+": from the call of Commit of a transaction with EnqueueTx.\n"+
			"river: "+pgRiverVersion+", Insert by a second client, MaxWorkers 16, with the cooldown (2 ms) and the\n"+
			"poll interval (20 ms) of River's own benchmark. fsync is a write and sync of 4 KiB, measured at the same time.")
	return b.compare(pgLatencyCase,
		latencySubject(b, pgLatencyCase, "rota", b.pgProbe(openPgRotaProbe)),
		latencySubject(b, pgLatencyCase, pgNotified, b.pgProbe(openPgNotifiedProbe)),
		latencySubject(b, pgLatencyCase, pgInTx, b.pgProbe(openPgTxProbe)),
		latencySubject(b, pgLatencyCase, "river", b.pgProbe(openPgRiverProbe)),
		latencySubject(b, pgLatencyCase, "fsync", openSyncProbe))
}

// pgProbe opens a probe in its own database.
func (b *bench) pgProbe(open func(context.Context, *database) (probe, error)) func(context.Context, string) (probe, error) {
	return func(ctx context.Context, path string) (probe, error) {
		db, err := b.database(strings.TrimSuffix(filepath.Base(path), ".db"))
		if err != nil {
			return nil, err
		}
		return open(ctx, db)
	}
}

// pgRotaProbe is an idle engine on a store, optionally with a second store on the same database.
type pgRotaProbe struct {
	rotaProbe
	db    *database
	other *postgres.Store // second store; nil if there is none
}

func openPgRotaProbe(ctx context.Context, db *database) (probe, error) {
	c, err := openPgRotaPool(db, 0)
	if err != nil {
		return nil, err
	}
	p := &pgRotaProbe{rotaProbe: rotaProbe{rotaPool: &c.rotaPool, from: c.store, started: make(chan time.Time, 1)}, db: db}
	c.handler = p.begin
	return p, wait(ctx, c.start(ctx).Ready())
}

func openPgNotifiedProbe(ctx context.Context, db *database) (probe, error) {
	opened, err := openPgRotaProbe(ctx, db)
	if err != nil {
		return nil, err
	}
	p := opened.(*pgRotaProbe)
	p.other, err = postgres.OpenWith(db.url, db.config())
	p.from = p.other
	return p, err
}

func (p *pgRotaProbe) close(ctx context.Context, n int) error {
	err := p.stopWorkers(ctx)
	if p.other != nil {
		err = errors.Join(err, p.other.Close())
	}
	err = errors.Join(err, p.closeStore(), p.db.audit(ctx, counts{completed: n}))
	p.db.drop()
	return err
}

// pgRiverProbe is an idle client.
type pgRiverProbe struct {
	*pgRiverPool
	db      *database
	started chan time.Time
}

func openPgRiverProbe(ctx context.Context, db *database) (probe, error) {
	p := &pgRiverProbe{pgRiverPool: &pgRiverPool{workers: 16}, db: db, started: make(chan time.Time, 1)}
	p.handler = func() { p.started <- time.Now() }
	if err := p.open(ctx, db); err != nil {
		return nil, err
	}
	return p, p.client.Start(context.WithoutCancel(ctx))
}

func (p *pgRiverProbe) measure(ctx context.Context) (time.Duration, error) {
	ran := p.ran.await(1)
	begun := time.Now()
	if _, err := p.inserter.Insert(ctx, riverArgs{Text: innerText()}, nil); err != nil {
		return 0, err
	}
	p.done++
	select {
	case started := <-p.started:
		return started.Sub(begun), awaitFinished(ctx, ran, p.done, p.finished)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *pgRiverProbe) close(ctx context.Context, n int) error {
	err := errors.Join(p.client.Stop(ctx), p.pgRiverPool.close(ctx, n))
	p.db.drop()
	return err
}
