package main

import (
	"context"
	"fmt"

	"github.com/rotajobs/rota/store/sqlite"
)

// throughAim is how many jobs a second should get from the queue to their end
// in large batches.
const throughAim = 12_000

// drain is a queue that is claimed and completed in batches until it is empty.
type drain struct {
	size  int // jobs in a batch
	turns int // batches in a part
}

func (d drain) claimCase() string   { return fmt.Sprintf("claim/%d", d.size) }
func (d drain) finishCase() string  { return fmt.Sprintf("finish/%d", d.size) }
func (d drain) throughCase() string { return fmt.Sprintf("claim+finish/%d", d.size) }

func claimBenchmarks() []benchmark {
	large, small := drain{size: 1000, turns: 8}, drain{size: 16, turns: 80}
	first, second := large.benchmark(), small.benchmark()
	first.bars = append(first.bars, bar{caseName: large.throughCase(), subject: "rota", least: throughAim, aim: true})
	return []benchmark{first, second}
}

// benchmark promises the whole; its halves say where a miss comes from.
func (d drain) benchmark() benchmark {
	bars := rawBars(d.throughCase())
	for _, half := range []string{d.claimCase(), d.finishCase()} {
		bars = append(bars, bar{caseName: half, subject: "rota", against: "raw", least: rawShare, aim: true})
	}
	return benchmark{cases: []string{d.throughCase(), d.claimCase(), d.finishCase()}, bars: bars, run: d.run}
}

// run gives both subjects a copy of one file.
func (d drain) run(b *bench) error {
	turns := b.sized(d.turns, 1)
	full := b.file(fmt.Sprintf("queue-%d", d.size))
	defer b.drop(full)
	err := withStore(full, func(store *sqlite.Store) error { return enqueueAll(b.ctx, store, parts*turns*d.size) })
	if err != nil {
		return err
	}
	explainRaw(b, "claim", rawBegin, rawHeads, rawDispatch, rawInsertRun, "-- the last two for each job", rawCommit)
	explainRaw(b, "finish", rawBegin, rawCloseRun, rawCloseJob, "-- for each job", rawCommit)
	return b.compare(d.throughCase(),
		d.subject(b, full, "rota", openRotaEngine, turns), d.subject(b, full, "raw", openRawEngine, turns))
}

func (d drain) subject(b *bench, full, name string, open opener, turns int) subject {
	path, jobs := b.file(fmt.Sprintf("claim-%d-%s", d.size, name)), parts*turns*d.size
	var e engine
	var claims, finishes spent
	return subject{
		name: name,
		open: func() (err error) {
			if err = copyFile(full, path); err == nil {
				e, err = open(path, d.size)
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range turns {
				claim, finish, err := e.turn(ctx, d.size)
				if err != nil {
					return err
				}
				claims.add(claim)
				finishes.add(finish)
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			if err := e.close(); err != nil {
				return err
			}
			through := claims
			through.add(finishes)
			b.report.addSpent(d.throughCase(), name, jobs, through)
			b.report.addSpent(d.claimCase(), name, jobs, claims)
			b.report.addSpent(d.finishCase(), name, jobs, finishes)
			return audit(ctx, path, counts{completed: jobs})
		},
	}
}
