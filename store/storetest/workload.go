package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// The plain workload has enqueuers, claimers that finish, fail or abandon their jobs, a caller
// that cancels, one that finishes with wrong tokens, and a reaper whose clock is ahead, so that
// every open lease is stale to it.
const (
	workloadEnqueuers = 3
	workloadClaimers  = 4
	workloadCommands  = 40 // commands of each enqueuer, with up to three jobs
	workloadReaps     = 12
	reaperClockOffset = 2 * lease
)

// ledger records the answers that the callers of the workload got.
type ledger struct {
	mu       sync.Mutex
	created  map[rota.ID]bool              // executions
	claims   map[rota.ID]rota.ID           // job to run
	finished map[rota.ID]rota.FinishAnswer // by job: the answer to its holder
	expired  map[rota.ID]bool              // jobs that a reap reported
	leases   []rota.LeaseRef
	faults   []string
}

func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func plainWorkload(y *story) {
	l := &ledger{
		created: map[rota.ID]bool{}, claims: map[rota.ID]rota.ID{},
		finished: map[rota.ID]rota.FinishAnswer{}, expired: map[rota.ID]bool{},
	}
	closed := make(chan struct{})
	var enqueuers, others sync.WaitGroup
	for i := range workloadEnqueuers {
		enqueuers.Go(func() { l.enqueuer(y, newRand(i)) })
	}
	for i := range workloadClaimers {
		others.Go(func() { l.claimer(y, newRand(100+i), closed) })
	}
	others.Go(func() { l.canceller(y, newRand(200)) })
	others.Go(func() { l.wrongTokenFinisher(y, newRand(300)) })
	others.Go(func() { l.reaper(y) })
	enqueuers.Wait()
	close(closed)
	others.Wait()
	l.drainQueue(y)
	l.audit(y)
}

func newRand(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 7)) }

func (l *ledger) enqueuer(y *story, r *rand.Rand) {
	for range workloadCommands * scale(y) {
		c := &rota.Enqueue{Meta: rota.NewMeta("")}
		for range 1 + r.IntN(3) {
			n := rota.NewJob{Type: "mail", Priority: new(r.IntN(3)), MaxRetries: ptr(r.IntN(3)), Backoff: ptr(time.Duration(0))}
			if r.IntN(4) == 0 {
				n.UniqueKey = fmt.Sprint("k", r.IntN(10))
			}
			c.Jobs = append(c.Jobs, n)
		}
		for range 1 + r.IntN(2) { // some are sent twice
			got, ok := apply[*rota.Enqueued](y, time.Time{}, c)
			if !ok {
				l.fault("an enqueue was refused")
				continue
			}
			l.recordCreated(c, got)
		}
	}
}

func (l *ledger) recordCreated(c *rota.Enqueue, got *rota.Enqueued) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, one := range got.Jobs {
		if !one.Duplicate && one.Job.ID == c.JobID(i) {
			l.created[one.Job.ID] = true
		}
	}
}

// claimer claims until the queue is empty and no more jobs are enqueued. It waits for a wake-up
// while the queue is empty.
func (l *ledger) claimer(y *story, r *rand.Rand, closed <-chan struct{}) {
	wake, stop := y.s.Wake()
	defer stop()
	for {
		noMore := false
		select {
		case <-closed:
			noMore = true
		default:
		}
		got, ok := apply[*rota.Claimed](y, time.Time{}, newClaim(1+r.IntN(5), "mail"))
		if !ok {
			l.fault("a claim was refused")
			return
		}
		l.recordClaims(got.Jobs)
		for _, j := range got.Jobs {
			l.work(y, r, j)
		}
		if len(got.Jobs) > 0 {
			continue
		}
		if noMore {
			return
		}
		select {
		case <-wake:
		case <-closed:
		}
	}
}

