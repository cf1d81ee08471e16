package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// pausedStore is a store whose claims pause after a decision, before the commit.
type pausedStore struct {
	*Store
	reached, resume chan struct{}
}

// pauseClaims has each claim of a store pause at its nth decision. At the second one the limits of
// the claim are locked, if it has any.
func pauseClaims(t testing.TB, s *Store, nth int) *pausedStore {
	t.Helper()
	p := &pausedStore{Store: s, reached: make(chan struct{}), resume: make(chan struct{})}
	var mu sync.Mutex
	times := map[rota.ID]int{}
	s.onDecided = func(commands []rota.Command) {
		mu.Lock()
		id := commands[0].Head().ID
		times[id]++
		here := times[id] == nth
		mu.Unlock()
		if here {
			p.reached <- struct{}{}
			<-p.resume
		}
	}
	return p
}

func claimOf(worker string, limit int) *rota.Claim {
	return &rota.Claim{
		Meta: rota.NewMeta(""), Worker: worker, Types: []string{"work"}, Limit: limit, Lease: time.Minute, Seed: rota.NewToken(),
	}
}

// fillQueue enqueues n jobs and returns their ids in dispatch order.
func fillQueue(t testing.TB, s *Store, n int) (order []rota.ID) {
	t.Helper()
	done[*rota.TypePut](t, s, &rota.PutType{Meta: rota.NewMeta(""), Name: "work"})
	jobs := make([]rota.NewJob, n)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "work", Priority: new(i % 3)}
	}
	done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	list, err := s.Queue(t.Context(), rota.ID{}, n)
	must(t, err)
	for _, j := range list {
		order = append(order, j.ID)
	}
	return order
}

// passedOver returns the jobs before the last claimed one that no claim has taken.
func passedOver(order []rota.ID, taken ...[]rota.ID) (left []rota.ID) {
	all := slices.Concat(taken...)
	last := 0
	for i, id := range order {
		if slices.Contains(all, id) {
			last = i
		}
	}
	for _, id := range order[:last] {
		if !slices.Contains(all, id) {
			left = append(left, id)
		}
	}
	return left
}

func idsOf(jobs []*rota.Job) (ids []rota.ID) {
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// TestClaimOrderIgnoresPlan checks the order of claims with statistics of an empty table, where the
// planner prefers to join by id instead of by rank.
func TestClaimOrderIgnoresPlan(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	rows(t, s, `ANALYZE rota_jobs`)
	keys := rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 1}}} // so that the first decision locks nothing
	done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta(""), Spec: keys})
	var jobs []rota.NewJob
	for i := range 12 { // the last have the highest priority
		jobs = append(jobs, rota.NewJob{Type: []string{"work", "rest"}[i%2], Priority: new(i)})
	}
	done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	queue, err := s.Queue(t.Context(), rota.ID{}, len(jobs))
	must(t, err)
	for order := idsOf(queue); len(order) > 0; order = order[3:] {
		claim := claimOf("w", 3)
		claim.Types = []string{"work", "rest"}
		if took := idsOf(done[*rota.Claimed](t, s, claim).Jobs); !slices.Equal(took, order[:3]) {
			t.Fatalf("claimed %v, want the first 3 of %v", took, order)
		}
	}
}

// TestPausedClaimDoesNotBlockOthers checks that a second claim takes the next jobs at once, and
// that no job is skipped.
func TestPausedClaimDoesNotBlockOthers(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 40)
	slow := pauseClaims(t, openAt(t, urlOf(s), Config{Logger: quiet}), 1)
	first := make(chan []*rota.Job, 1)
	go func() { first <- done[*rota.Claimed](t, slow.Store, claimOf("slow", 10)).Jobs }()
	<-slow.reached
	second := idsOf(done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs)
	slow.resume <- struct{}{}
	one := idsOf(<-first)
	if !slices.Equal(one, order[:10]) || !slices.Equal(second, order[10:20]) {
		t.Errorf("the first claimed %v\nthe second %v\nof %v", one, second, order[:20])
	}
	if left := passedOver(order, one, second); len(left) > 0 {
		t.Errorf("%v were skipped", left)
	}
}

// TestPassedOverDetectsSurplusLocks checks passedOver itself: a transaction that locks more jobs
// than it takes makes another claim skip them.
func TestPassedOverDetectsSurplusLocks(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 40)
	release := holdHeads(t, s, 15)
	defer release()
	second := idsOf(done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs)
	if left := passedOver(order, order[:10], second); !slices.Equal(left, order[10:15]) {
		t.Errorf("skipped jobs are %v", left)
	}
}

// holdHeads locks the first n jobs of the order until release is called.
func holdHeads(t testing.TB, s *Store, n int) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), s.dialect.qualify(`
SELECT 1
FROM rota_jobs
WHERE status = 'QUEUED' AND hold = 0
ORDER BY priority DESC, position, created_at, id
LIMIT $1
FOR UPDATE SKIP LOCKED`), n)
	must(t, err)
	return func() {
		must(t, tx.Rollback(context.Background()))
		_ = conn.Close(context.Background())
	}
}

