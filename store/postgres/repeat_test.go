package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// TestRepeatedClaimReturnsSameJobs checks a repeated claim of a single type and one that merges
// type queues.
func TestRepeatedClaimReturnsSameJobs(t *testing.T) {
	for _, one := range []struct {
		name   string
		merged bool
	}{{"single type", false}, {"merged", true}} {
		t.Run(one.name, func(t *testing.T) {
			s := openTest(t, Config{Logger: quiet})
			order := fillQueue(t, s, 30)
			done[*rota.Claimed](t, s, claimOf("w", 2)) // caches the single type and the limits
			claim := claimOf("w", 3)
			first := idsOf(done[*rota.Claimed](t, s, claim).Jobs)
			if one.merged {
				s.singleType.observe(nil, &rules.Heads{})
			}
			if (s.singleType.current() == "") != one.merged {
				t.Fatalf("the single type is %q", s.singleType.current())
			}
			for _, at := range []*Store{s, openAt(t, urlOf(s), Config{Logger: quiet})} {
				answer := done[*rota.Claimed](t, at, claim)
				if again := idsOf(answer.Jobs); !answer.Again || !slices.Equal(again, first) {
					t.Errorf("the repeated claim returned %v, repeated: %t; want %v", again, answer.Again, first)
				}
			}
			next := idsOf(done[*rota.Claimed](t, s, claimOf("w", 5)).Jobs)
			if !slices.Equal(next, order[5:10]) {
				t.Errorf("the next claim returned %v, want %v", next, order[5:10])
			}
		})
	}
}

// TestRepeatedClaimWakesOtherProcesses checks that a repeated claim notifies other processes,
// because it had locked jobs that it does not take and their claims may have skipped them.
func TestRepeatedClaimWakesOtherProcesses(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	second := openAt(t, urlOf(s), Config{Logger: quiet})
	fillQueue(t, s, 10)
	claim := claimOf("w", 3)
	done[*rota.Claimed](t, s, claim)
	s.singleType.observe(nil, &rules.Heads{})
	wake, off := second.Wake()
	defer off()
	eventually(t, "the other store listens", second.Listens)
	time.Sleep(50 * time.Millisecond) // the notification of the enqueue has arrived
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
		t.Error("the other process was not notified")
	}
}

// TestReserveDuringFinishAndClaimIsRespected checks that the rows which a finish has checked stay
// locked until the claim of the same batch is decided.
func TestReserveDuringFinishAndClaimIsRespected(t *testing.T) {
	first := openTest(t, Config{Logger: quiet})
	second := openAt(t, urlOf(first), Config{Logger: quiet})
	fillQueue(t, first, 20)
	for range 5 {
		ended := done[*rota.Claimed](t, first, claimOf("w", 1)).Jobs[0]
		slow := pauseClaims(t, first, 1) // after the finish is decided
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
		select { // the Reserve waits, or the claim must respect it
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
			t.Errorf("a reserved worker claimed %d jobs", len(taken))
		}
		done[*rota.Released](t, second, &rota.Release{Meta: rota.NewMeta(""), ReservationID: held.ID})
	}
}

// TestCloseSendsPendingNotification checks that a process that enqueues a job and closes its store
// still notifies the others.
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
		if !received(second) { // the notification of its self-test
			t.Fatal("the notification of the self-test did not arrive")
		}
		one := func() {
			done[*rota.Enqueued](t, second, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work"}}})
		}
		one()
		if !received(second) {
			t.Fatal("no notification of the first job arrived")
		}
		one() // mostly within the pause after the first notification
		must(t, second.Close())
		if !received(second) {
			t.Error("no notification of the last job arrived")
		}
	}
}

// TestEnqueueWithClaimWritesJobOnce checks that an enqueue and a claim in one batch insert the job
// as running if no other job is ready.
func TestEnqueueWithClaimWritesJobOnce(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 1)
	done[*rota.Claimed](t, s, claimOf("w", 1)) // caches what limits the claim
	decisions := 0
	s.onDecided = func([]rota.Command) { decisions++ }
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
	if n := take(1); n != 1 || decisions != 2 {
		t.Errorf("claimed %d jobs in %d decisions, want 1 in 2", n, decisions)
	}
	if after := written(); after == before {
		t.Error("the job was updated when it started")
	}
	if n := take(copyMin); n != copyMin || decisions != 4 {
		t.Errorf("claimed %d jobs in %d decisions, want 2 decisions", n, decisions-2)
	}
	fillQueue(t, s, 1)
	decisions = 0
	if n := take(1); n != 1 || decisions != 4 { // the first two assume that no job is ready
		t.Errorf("with another ready job: claimed %d jobs in %d decisions, want 1 in 4", n, decisions)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE claim_id IS NOT NULL`)[0][0]; n != "4" {
		t.Errorf("%s jobs store a claim id, want 4", n)
	}
}
