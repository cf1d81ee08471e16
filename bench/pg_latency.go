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

	// What an enqueued job may wait for its handler, in milliseconds: two commits
	// lie between.
	pgLatencyMedian = 3
	pgLatencyWorst  = 15
)

// pgTold is Rota when it hears of a job from another process.
const pgTold = "rota, told"

func pgLatencyBenchmark() benchmark {
	m := benchmark{cases: []string{pgLatencyCase + medianTail, pgLatencyCase + worstTail}, run: runPgLatency}
	for _, name := range []string{"rota", pgTold} {
		m.bars = append(m.bars,
			bar{caseName: pgLatencyCase + medianTail, subject: name, most: pgLatencyMedian},
			bar{caseName: pgLatencyCase + worstTail, subject: name, most: pgLatencyWorst},
			bar{caseName: pgLatencyCase + medianTail, subject: name, against: "river"})
	}
	return m
}

func runPgLatency(b *bench) error {
	b.report.explain(pgLatencyCase+": what is timed",
		"From the call that enqueues a job to the first instruction of its handler. rota: by the store that the engine is on.\n"+
			pgTold+": by a second store, as of another process, so that the engine hears of it by NOTIFY.\n"+
			"river: "+pgRiverVersion+", Insert by a client beside the one that works, MaxWorkers 16, with the cooldown (2 ms) and the\n"+
			"poll interval (20 ms) of River's own benchmark. fsync is a write and sync of 4 KiB, timed in the same minutes.")
	return b.compare(pgLatencyCase,
		latencySubject(b, pgLatencyCase, "rota", b.pgProbe(openPgRotaProbe)),
		latencySubject(b, pgLatencyCase, pgTold, b.pgProbe(openPgToldProbe)),
		latencySubject(b, pgLatencyCase, "river", b.pgProbe(openPgRiverProbe)),
		latencySubject(b, pgLatencyCase, "fsync", openSyncProbe))
}

// pgProbe opens a probe in a database of its own.
func (b *bench) pgProbe(open func(context.Context, *database) (probe, error)) func(context.Context, string) (probe, error) {
	return func(ctx context.Context, path string) (probe, error) {
		db, err := b.database(strings.TrimSuffix(filepath.Base(path), ".db"))
		if err != nil {
			return nil, err
		}
		return open(ctx, db)
	}
}

// pgRotaProbe is an engine with nothing to do, on a store that another may share.
type pgRotaProbe struct {
	rotaProbe
	db    *database
	other *postgres.Store // nil: there is none
}

func openPgRotaProbe(ctx context.Context, db *database) (probe, error) {
	c, err := openPgRotaCrew(db, 0)
	if err != nil {
		return nil, err
	}
	p := &pgRotaProbe{rotaProbe: rotaProbe{rotaCrew: &c.rotaCrew, from: c.store, started: make(chan time.Time, 1)}, db: db}
	c.handler = p.begin
	return p, wait(ctx, c.start(ctx).Ready())
}

func openPgToldProbe(ctx context.Context, db *database) (probe, error) {
	opened, err := openPgRotaProbe(ctx, db)
	if err != nil {
		return nil, err
	}
	p := opened.(*pgRotaProbe)
	p.other, err = postgres.OpenWith(db.url, pgQuiet)
	p.from = p.other
	return p, err
}

func (p *pgRotaProbe) close(ctx context.Context, n int) error {
	err := p.rest(ctx)
	if p.other != nil {
		err = errors.Join(err, p.other.Close())
	}
	err = errors.Join(err, p.letGo(), p.db.audit(ctx, counts{completed: n}))
	p.db.drop()
	return err
}

// pgRiverProbe is a client with nothing to do.
type pgRiverProbe struct {
	*pgRiverCrew
	db      *database
	started chan time.Time
}

func openPgRiverProbe(ctx context.Context, db *database) (probe, error) {
	p := &pgRiverProbe{pgRiverCrew: &pgRiverCrew{workers: 16}, db: db, started: make(chan time.Time, 1)}
	p.handler = func() { p.started <- time.Now() }
	if err := p.open(ctx, db); err != nil {
		return nil, err
	}
	return p, p.client.Start(context.WithoutCancel(ctx))
}

func (p *pgRiverProbe) once(ctx context.Context) (time.Duration, error) {
	ran := p.ran.await(1)
	begun := time.Now()
	if _, err := p.inserts.Insert(ctx, riverArgs{Text: innerText()}, nil); err != nil {
		return 0, err
	}
	p.done++
	select {
	case started := <-p.started:
		return started.Sub(begun), settled(ctx, ran, p.done, p.finished)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *pgRiverProbe) close(ctx context.Context, n int) error {
	err := errors.Join(p.client.Stop(ctx), p.pgRiverCrew.close(ctx, n))
	p.db.drop()
	return err
}
