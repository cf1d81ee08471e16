package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// TestRepeatedClaimReturnsSameJobs, whether all that is ready stands in one lane,
// which the claim knows of, or the lanes are merged.
func TestRepeatedClaimReturnsSameJobs(t *testing.T) {
	for _, one := range []struct {
		name   string
		merged bool
	}{{"one lane", false}, {"merged", true}} {
		t.Run(one.name, func(t *testing.T) {
			s := openTest(t, Config{Logger: quiet})
			order := fillQueue(t, s, 30)
			done[*rota.Claimed](t, s, claimOf("w", 2)) // which makes the lane and the bounds known
			claim := claimOf("w", 3)
			first := idsOf(done[*rota.Claimed](t, s, claim).Jobs)
			if one.merged {
				s.singleType.observe(nil, &rules.Heads{})
			}
			if (s.singleType.typ() == "") != one.merged {
				t.Fatalf("the lane is %q", s.singleType.typ())
			}
			for _, at := range []*Store{s, openAt(t, urlOf(s), Config{Logger: quiet})} {
				answer := done[*rota.Claimed](t, at, claim)
				if again := idsOf(answer.Jobs); !answer.Again || !slices.Equal(again, first) {
					t.Errorf("sent again it answers with %v, and was sent before: %t; want %v", again, answer.Again, first)
				}
			}
			next := idsOf(done[*rota.Claimed](t, s, claimOf("w", 5)).Jobs)
			if !slices.Equal(next, order[5:10]) {
				t.Errorf("the next takes %v; want %v", next, order[5:10])
			}
		})
	}
}

// TestRepeatedClaimWakesOtherProcesses: for a moment it had locked what it does
// not take, and another process may have found nothing meanwhile.
func TestRepeatedClaimWakesOtherProcesses(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	second := openAt(t, urlOf(s), Config{Logger: quiet})
	fillQueue(t, s, 10)
	claim := claimOf("w", 3)
	done[*rota.Claimed](t, s, claim)
	s.singleType.observe(nil, &rules.Heads{})
	wake, off := second.Wake()
	defer off()
	eventually(t, "the other process listens", second.Listens)
	time.Sleep(50 * time.Millisecond) // it has heard of what was enqueued
	select {
	case <-wake:
	default:
	}
	done[*rota.Claimed](t, s, claim)
	ctx, stop := context.WithTimeout(t.Context(), fallbackPollEvery/2)
	defer stop()
	select {
	case <-wake:
	case <-ctx.Done():
		t.Error("the other process was not told")
	}
}

// TestReserveDuringFinishAndClaimIsRespected: what the end has seen to be so is
// held until the claim of the same step is decided.
func TestReserveDuringFinishAndClaimIsRespected(t *testing.T) {
	first := openTest(t, Config{Logger: quiet})
	second := openAt(t, urlOf(first), Config{Logger: quiet})
	fillQueue(t, first, 20)
	for range 5 {
		ended := done[*rota.Claimed](t, first, claimOf("w", 1)).Jobs[0]
		slow := pauseClaims(t, first, 1) // after the end was decided
		answers := make(chan []rota.Result, 1)
		go func() {
			results, err := first.Apply(context.Background(), rota.Batch{Commands: []rota.Command{
				&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: ended.Lease(), Outcome: rota.OutcomeCompleted}}},
				claimOf("w", 2),
			}})
			must(t, err)
			answers <- results
		}()
		<-slow.reached
		reserved := make(chan *rota.Reservation, 1)
		go func() {
			reserved <- done[*rota.Reserved](t, second, &rota.Reserve{Meta: rota.NewMeta(""), Node: "w", For: time.Minute}).Reservation
		}()
		select { // it waits, or the claim will see it
		case r := <-reserved:
			reserved <- r
		case <-time.After(20 * time.Millisecond):
		}
		came := len(reserved) > 0
		slow.resume <- struct{}{}
		results := <-answers
		first.onDecided = nil
		held := <-reserved
		if taken := results[1].Reply.(*rota.Claimed).Jobs; came && len(taken) > 0 {
			t.Errorf("a worker that was reserved took %d jobs", len(taken))
		}
		done[*rota.Released](t, second, &rota.Release{Meta: rota.NewMeta(""), ReservationID: held.ID})
	}
}

// TestCloseSendsPendingNotification: a process that enqueues and ends at once
// leaves nobody waiting.
func TestCloseSendsPendingNotification(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 1)
	conn, err := s.listener.listen(t.Context())
	must(t, err)
	defer conn.Close(context.Background())
	received := func(second *Store) bool {
		ctx, stop := context.WithTimeout(t.Context(), fallbackPollEvery/2)
		defer stop()
		for {
			notification, err := conn.WaitForNotification(ctx)
			if err != nil {
				return false
			}
			if notification.Payload == second.listener.name {
				return true
			}
		}
	}
	for range 5 {
		second := openAt(t, urlOf(s), Config{Logger: quiet})
		if !received(second) { // its self-test
			t.Fatal("a process that starts is not heard")
		}
		one := func() {
			done[*rota.Enqueued](t, second, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work"}}})
		}
		one()
		if !received(second) {
			t.Fatal("nobody was told of the first job")
		}
		one() // mostly within the pause after the first
		must(t, second.Close())
		if !received(second) {
			t.Error("nobody was told of the last job")
		}
	}
}

// TestEnqueueWithClaimWritesJobOnce: where nothing else is there, an enqueue and
// the claim behind it are one step.
func TestEnqueueWithClaimWritesJobOnce(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 1)
	done[*rota.Claimed](t, s, claimOf("w", 1)) // what bounds it is known
	steps := 0
	s.onDecided = func([]rota.Command) { steps++ }
	take := func(n int) (taken int) {
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{
			&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: slices.Repeat([]rota.NewJob{{Type: "work"}}, n)}, claimOf("w", n),
		}})
		must(t, err)
		return len(results[1].Reply.(*rota.Claimed).Jobs)
	}
	written := func() string {
		return rows(t, s, `SELECT count(*) FROM rota_jobs WHERE status = 'RUNNING' AND cmin::text = '0'`)[0][0]
	}
	before := written()
	if n := take(1); n != 1 || steps != 1 {
		t.Errorf("%d jobs were taken in %d steps", n, steps)
	}
	if after := written(); after == before {
		t.Error("the job was written again when it started")
	}
	if n := take(copyMin); n != copyMin || steps != 2 {
		t.Errorf("%d jobs were taken in %d steps", n, steps-1)
	}
	fillQueue(t, s, 1)
	steps = 0
	if n := take(1); n != 1 || steps != 3 { // the first supposes that there is none
		t.Errorf("with another in the queue %d jobs were taken in %d steps", n, steps)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE claim_id IS NOT NULL`)[0][0]; n != "4" {
		t.Errorf("%s claims have left their mark", n)
	}
}
