package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// holdLock takes a lock in a transaction of its own until release is called.
func holdLock(t *testing.T, s *Store, key lockKey) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	_, err = conn.Exec(t.Context(), fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d, %d)", s.lockSpace, key))
	must(t, err)
	return func() { must(t, conn.Close(context.Background())) }
}

// sqlWaitingHere counts the locks that transactions of this database wait for. Other tests use
// other databases of the same server.
const sqlWaitingHere = `
SELECT count(*)
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE NOT l.granted AND a.datname = current_database()`

// waitForLockWaiter waits until a transaction waits for a lock.
func waitForLockWaiter(t *testing.T, s *Store) {
	t.Helper()
	eventually(t, "a transaction waits for a lock", func() bool {
		return rows(t, s, sqlWaitingHere)[0][0] == "1"
	})
}

// TestClaimAfterLockWaitUsesNewWebhooks checks that a claim that waited for a lock delivers to a
// webhook that was added meanwhile.
func TestClaimAfterLockWaitUsesNewWebhooks(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 1)
	claim := claimOf("w", 1)
	release := holdLock(t, s, lockFor(rules.LockCommand, string(claim.ID[:])))
	over := make(chan int, 1)
	go func() { over <- len(done[*rota.Claimed](t, s, claim).Jobs) }()
	waitForLockWaiter(t, s)
	done[*rota.WebhooksPut](t, s, &rota.PutWebhooks{Meta: rota.NewMeta(""), Spec: []rota.Webhook{{
		URL: "http://localhost:1/", Secret: "0123456789abcdef0123456789abcdef", Events: []rota.EventKind{rota.EventJobStarted},
	}}})
	release()
	if n := <-over; n != 1 {
		t.Errorf("claimed %d jobs, want 1", n)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE type LIKE 'rota.%'`)[0][0]; n != "1" {
		t.Errorf("%s deliveries, want 1: the webhook was added before the run started", n)
	}
}

// TestClaimAfterLockWaitUsesLaterTime checks that a claim that waited for a lock uses the time
// after the wait: its job must not start while the type was paused.
func TestClaimAfterLockWaitUsesLaterTime(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 1)
	done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "work", Concurrency: 1}}}})
	done[*rota.TypePut](t, s, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "work", Paused: true})
	release := holdLock(t, s, singleLock(rules.LockThrottle)) // precedes the lock of the type
	over := make(chan []*rota.Job, 1)
	go func() {
		defer close(over)
		over <- done[*rota.Claimed](t, s, claimOf("w", 1)).Jobs
	}()
	waitForLockWaiter(t, s)
	done[*rota.TypePut](t, s, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "work"})
	resumed := storeTime(t, s)
	release()
	started := <-over
	if len(started) != 1 {
		t.Fatalf("claimed %d jobs, want 1", len(started))
	}
	if at := started[0].StartedAt; at.Before(resumed) {
		t.Errorf("the job started %v before its type was resumed", resumed.Sub(at))
	}
}

// TestPausedClaimDoesNotBlockReserve checks that a Reserve does not wait for a stopped claim, so
// that no batch waits behind the Reserve.
func TestPausedClaimDoesNotBlockReserve(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 100)
	local := done[*rota.Claimed](t, s, claimOf("w", 1)).Jobs[0]
	slow := pauseClaims(t, openAt(t, urlOf(s), Config{Logger: quiet}), 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = slow.Apply(t.Context(), rota.Batch{Commands: []rota.Command{claimOf("slow", 10)}})
	}()
	<-slow.reached
	began := time.Now()
	done[*rota.Reserved](t, s, &rota.Reserve{Meta: rota.NewMeta(""), Node: "other", For: time.Minute})
	done[*rota.Finished](t, s, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: local.Lease(), Outcome: rota.OutcomeCompleted}}})
	done[*rota.Claimed](t, s, claimOf("w", 1))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the commands took %v", took)
	}
	slow.resume <- struct{}{}
	<-over
}

// TestAbandonedClaimWakesOtherProcesses checks that other processes are notified if a claim
// releases jobs that it had locked, because their claims have skipped them.
func TestAbandonedClaimWakesOtherProcesses(t *testing.T) {
	local := openTest(t, Config{Logger: quiet})
	remote := openAt(t, urlOf(local), Config{Logger: quiet})
	fillQueue(t, local, 10)
	done[*rota.Claimed](t, local, claimOf("w", 2)) // caches what limits the claim
	done[*rota.Claimed](t, remote, claimOf("other", 2))
	done[*rota.Reserved](t, remote, &rota.Reserve{Meta: rota.NewMeta(""), Node: "w", For: time.Minute})
	slow := pauseClaims(t, local, 1)
	first := make(chan int, 1)
	go func() { first <- len(done[*rota.Claimed](t, slow.Store, claimOf("w", 10)).Jobs) }()
	<-slow.reached
	if got := done[*rota.Claimed](t, remote, claimOf("other", 10)); len(got.Jobs) > 0 || got.More {
		t.Fatalf("the locked jobs were not skipped: %d jobs, more %t", len(got.Jobs), got.More)
	}
	wake, off := remote.Wake()
	defer off()
	time.Sleep(50 * time.Millisecond) // earlier notifications have arrived
	select {
	case <-wake:
	default:
	}
	slow.resume <- struct{}{}
	if n := <-first; n != 0 {
		t.Errorf("a reserved worker claimed %d jobs", n)
	}
	select {
	case <-wake:
	case <-time.After(fallbackPollEvery / 2):
		t.Error("the other process was not notified")
	}
}

// TestLockNumbersAreStable checks the lock numbers, because processes of other versions use the
// same ones at the same time.
func TestLockNumbersAreStable(t *testing.T) {
	for i, c := range []rules.LockClass{
		rules.LockCommand, rules.LockOrder, rules.LockUniqueKey, rules.LockGraph, rules.LockThrottle, rules.LockWebhooks,
		rules.LockType, rules.LockTemplate, rules.LockSchedule, rules.LockGroup, rules.LockRedriven, rules.LockRequest,
		rules.LockActive, rules.LockKeyQueue, rules.LockOpen, rules.LockAccess, rules.LockAccessState, rules.LockSecretKey,
	} {
		if c != rules.LockClass(i+1) {
			t.Errorf("class %d has the number %d", i+1, c)
		}
	}
	for _, one := range []struct {
		class  rules.LockClass
		name   string
		number lockKey
	}{
		{rules.LockUniqueKey, "work\x00k", 3<<16 | 17}, {rules.LockOpen, "", 15<<16 | 69}, {rules.LockThrottle, "", 5 << 16},
	} {
		if at := lockFor(one.class, one.name); at != one.number {
			t.Errorf("the lock of class %d for %q has the number %d, want %d", one.class, one.name, at, one.number)
		}
	}
}

// TestRefusedClaimDoesNotWakeItsProcess checks that a refused claim does not wake its own process,
// which would repeat it at once for as long as it is refused.
func TestRefusedClaimDoesNotWakeItsProcess(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 3)
	rows(t, s, `ALTER TABLE rota_jobs ADD CONSTRAINT never CHECK (status <> 'RUNNING')`)
	eventually(t, "the store listens", s.Listens)
	time.Sleep(20 * time.Millisecond) // the wake-up after the connect is over
	wake, off := s.Wake()
	defer off()
	for range 3 {
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{claimOf("w", 1)}})
		if err != nil || results[0].Err == nil {
			t.Fatalf("the claim was not refused: %v, %v", results, err)
		}
	}
	select {
	case <-wake:
		t.Error("the claim wakes its own process")
	case <-time.After(50 * time.Millisecond):
	}
}
