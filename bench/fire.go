package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

const (
	burstCase  = "fire/burst"
	burstSize  = 10_000 // schedules due at the same time
	burstBatch = 500    // fires in one Apply
	burstLeast = 5_000  // schedules per second
	burstShare = 0.5    // of the raw engine's speed
)

func burstBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{burstCase},
		bars: []bar{
			{caseName: burstCase, subject: "rota", least: burstLeast},
			{caseName: burstCase, subject: "rota", against: "raw", least: burstShare, goal: true},
			{caseName: burstCase + processorTail, subject: "raw", against: "rota", least: burstShare, goal: true},
		},
		run: runBurst,
	}}
}

// burst returns schedules that are due at the same time.
func burst(size int) scheduleSet {
	return scheduleSet{
		size: size, from: time.Now().UTC().Truncate(time.Second),
		spec: func(int) rota.ScheduleSpec { return rota.ScheduleSpec{Cron: "0 3 * * *"} },
	}
}

// firer is what Rota and the raw engine have in common.
type firer interface {
	// fire fires at most limit schedules that are due.
	fire(ctx context.Context, limit int) (fired int, err error)
	close() error
}

// runBurst fires schedules that are due at the same time, a page of them per commit.
func runBurst(b *bench) error {
	batches, size := b.sized(burstSize/burstBatch/parts, 1), b.sized(burstBatch, 10)
	f, err := b.fixture(burstCase, burst(parts*batches*size))
	if err != nil {
		return err
	}
	now, err := firstFire(b.ctx, f.path)
	if err != nil {
		return err
	}
	now = now.Add(time.Second)
	explainRaw(b, "fire", rawBegin, rawDue, rawPlanned, rawFire, "-- the last two for each schedule", rawCommit)
	open := func(name string, open func(path string) (firer, error)) subject {
		return burstSubject(b, f, name, open, batches, size)
	}
	return b.compare(burstCase,
		open("rota", func(path string) (firer, error) { return openRotaFirer(path, now) }),
		open("raw", func(path string) (firer, error) { return openRawFirer(path, now) }))
}

// firstFire returns when the first schedule of a file is due.
func firstFire(ctx context.Context, path string) (at time.Time, err error) {
	err = withStore(path, func(store *sqlite.Store) error {
		due, err := store.NextDue(ctx)
		at = due.Fire
		return err
	})
	return at, err
}

func burstSubject(b *bench, f *fixture, name string, open func(path string) (firer, error), batches, size int) subject {
	path, jobs := b.file("burst-"+name), parts*batches*size
	var e firer
	var took usage
	fire := func(ctx context.Context, want int) error {
		fired, err := e.fire(ctx, size)
		if err == nil && fired != want {
			err = fmt.Errorf("fired %d schedules, not %d", fired, want)
		}
		return err
	}
	return subject{
		name: name,
		open: func() (err error) {
			if err = copyFile(f.path, path); err == nil {
				e, err = open(path)
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range batches {
				if err := took.measure(func() error { return fire(ctx, size) }); err != nil {
					return err
				}
			}
			return nil
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			err := fire(ctx, 0) // fails if a schedule is left
			if closeErr := e.close(); err == nil {
				err = closeErr
			}
			if err != nil {
				return err
			}
			b.report.addUsage(burstCase, name, jobs, took)
			return audit(ctx, path, f.want.plus(counts{queued: jobs}))
		},
	}
}

// rotaFirer fires schedules as an engine does, with a fixed clock.
type rotaFirer struct {
	store *sqlite.Store
	now   time.Time
}

func openRotaFirer(path string, now time.Time) (_ *rotaFirer, err error) {
	e := &rotaFirer{now: now}
	e.store, err = sqlite.OpenWith(path, sqlite.Config{Clock: func() time.Time { return e.now }})
	return e, err
}

// fire reads the schedules that are due, plans each and sends all of them in one batch.
func (e *rotaFirer) fire(ctx context.Context, limit int) (int, error) {
	page, err := e.store.DueSchedules(ctx, limit)
	if err != nil || len(page.Schedules) == 0 {
		return 0, err
	}
	batch := rota.Batch{Commands: make([]rota.Command, 0, len(page.Schedules))}
	for _, s := range page.Schedules {
		f, err := rota.PlanFire(rota.NewMeta(""), s, page.Now, time.Time{})
		if err != nil {
			return 0, err
		}
		batch.Commands = append(batch.Commands, f)
	}
	results, err := e.store.Apply(ctx, batch)
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		if r.Err != nil {
			return 0, r.Err
		}
		if fired := r.Reply.(*rota.Fired); len(fired.Jobs) != 1 || fired.ScheduleChanged {
			return 0, fmt.Errorf("a fire was answered %+v", fired)
		}
	}
	return len(results), nil
}

func (e *rotaFirer) close() error { return e.store.Close() }