// TestLimitHoldsDuringPausedClaim checks that a claim waits for one that is being decided under the
// same limit, and takes only the remaining capacity.
func TestLimitHoldsDuringPausedClaim(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 20)
	done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Concurrency: 5}},
	}})
	slow := pauseClaims(t, openAt(t, urlOf(s), Config{Logger: quiet}), 2)
	slowJobs, quickJobs := make(chan []*rota.Job, 1), make(chan []*rota.Job, 1)
	go func() { slowJobs <- done[*rota.Claimed](t, slow.Store, claimOf("slow", 3)).Jobs }()
	<-slow.reached
	go func() { quickJobs <- done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs }()
	eventually(t, "the other claim waits for the lock of the limit", func() bool {
		return rows(t, s, sqlWaitingHere)[0][0] == "1"
	})
	slow.resume <- struct{}{}
	one, two := idsOf(<-slowJobs), idsOf(<-quickJobs)
	if len(one) != 3 || len(two) != 2 || len(passedOver(order, one, two)) > 0 {
		t.Errorf("claimed %d and %d jobs, skipped %v", len(one), len(two), passedOver(order, one, two))
	}
}

// TestHeartbeatSkipsLockedJob checks that a heartbeat extends the other leases if one job is
// locked, and that the lease of that job is not lost.
func TestHeartbeatSkipsLockedJob(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillQueue(t, s, 3)
	claimed := done[*rota.Claimed](t, s, claimOf("w", 3)).Jobs
	conn, err := pgx.Connect(t.Context(), urlOf(s))
	must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), s.dialect.qualify(`SELECT 1 FROM rota_jobs WHERE id = $1 FOR UPDATE`), claimed[1].ID.String())
	must(t, err)
	beat := &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Hour}
	for _, j := range claimed {
		beat.Items = append(beat.Items, rota.ExtendItem{LeaseRef: j.Lease()})
	}
	for i, answer := range done[*rota.Extended](t, s, beat).Items {
		if later := answer.StaleAfter.After(claimed[i].Run.StaleAfter); answer.Code != "" || later != (i != 1) {
			t.Errorf("lease %d: %+v, was %s", i, answer, claimed[i].Run.StaleAfter)
		}
	}
	must(t, tx.Rollback(t.Context()))
	for i, answer := range done[*rota.Extended](t, s, beat).Items {
		if !answer.StaleAfter.After(claimed[i].Run.StaleAfter) {
			t.Errorf("lease %d is not extended the next time", i)
		}
	}
}

// TestClaimWithEnqueueDoesNotHideJobs checks that a batch of an enqueue and a claim never locks a
// job that it does not take while other claims may run: a job before it in the queue, and a
// duplicate, whose batch is retried pessimistically.
func TestClaimWithEnqueueDoesNotHideJobs(t *testing.T) {
	local := openTest(t, Config{Logger: quiet})
	remote := openAt(t, urlOf(local), Config{Logger: quiet})
	fillQueue(t, remote, 1)
	done[*rota.TypePut](t, remote, &rota.PutType{Meta: rota.NewMeta(""), Name: "other"})
	held := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", UniqueKey: "k"}}}
	done[*rota.Enqueued](t, remote, held)
	done[*rota.Claimed](t, local, claimOf("w", 1)) // caches what limits the claim
	free := `SELECT count(*) FROM (SELECT FROM rota_jobs WHERE id = '` + held.JobID(0).String() + `' FOR UPDATE SKIP LOCKED) j`
	claims := fmt.Sprintf(`SELECT pg_try_advisory_xact_lock_shared(%d, %d)`, local.lockSpace, singleLock(rules.LockOrder))
	steps := 0
	local.onDecided = func([]rota.Command) {
		if steps++; steps == 1 {
			done[*rota.TypePut](t, remote, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "other", Paused: true})
			done[*rota.TypePut](t, remote, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "other"})
		}
		if rows(t, remote, free)[0][0] == "0" && rows(t, remote, claims)[0][0] == "t" {
			t.Errorf("at decision %d another claim would skip a job that no claim takes", steps)
		}
	}
	for _, typ := range []string{"other", "work"} {
		claim := claimOf("w", 1)
		claim.Types = []string{typ}
		results, err := local.Apply(t.Context(), rota.Batch{Commands: []rota.Command{
			&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", UniqueKey: "k"}, {Type: typ, Priority: new(9)}}}, claim,
		}})
		must(t, err)
		if took := results[1].Reply.(*rota.Claimed).Jobs; len(took) != 1 || took[0].Priority != 9 {
			t.Errorf("claimed %[2]d jobs of type %[1]s, want the one of priority 9", typ, len(took))
		}
		steps = 0
	}
}
