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
		name: "fire/growth", act: fmt.Sprintf("round of %d fires", roundSize), acts: 50,
		smallName: "of 1,000", largeName: "of 1,000,000",
		small: func(*bench) contents { return rounds(fireGrowthSmall) },
		large: func(b *bench) contents { return rounds(b.sized(fireGrowthLarge, fireGrowthSmall)) },
		open:  openRoundFirer,
	}.benchmark()}
}

// Time goes by in rounds, in each of which as many schedules are due.
const (
	roundTime = 10 * time.Second
	roundSize = 100

	// rhythms is how many intervals there are. What was fired then goes to as
	// many places of the calendar and not to its end.
	rhythms = 10
)

// rounds is schedules of which roundSize are due in every round: of each rhythm
// as many. The intervals are as 1, 3, 5 … 19, which makes 100 together, so a
// calendar of 1,000 has just these intervals in rounds.
func rounds(size int) calendar {
	times := size / fireGrowthSmall
	const each = roundSize / rhythms // of a rhythm in a round
	from := time.Now().UTC().Truncate(roundTime)
	return calendar{
		size: times * fireGrowthSmall, from: from,
		spec: func(i int) rota.ScheduleSpec {
			index, i := i%each, i/each // which of those of its rhythm in its round it is
			for rhythm := range rhythms {
				interval := times * (2*rhythm + 1)
				if i >= interval {
					i -= interval
					continue
				}
				late := time.Duration(index*rhythms+rhythm) * (roundTime / roundSize)
				return rota.ScheduleSpec{
					Every: time.Duration(interval) * roundTime, StartsAt: from.Add(time.Duration(i+1)*roundTime + late),
				}
			}
			panic("a calendar has as many schedules as its rhythms have places")
		},
	}
}

// roundFirer fires what is due in one round after the other.
type roundFirer struct {
	*rotaFirer
	fixture *fixture
	rounds  int // that were fired
}

func openRoundFirer(f *fixture) (actor, error) {
	e, err := openRotaFirer(f.path, time.Now())
	return &roundFirer{rotaFirer: e, fixture: f}, err
}

func (r *roundFirer) prepare(ctx context.Context, _ int) error {
	if err := r.before(ctx); err != nil {
		return err
	}
	return r.act(ctx)
}

// before sets the clock to the end of the next round, before the next.
func (r *roundFirer) before(ctx context.Context) error {
	due, err := r.store.NextDue(ctx)
	r.now = due.Fire.Truncate(roundTime).Add(roundTime - time.Millisecond)
	return err
}

// act asks for more than is due: an engine does not know how much that is.
func (r *roundFirer) act(ctx context.Context) error {
	fired, err := r.fire(ctx, burstBatch)
	if err == nil && fired != roundSize {
		err = fmt.Errorf("fired %d schedules, not %d", fired, roundSize)
	}
	r.rounds++
	return err
}

// settle completes the jobs that were made.
func (r *roundFirer) settle(ctx context.Context) error {
	for range r.rounds {
		jobs, err := claim(ctx, r.store, roundSize)
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
