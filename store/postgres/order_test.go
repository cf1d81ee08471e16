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
)

// pausedStore is a store whose claims wait between what they lock and their
// commit, from the given one of their decisions on.
type pausedStore struct {
	*Store
	reached, resume chan struct{}
}

// pauseClaims has the claims of a store wait at the nth time that they have
// decided: at the second what bounds them is locked, if anything does.
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

// fillQueue fills the queue, and is the order in which it stands.
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

// passedOver are the jobs that came before one that was taken, and were taken by
// nobody.
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

// TestClaimOrderIgnoresPlan: where few jobs are known of, PostgreSQL would rather
// begin with them, by their ids, than with the ranks that they have.
func TestClaimOrderIgnoresPlan(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	rows(t, s, `ANALYZE rota_jobs`)
	keys := rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "k", Concurrency: 1}}} // so that nothing is locked at first
	done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta(""), Spec: keys})
	var jobs []rota.NewJob
	for i := range 12 { // the last come first
		jobs = append(jobs, rota.NewJob{Type: []string{"work", "rest"}[i%2], Priority: new(i)})
	}
	done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	queue, err := s.Queue(t.Context(), rota.ID{}, len(jobs))
	must(t, err)
	for order := idsOf(queue); len(order) > 0; order = order[3:] {
		claim := claimOf("w", 3)
		claim.Types = []string{"work", "rest"}
		if took := idsOf(done[*rota.Claimed](t, s, claim).Jobs); !slices.Equal(took, order[:3]) {
			t.Fatalf("%v were taken, of %v", took, order)
		}
	}
}

// TestPausedClaimDoesNotBlockOthers, and nobody passes over what it does not take.
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
		t.Errorf("the first took %v\nthe second %v\nof %v", one, second, order[:20])
	}
	if left := passedOver(order, one, second); len(left) > 0 {
		t.Errorf("%v were passed over", left)
	}
}

// TestPassedOverDetectsSurplusLocks: a claimer that locks the heads of the order
// and takes some of them makes another pass over the rest, and passedOver tells.
func TestPassedOverDetectsSurplusLocks(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 40)
	release := holdHeads(t, s, 15)
	defer release()
	second := idsOf(done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs)
	if left := passedOver(order, order[:10], second); !slices.Equal(left, order[10:15]) {
		t.Errorf("passed over are %v", left)
	}
}

// holdHeads locks the heads of the order until they are released.
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

// TestLimitHoldsDuringPausedClaim: who comes meanwhile waits, and takes what
// is left.
func TestLimitHoldsDuringPausedClaim(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	order := fillQueue(t, s, 20)
	done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Concurrency: 5}},
	}})
	slow := pauseClaims(t, openAt(t, urlOf(s), Config{Logger: quiet}), 2)
	answers := make(chan []*rota.Job, 2)
	go func() { answers <- done[*rota.Claimed](t, slow.Store, claimOf("slow", 3)).Jobs }()
	<-slow.reached
	waits := make(chan struct{})
	go func() {
		defer close(waits)
		answers <- done[*rota.Claimed](t, s, claimOf("quick", 10)).Jobs
	}()
	eventually(t, "the other waits for the limit", func() bool {
		return rows(t, s, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)[0][0] == "1"
	})
	slow.resume <- struct{}{}
	one, two := idsOf(<-answers), idsOf(<-answers)
	<-waits
	if len(one) != 3 || len(two) != 2 || len(passedOver(order, one, two)) > 0 {
		t.Errorf("%d and %d were taken, %v passed over", len(one), len(two), passedOver(order, one, two))
	}
}

// TestHeartbeatSkipsLockedJob: heartbeats pass over a job that
// somebody has locked, and the lease of that one is not lost.
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

// TestClaimWithEnqueueDoesNotHideJobs: what its step looks at and does not take, others
// may claim meanwhile, or they wait until it is over. Here that is a job before it in
// the queue, and a duplicate, whose step is done again with care.
func TestClaimWithEnqueueDoesNotHideJobs(t *testing.T) {
	local := openTest(t, Config{Logger: quiet})
	remote := openAt(t, urlOf(local), Config{Logger: quiet})
	fillQueue(t, remote, 1)
	done[*rota.TypePut](t, remote, &rota.PutType{Meta: rota.NewMeta(""), Name: "other"})
	held := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", UniqueKey: "k"}}}
	done[*rota.Enqueued](t, remote, held)
	done[*rota.Claimed](t, local, claimOf("w", 1)) // what bounds it is known
	free := `SELECT count(*) FROM (SELECT FROM rota_jobs WHERE id = '` + held.JobID(0).String() + `' FOR UPDATE SKIP LOCKED) j`
	claims := fmt.Sprintf(`SELECT pg_try_advisory_xact_lock_shared(%d, %d)`, local.lockSpace, singleLock(classOrder))
	steps := 0
	local.onDecided = func([]rota.Command) {
		if steps++; steps == 1 {
			done[*rota.TypePut](t, remote, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "other", Paused: true})
			done[*rota.TypePut](t, remote, &rota.SwitchType{Meta: rota.NewMeta(""), Name: "other"})
		}
		if rows(t, remote, free)[0][0] == "0" && rows(t, remote, claims)[0][0] == "t" {
			t.Errorf("at decision %d who claims would pass over a job that nobody takes", steps)
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
			t.Errorf("of %s %d jobs were taken", typ, len(took))
		}
		steps = 0
	}
}