func (l *ledger) recordClaims(jobs []*rota.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, j := range jobs {
		if run, taken := l.claims[j.ID]; taken {
			l.faults = append(l.faults, fmt.Sprintf("%s was claimed twice, by runs %s and %s", j.ID, run, j.Run.ID))
		}
		l.claims[j.ID] = j.Run.ID
		l.leases = append(l.leases, leaseOf(j))
		if i > 0 && !jobs[i-1].Before(j) {
			l.faults = append(l.faults, fmt.Sprintf("a claim answered %s before %s", jobs[i-1].ID, j.ID))
		}
	}
}

// work ends a job in one of several ways, or abandons it.
func (l *ledger) work(y *story, r *rand.Rand, j *rota.Job) {
	if r.IntN(3) == 0 {
		apply[*rota.Extended](y, time.Time{}, &rota.Extend{
			Meta: rota.NewMeta(""), Lease: lease, Items: []rota.ExtendItem{{LeaseRef: leaseOf(j)}},
		})
	}
	outcome := rota.OutcomeCompleted
	switch r.IntN(10) {
	case 0:
		return // a crash; a reap will fail the run
	case 1, 2, 3:
		outcome = rota.OutcomeFailed
	}
	c := newFinish(j, outcome)
	var first rota.FinishAnswer
	for again := range 1 + r.IntN(2) {
		got, ok := apply[*rota.Finished](y, time.Time{}, c)
		if !ok {
			l.fault("a finish was refused")
			return
		}
		if again == 0 {
			first = got.Items[0]
		} else if got.Items[0].Outcome != first.Outcome || got.Items[0].Code != first.Code {
			l.fault("a finish of %s was answered %v, then %v", j.ID, first, got.Items[0])
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished[j.ID] = first
}

// randomLease returns a lease of any earlier claim.
func (l *ledger) randomLease(r *rand.Rand) (rota.LeaseRef, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.leases) == 0 {
		return rota.LeaseRef{}, false
	}
	return l.leases[r.IntN(len(l.leases))], true
}

func (l *ledger) canceller(y *story, r *rand.Rand) {
	for range workloadCommands * scale(y) {
		ref, ok := l.randomLease(r)
		if !ok {
			ref.JobID = rota.NewID()
		}
		apply[*rota.CancelledJob](y, time.Time{}, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: ref.JobID})
		if queue, err := y.s.Queue(y.ctx, rota.ID{}, 5); err == nil && len(queue) == 5 {
			apply[*rota.CancelledJob](y, time.Time{}, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: queue[4].ID})
		}
	}
}

// wrongTokenFinisher finishes runs with wrong tokens.
func (l *ledger) wrongTokenFinisher(y *story, r *rand.Rand) {
	for range workloadCommands * scale(y) {
		ref, ok := l.randomLease(r)
		if !ok {
			continue
		}
		ref.Token[r.IntN(len(ref.Token))] ^= 1
		it := rota.FinishItem{LeaseRef: ref, Outcome: rota.OutcomeSkipped}
		got, ok := apply[*rota.Finished](y, time.Time{}, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{it}})
		if ok && got.Items[0].Code != rota.LeaseLost {
			l.fault("a wrong token finished %s", ref.JobID)
		}
	}
}

func (l *ledger) reaper(y *story) {
	for range workloadReaps * scale(y) {
		l.reap(y, 3)
	}
}

// reap fails all open runs, and reports whether there were any.
func (l *ledger) reap(y *story, limit int) bool {
	got, ok := apply[*rota.Reaped](y, time.Now().Add(reaperClockOffset), &rota.Reap{Meta: rota.NewMeta(""), Limit: limit})
	if !ok {
		l.fault("a reap was refused")
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range got.Jobs {
		if l.expired[s.JobID] {
			l.faults = append(l.faults, fmt.Sprintf("%s was reaped twice", s.JobID))
		}
		l.expired[s.JobID] = true
	}
	return len(got.Jobs) > 0
}
