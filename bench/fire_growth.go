package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

const (
	fireGrowthLarge = 1_000_000
	fireGrowthSmall = 1_000
)

func fireGrowthBenchmarks() []benchmark {
	return []benchmark{growth{
		name: "fire/growth", label: fmt.Sprintf("round of %d fires", roundFires), repeat: 50,
		smallName: "of 1,000", largeName: "of 1,000,000",
		small: func(*bench) contents { return rounds(fireGrowthSmall) },
		large: func(b *bench) contents { return rounds(b.sized(fireGrowthLarge, fireGrowthSmall)) },
		open:  openRoundFirer,
	}.benchmark()}
}

// Time advances in rounds. The same number of schedules is due in each round.
const (
	roundTime  = 10 * time.Second
	roundFires = 100

	// intervals is the number of different intervals. With several intervals, the next fires of fired schedules are
	// spread over the order of due times, and not all at its end.
	intervals = 10
)

// rounds returns schedules of which roundFires are due in every round, the same number for each interval. The intervals
// are in the ratio 1, 3, 5 … 19, whose sum is 100, so a set of 1,000 schedules has exactly these intervals, in rounds.
func rounds(size int) scheduleSet {
	times := size / fireGrowthSmall
	const each = roundFires / intervals // schedules of one interval that are due in one round
	from := time.Now().UTC().Truncate(roundTime)
	return scheduleSet{
		size: times * fireGrowthSmall, from: from,
		spec: func(i int) rota.ScheduleSpec {
			index, i := i%each, i/each // index among the schedules of the same interval and round
			for k := range intervals {
				interval := times * (2*k + 1)
				if i >= interval {
					i -= interval
					continue
				}
				late := time.Duration(index*intervals+k) * (roundTime / roundFires)
				return rota.ScheduleSpec{
					Every: time.Duration(interval) * roundTime, StartsAt: from.Add(time.Duration(i+1)*roundTime + late),
				}
			}
			panic("there are more schedules than places in the intervals")
		},
	}
}

// roundFirer fires the schedules that are due, round by round.
type roundFirer struct {
	*rotaFirer
	fixture *fixture
	rounds  int // number of rounds fired
}

func openRoundFirer(f *fixture) (operation, error) {
	e, err := openRotaFirer(f.path, time.Now())
	return &roundFirer{rotaFirer: e, fixture: f}, err
}

func (r *roundFirer) prepare(ctx context.Context, _ int) error {
	if err := r.before(ctx); err != nil {
		return err
	}
	return r.run(ctx)
}

// before sets the clock to the end of the next round, just before the following one.
func (r *roundFirer) before(ctx context.Context) error {
	due, err := r.store.NextDue(ctx)
	r.now = due.Fire.Truncate(roundTime).Add(roundTime - time.Millisecond)
	return err
}

// run requests more schedules than are due, because an engine does not know how many are due.
func (r *roundFirer) run(ctx context.Context) error {
	fired, err := r.fire(ctx, burstBatch)
	if err == nil && fired != roundFires {
		err = fmt.Errorf("fired %d schedules, not %d", fired, roundFires)
	}
	r.rounds++
	return err
}

// restore completes the jobs that the fires created.
func (r *roundFirer) restore(ctx context.Context) error {
	for range r.rounds {
		jobs, err := claim(ctx, r.store, roundFires)
		if err != nil {
			return err
		}
		if err := finish(ctx, r.store, jobs); err != nil {
			return err
		}
		r.fixture.want.completed += len(jobs)
	}
	return nil
}
