package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
)

// TestEnqueuedJobIsVisibleToOtherProcess checks that every read and claim of another process finds
// a job as soon as its enqueue is answered.
func TestEnqueuedJobIsVisibleToOtherProcess(t *testing.T) {
	one := openTest(t, Config{Logger: quiet})
	stores := []*Store{one, openAt(t, urlOf(one), Config{Logger: quiet})}
	for i := range 40 {
		writes, reads := stores[i%2], stores[(i+1)%2]
		id := fillQueue(t, writes, 1)[0]
		if _, err := reads.Job(t.Context(), id); err != nil {
			t.Fatalf("job %d was enqueued, but reading it fails: %v", i, err)
		}
		queue, err := reads.Queue(t.Context(), rota.ID{}, 2)
		must(t, err)
		if len(queue) != 1 || queue[0].ID != id {
			t.Errorf("job %d was enqueued, but the queue is %v", i, idsOf(queue))
		}
		if got := done[*rota.Claimed](t, reads, claimOf("w", 2)).Jobs; len(got) != 1 || got[0].ID != id {
			t.Errorf("job %d was enqueued, but %v was claimed", i, idsOf(got))
		}
		job, err := writes.Job(t.Context(), id)
		must(t, err)
		if job.State() != rota.StateRunning {
			t.Errorf("job %d was claimed, but its state is %s", i, job.State())
		}
	}
}

// TestReapSkipsLockedRun checks that Reap skips a run that another transaction has locked, although
// it is the first, and reaps it the next time.
func TestReapSkipsLockedRun(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 3)
	stale := claimOf("dead", 3)
	stale.Lease = rota.LeaseMin
	claimed := idsOf(done[*rota.Claimed](t, s, stale).Jobs)
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	must(t, err)
	slices.SortFunc(claimed, rota.ID.Compare)
	_, err = tx.Exec(t.Context(), s.dialect.qualify(`SELECT 1 FROM rota_jobs WHERE id = $1 FOR UPDATE`), claimed[0].String())
	must(t, err)
	reap := func() (ids []rota.ID) {
		results, err := s.Apply(t.Context(), rota.Batch{
			Now: time.Now().Add(time.Minute), Commands: []rota.Command{&rota.Reap{Meta: rota.NewMeta(""), Limit: 2}},
		})
		must(t, err)
		for _, settled := range results[0].Reply.(*rota.Reaped).Jobs {
			ids = append(ids, settled.JobID)
		}
		return ids
	}
	if got := reap(); !slices.Equal(got, claimed[1:]) {
		t.Errorf("reaped %v, want %v", got, claimed[1:])
	}
	must(t, tx.Rollback(t.Context()))
	if got := reap(); !slices.Equal(got, claimed[:1]) {
		t.Errorf("reaped %v the next time, want %v", got, claimed[:1])
	}
}
