package httpapi

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

// deaf is a store that wakes nobody.
type deaf struct{ rota.Store }

func (deaf) Wake() (<-chan struct{}, func()) { return nil, func() {} }

// deafRoom is a waiting room that is never woken, and a way to apply commands. The
// clock of its store may go wrong, as a machine's may that is another.
func deafRoom(t *testing.T, ahead time.Duration) (*longPoll, func(rota.Command)) {
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
	return newLongPoll(&Config{
		Store: deaf{store}, Logger: slog.New(slog.DiscardHandler), OnPolls: func(int) {},
	}), apply
}

// waits has a worker wait for a job, and tells who got one.
func (r *longPoll) waits(ctx context.Context, worker string, got chan<- string) {
	claimed, err := r.wait(ctx, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: worker, Types: []string{"a"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	}, time.Minute)
	if err == nil && len(claimed.Jobs) == 1 {
		got <- claimed.Jobs[0].Run.Runner
	}
}

// TestAMissedWakeUpIsMadeUpFor within seconds, and the clerk goes home when
// nobody is left.
func TestAMissedWakeUpIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room, apply := deafRoom(t, 0)
		got := make(chan string, 1)
		go room.waits(t.Context(), "w", got)
		time.Sleep(time.Second)
		began := time.Now()
		apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		<-got
		if waited := time.Since(began); waited > recheckEvery {
			t.Errorf("it waited %v", waited)
		}
		synctest.Wait()
		if room.running || len(room.queues)+len(room.polls) > 0 {
			t.Error("somebody is still there")
		}
	})
}

// TestOneWhoMayNotClaimHoldsNobodyUp: a direct run keeps the node of its name
// from claiming, and the worker behind it is served.
func TestOneWhoMayNotClaimHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room, apply := deafRoom(t, 0)
		apply(&rota.Reserve{Meta: rota.NewMeta(""), Node: "held"})
		apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}}})
		ctx, stop := context.WithCancel(t.Context())
		got := make(chan string, 1)
		go room.waits(ctx, "held", got)
		time.Sleep(time.Second)
		go room.waits(ctx, "free", got)
		began := time.Now()
		if who := <-got; who != "free" || time.Since(began) > 2*recheckEvery {
			t.Errorf("%s has it after %v", who, time.Since(began))
		}
		stop()
		synctest.Wait()
	})
}

// TestARateIsWaitedForByTheStoresClock, whatever that of this machine says.
func TestARateIsWaitedForByTheStoresClock(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			room, apply := deafRoom(t, ahead)
			apply(&rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{
				Types: []rota.TypeLimit{{Type: "a", Rate: rota.Rate{Count: 1, Per: time.Second}}},
			}})
			apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "a"}, {Type: "a"}}})
			began, got := time.Now(), make(chan string, 2)
			go room.waits(t.Context(), "one", got)
			go room.waits(t.Context(), "two", got)
			<-got
			<-got
			if took := time.Since(began); took < time.Second || took > 2*time.Second {
				t.Errorf("a store that is ahead by %s: two jobs, at one a second, took %s", ahead, took)
			}
			synctest.Wait()
		})
	}
}

// TestLanesAreNamedByTheirTypes, in whatever order those are given.
func TestLanesAreNamedByTheirTypes(t *testing.T) {
	one, types := typesKey([]string{"b", "a", "b"})
	two, _ := typesKey([]string{"a", "b"})
	other, _ := typesKey([]string{"a"})
	if one != two || one == other || len(types) != 2 {
		t.Errorf("%q %q %q", one, two, other)
	}
}

func TestRotasOwnEventsAreToldToWhoAsks(t *testing.T) {
	own := &rota.Event{Kind: rota.EventJobStarted, Type: rota.TypeWebhook, ExecutionID: rota.NewID()}
	for i, test := range []struct {
		filter eventFilter
		want   bool
	}{
		{eventFilter{}, false},
		{eventFilter{kinds: []string{"job.*"}}, false},
		{eventFilter{jobs: filter{typ: rota.TypeWebhook}}, true},
		{eventFilter{jobs: filter{execution: own.ExecutionID}}, true},
		{eventFilter{jobs: filter{typ: "mail"}}, false},
	} {
		if got := test.filter.match(own); got != test.want {
			t.Errorf("%d: it is told: %v", i, got)
		}
	}
}

// TestWhoLeavesAsTheAnswerComesTakesIt: otherwise what was claimed for it would be
// nobody's until its lease ends.
func TestWhoLeavesAsTheAnswerComesTakesIt(t *testing.T) {
	room, _ := deafRoom(t, 0)
	room.running = true // nobody serves it but this test
	p := room.add(t.Context(), &rota.Claim{Meta: rota.NewMeta(""), Types: []string{"a"}, Limit: 1})
	room.mu.Lock()
	room.settle(p, pollResult{claimed: &rota.Claimed{Jobs: []*rota.Job{{}}}})
	room.mu.Unlock()
	if room.cancel(p) {
		t.Error("it left without its job")
	}
}
