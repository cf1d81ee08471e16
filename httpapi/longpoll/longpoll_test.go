package longpoll

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// withoutWakeups is a store that sends no wake-ups.
type withoutWakeups struct{ rota.Store }

func (withoutWakeups) Wake() (<-chan struct{}, func()) { return nil, func() {} }

// newTestPoller returns a Poller without wake-ups, and a function that applies commands. The clock
// of the store may differ from that of the test.
func newTestPoller(t *testing.T, ahead time.Duration) (*Poller, func(rota.Command)) {
	clock := func() time.Time { return time.Now().Add(ahead) }
	store, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "rota.db"), sqlite.Config{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	apply := func(command rota.Command) {
		if results, err := store.Apply(t.Context(), rota.Batch{Commands: []rota.Command{command}}); err != nil || results[0].Err != nil {
			t.Fatal(err, results[0].Err)
		}
	}
	apply(&rota.PutType{Meta: rota.NewMeta(""), Name: "a"})
	return New(withoutWakeups{store}, slog.New(slog.DiscardHandler), func(int) {}), apply
}

// waitFor waits for a job as a worker, and sends the name of the worker that got one.
func (lp *Poller) waitFor(ctx context.Context, worker string, got chan<- string) {
	claimed, err := lp.Wait(ctx, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: worker, Types: []string{"a"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	}, time.Minute)
	if err == nil && len(claimed.Jobs) == 1 {
		got <- claimed.Jobs[0].Run.Runner
	}
}

// TestLongPollFindsJobAfterLostWakeup checks that the periodic recheck finds the job, and that
// pollLoop ends when no poll is left.
func TestLongPollFindsJobAfterLostWakeup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lp, apply := newTestPoller(t, 0)
		got := make(chan string, 1)
		go lp.waitFor(t.Context(), "w", got)
		time.Sleep(time.Second)
		began := time.Now()
		apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		<-got
		if waited := time.Since(began); waited > recheckEvery {
			t.Errorf("it waited %v", waited)
		}
		synctest.Wait()
		if lp.running || len(lp.queues)+len(lp.polls) > 0 {
			t.Error("polls are left")
		}
	})
}

// TestLongPollOfReservedNodeDoesNotBlockOthers reserves the node of the first worker for a direct run.
// The worker behind it gets the job.
func TestLongPollOfReservedNodeDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lp, apply := newTestPoller(t, 0)
		apply(&rota.Reserve{Meta: rota.NewMeta(""), Node: "held"})
		apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		ctx, stop := context.WithCancel(t.Context())
		got := make(chan string, 1)
		go lp.waitFor(ctx, "held", got)
		time.Sleep(time.Second)
		go lp.waitFor(ctx, "free", got)
		began := time.Now()
		if worker := <-got; worker != "free" || time.Since(began) > 2*recheckEvery {
			t.Errorf("%s got the job after %v", worker, time.Since(began))
		}
		stop()
		synctest.Wait()
	})
}

// TestLongPollWaitsForRateByStoreClock uses stores whose clock is ahead or behind.
func TestLongPollWaitsForRateByStoreClock(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			lp, apply := newTestPoller(t, ahead)
			apply(&rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{
				Types: []rota.TypeLimit{{Type: "a", Rate: rota.Rate{Count: 1, Per: time.Second}}},
			}})
			apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}, {Type: "a"}}})
			began, got := time.Now(), make(chan string, 2)
			go lp.waitFor(t.Context(), "one", got)
			go lp.waitFor(t.Context(), "two", got)
			<-got
			<-got
			if took := time.Since(began); took < time.Second || took > 2*time.Second {
				t.Errorf("a store that is ahead by %s: two jobs, at one a second, took %s", ahead, took)
			}
			synctest.Wait()
		})
	}
}

func TestTypesKeyIgnoresOrder(t *testing.T) {
	one, types := TypesKey([]string{"b", "a", "b"})
	two, _ := TypesKey([]string{"a", "b"})
	other, _ := TypesKey([]string{"a"})
	if one != two || one == other || len(types) != 2 {
		t.Errorf("%q %q %q", one, two, other)
	}
}

// TestLongPollCancelledAfterClaimKeepsJobs cancels a poll whose result has arrived. Otherwise its jobs
// would belong to no worker until the lease expires.
func TestLongPollCancelledAfterClaimKeepsJobs(t *testing.T) {
	lp, _ := newTestPoller(t, 0)
	lp.running = true // keeps pollLoop from starting
	p := lp.add(t.Context(), &rota.Claim{Meta: rota.NewMeta(""), Types: []string{"a"}, Limit: 1})
	lp.mu.Lock()
	lp.settle(p, pollResult{claimed: &rota.Claimed{Jobs: []*rota.Job{{}}}})
	lp.mu.Unlock()
	if lp.cancel(p) {
		t.Error("the poll was cancelled without its job")
	}
}
