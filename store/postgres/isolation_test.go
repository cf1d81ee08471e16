package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// A batch of one process must not block other batches, nor change what they read.

// doneQuickly applies a command that must not wait for a batch that holds locks, which PostgreSQL
// would end after ten seconds.
func doneQuickly[R rota.Reply](t *testing.T, what string, s rota.Store, c rota.Command) R {
	t.Helper()
	began := time.Now()
	reply := done[R](t, s, c)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%s took %v", what, took)
	}
	return reply
}

// TestDuplicateDoesNotBlockClaims checks an enqueue with a duplicate key and claims during a claim
// that has stopped before its commit.
func TestDuplicateDoesNotBlockClaims(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 100)
	keyed := func() *rota.Enqueue {
		return &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", UniqueKey: "k"}}}
	}
	done[*rota.Enqueued](t, s, keyed())
	slow := pauseClaims(t, openAt(t, urlOf(s), Config{Logger: quiet}), 1)
	stopped := claimOf("slow", 10)
	lockOf := func(c *rota.Claim) lockKey { return lockFor(rules.LockCommand, string(c.ID[:])) }
	over := make(chan struct{})
	go func() {
		defer close(over)
		done[*rota.Claimed](t, slow.Store, stopped)
	}()
	<-slow.reached
	if again := doneQuickly[*rota.Enqueued](t, "a duplicate", s, keyed()).Jobs[0]; !again.Duplicate {
		t.Error("the second enqueue of a key is not a duplicate")
	}
	for range 200 {
		claim := claimOf("quick", 1)
		for lockOf(claim) == lockOf(stopped) { // one of 65,536 commands shares the lock of the stopped claim
			claim = claimOf("quick", 1)
		}
		doneQuickly[*rota.Claimed](t, "a claim", s, claim)
	}
	slow.resume <- struct{}{}
	<-over
}

// TestWaitingBatchDoesNotDelayOtherAnswers checks that a batch which waits for a lock does not
// delay the events of a batch with other rows.
func TestWaitingBatchDoesNotDelayOtherAnswers(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	stop := s.Watch(func([]rota.Event) {})
	defer stop()
	fillQueue(t, s, 1)
	done[*rota.TypePut](t, s, &rota.PutType{Meta: rota.NewMeta(""), Name: "other"})
	job := done[*rota.Claimed](t, s, claimOf("w", 1)).Jobs[0]
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d, %d)", s.lockSpace, lockFor(rules.LockType, "other")))
	must(t, err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "other"}}})
	}()
	eventually(t, "the enqueue waits", func() bool {
		return rows(t, s, sqlWaitingHere)[0][0] == "1"
	})
	doneQuickly[*rota.Extended](t, "a heartbeat", s, &rota.Extend{
		Meta: rota.NewMeta(""), Lease: time.Minute, Items: []rota.ExtendItem{{LeaseRef: job.Lease()}},
	})
	_, err = conn.Exec(t.Context(), "ROLLBACK")
	must(t, err)
	<-over
}

// TestSmallClaimReadsPastLockedHeads checks claims of two types whose first jobs are locked.
func TestSmallClaimReadsPastLockedHeads(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	jobs := make([]rota.NewJob, 400)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: []string{"work", "other"}[i%2]}
	}
	done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	order, err := s.Queue(t.Context(), rota.ID{}, 400)
	must(t, err)
	release := holdHeads(t, s, 300)
	defer release()
	for i := range 3 {
		if got := idsOf(done[*rota.Claimed](t, s, claimTwoTypes("w", 1)).Jobs); !slices.Equal(got, []rota.ID{order[300+i].ID}) {
			t.Errorf("claim %d returned %v, want %v", i, got, order[300+i].ID)
		}
	}
}

// TestDirectUsesReservationExtendedElsewhere checks a Direct in a process whose cached reservation
// is outdated.
func TestDirectUsesReservationExtendedElsewhere(t *testing.T) {
	local := openTest(t, Config{Logger: quiet})
	remote := openAt(t, urlOf(local), Config{Logger: quiet})
	fillQueue(t, local, 1)
	held := done[*rota.Reserved](t, local, &rota.Reserve{Meta: rota.NewMeta(""), Node: "n", For: 10 * time.Second}).Reservation
	done[*rota.Claimed](t, remote, claimOf("other", 1)) // caches the reservation
	done[*rota.Extended](t, local, &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute, ReservationID: held.ID})
	done[*rota.Directed](t, remote, &rota.Direct{
		Meta: rota.NewMeta(""), ReservationID: held.ID, Job: rota.NewJob{Type: "work"}, Lease: time.Minute, Seed: rota.NewToken(),
	})
}

// TestCallerMayChangeAnswer checks that changes of an answer do not reach the row cache.
func TestCallerMayChangeAnswer(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 2)
	done[*rota.Claimed](t, s, claimOf("w", 1))
	done[*rota.TypePut](t, s, &rota.PutType{Meta: rota.NewMeta(""), Name: "work"}).Type.Paused = true
	if got := len(done[*rota.Claimed](t, s, claimOf("w", 1)).Jobs); got != 1 {
		t.Errorf("claimed %d jobs, want 1", got)
	}
}

// TestConnectionKeepsFewPreparedStatements checks enqueues with many combinations of columns, and lists with many of filters.
func TestConnectionKeepsFewPreparedStatements(t *testing.T) {
	s := openTest(t, Config{Logger: quiet, Conns: 1})
	fillQueue(t, s, 1)
	for i := range 64 {
		j := rota.NewJob{Type: "work"}
		for bit, set := range []func(){
			func() { j.Name = "n" },
			func() { j.UniqueKey = rota.NewID().String() },
			func() { j.ConcurrencyKey = new("c") },
			func() { j.Delay = time.Hour },
			func() { j.ScopeKind, j.ScopeID = "shard", "7" },
			func() { j.Priority = new(7) },
		} {
			if i&(1<<bit) != 0 {
				set()
			}
		}
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{j}})
	}
	for i := range 128 {
		var q rota.JobQuery
		for bit, set := range []func(){
			func() { q.Type = "work" },
			func() { q.Template = "t" },
			func() { q.ScopeKind = "shard" },
			func() { q.ErrorCode = "timeout" },
			func() { q.Text = "n" },
			func() { q.Since = time.Now().Add(-time.Hour) },
			func() { q.State = rota.StateCompleted },
		} {
			if i&(1<<bit) != 0 {
				set()
			}
		}
		_, err := s.FindJobs(t.Context(), q)
		must(t, err)
		_, err = s.CountJobs(t.Context(), q)
		must(t, err)
	}
	conn, err := s.pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	var n int
	must(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_prepared_statements`).Scan(&n))
	if n > 40 {
		t.Errorf("a connection keeps %d statements", n)
	}
}

// TestLimitsBatchesFollowConnections checks that the number of batches in flight follows the size
// of the pool.
func TestLimitsBatchesFollowConnections(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for conns, want := range map[int]int{1: 1, 3: 1, 8: 4} {
		url := urlOf(s) + fmt.Sprintf("&pool_max_conns=%d", conns)
		if got := openAt(t, url, Config{Logger: quiet}).Limits().Batches; got != want {
			t.Errorf("with %d connections the limit is %d batches, want %d", conns, got, want)
		}
	}
}
