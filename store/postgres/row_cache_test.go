package postgres

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// TestRowCacheDetectsChangesOfOtherProcess checks that a process does not claim on cached types,
// limits and reservations that another process has changed.
func TestRowCacheDetectsChangesOfOtherProcess(t *testing.T) {
	local := openTest(t, Config{Logger: quiet})
	remote := openAt(t, urlOf(local), Config{Logger: quiet})
	fillQueue(t, local, 100)
	cacheType := func() {
		t.Helper()
		done[*rota.Claimed](t, local, claimOf("w", 1))
		if _, known := local.rowCache.get(rules.LockType, rowKey{name: "work"}); !known {
			t.Fatal("the type is not cached")
		}
	}
	claims := func(what string, limit, want int) {
		t.Helper()
		if got := len(done[*rota.Claimed](t, local, claimOf("w", limit)).Jobs); got != want {
			t.Errorf("%s: claimed %d jobs, want %d", what, got, want)
		}
	}
	cacheType()
	done[*rota.TypePut](t, remote, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "work", Paused: true})
	claims("the type is paused", 3, 0)
	claims("the type is still paused", 3, 0)
	done[*rota.TypePut](t, remote, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "work"})
	claims("the type is resumed", 3, 3)

	done[*rota.ThrottlePut](t, remote, &rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Concurrency: 6}},
	}})
	claims("four of six slots are used", 10, 2)
	done[*rota.ThrottlePut](t, remote, &rota.PutThrottle{Meta: rota.NewMeta("")})
	claims("without a limit", 10, 10)

	held := done[*rota.Reserved](t, remote, &rota.Reserve{Meta: rota.NewMeta(""), Node: "w", For: time.Minute}).Reservation
	claims("the worker is reserved", 5, 0)
	done[*rota.Released](t, remote, &rota.Release{Meta: rota.NewMeta(""), ReservationID: held.ID})
	claims("the worker is released", 5, 5)
}

// TestConcurrentRepeatedEnqueueAppliesOnce sends the same enqueue concurrently. No batch reads
// first whether its jobs exist.
func TestConcurrentRepeatedEnqueueAppliesOnce(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	stores := []*Store{s, openAt(t, urlOf(s), Config{Logger: quiet})}
	fillQueue(t, s, 1)
	for _, n := range []int{1, 10, copyMin + 10} {
		for range 5 {
			jobs := make([]rota.NewJob, n)
			for i := range jobs {
				jobs[i] = rota.NewJob{Type: "work"}
			}
			jobs[0].UniqueKey = rota.NewID().String()
			c := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs}
			answers := make([][]rota.ID, 4)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					for _, one := range done[*rota.Enqueued](t, stores[i%2], c).Jobs {
						if one.Duplicate {
							t.Errorf("%d jobs: a repeated job is reported as a duplicate", n)
						}
						answers[i] = append(answers[i], one.Job.ID)
					}
				})
			}
			all.Wait()
			for _, other := range answers[1:] {
				if !slices.Equal(other, answers[0]) {
					t.Errorf("%d jobs: one answer has %v, another %v", n, answers[0], other)
				}
			}
		}
	}
	if got := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]; got != "356" {
		t.Errorf("found %s jobs, want 356", got)
	}
}
