package main

import (
	"context"
	"fmt"

	"github.com/rotajobs/rota/store/sqlite"
)

// throughGoal is the number of jobs per second that should be claimed and finished in large batches.
const throughGoal = 12_000

// drain is a queue that is claimed and completed in batches until it is empty.
type drain struct {
	prefix string // prefix of the names of its cases
	size   int    // jobs in a batch
	turns  int    // batches in a part
}

func (d drain) claimCase() string   { return fmt.Sprintf("%sclaim/%d", d.prefix, d.size) }
func (d drain) finishCase() string  { return fmt.Sprintf("%sfinish/%d", d.prefix, d.size) }
func (d drain) throughCase() string { return fmt.Sprintf("%sclaim+finish/%d", d.prefix, d.size) }

// largeDrain and smallDrain have the batch sizes of a worker that claims many jobs at once and of one that claims few.
var (
	largeDrain = drain{size: 1000, turns: 8}
	smallDrain = drain{size: 16, turns: 80}
)

func claimBenchmarks() []benchmark {
	large, small := largeDrain, smallDrain
	first, second := large.benchmark(), small.benchmark()
	first.bars = append(first.bars, bar{caseName: large.throughCase(), subject: "rota", least: throughGoal, goal: true})
	return []benchmark{first, second}
}

// benchmark has promised bars for claim and finish together, and goals for each of them, which show the cause of a
// miss.
func (d drain) benchmark() benchmark {
	bars := rawBars(d.throughCase())
	for _, half := range []string{d.claimCase(), d.finishCase()} {
		bars = append(bars, bar{caseName: half, subject: "rota", against: "raw", least: rawShare, goal: true})
	}
	return benchmark{cases: []string{d.throughCase(), d.claimCase(), d.finishCase()}, bars: bars, run: d.run}
}

// run copies one file for both subjects.
func (d drain) run(b *bench) error {
	f, err := b.empty()
	if err != nil {
		return err
	}
	full, err := d.fill(b, "raw", f)
	if err != nil {
		return err
	}
	defer b.drop(full.path)
	explainRaw(b, "claim", rawBegin, rawHeads, rawDispatch, "-- the last for each job", rawCommit)
	explainRaw(b, "finish", rawBegin, rawClose, "-- for each job", rawCommit)
	return b.compare(d.throughCase(), d.subject(b, "rota", full, openRotaBatchQueue), d.subject(b, "raw", full, openRawBatchQueue))
}

// jobs returns the number of jobs that a subject drains in one run.
func (d drain) jobs(b *bench) int { return parts * b.sized(d.turns, 1) * d.size }

// fill copies a file and enqueues the jobs to drain.
func (d drain) fill(b *bench, name string, start *fixture) (*fixture, error) {
	full := &fixture{path: b.file(fmt.Sprintf("queue-%d-%s", d.size, name)), want: start.want}
	if err := copyFile(start.path, full.path); err != nil {
		return nil, err
	}
	return full, withStore(full.path, func(store *sqlite.Store) error { return enqueueAll(b.ctx, store, d.jobs(b)) })
}

// subject drains a copy of a full file.
func (d drain) subject(b *bench, name string, full *fixture, open opener) subject {
	path, turns := b.file(fmt.Sprintf("claim-%d-%s", d.size, name)), b.sized(d.turns, 1)
	var e batchQueue
	var claims, finishes usage
	return subject{
		name: name,
		open: func() (err error) {
			if err = copyFile(full.path, path); err == nil {
				e, err = open(path, d.size)
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range turns {
				claim, finish, err := e.claimAndFinish(ctx, d.size)
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
			b.report.addUsage(d.throughCase(), name, d.jobs(b), through)
			b.report.addUsage(d.claimCase(), name, d.jobs(b), claims)
			b.report.addUsage(d.finishCase(), name, d.jobs(b), finishes)
			return audit(ctx, path, full.want.plus(counts{completed: d.jobs(b)}))
		},
	}
}
