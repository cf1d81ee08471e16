package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// The mixed workload has workers under limits, sequential groups whose members must not
// overlap, and a schedule that several callers fire concurrently.
const (
	mixedWorkers     = 6
	mixedFirers      = 3
	mixedFireTimes   = 30 // fire times of the schedule
	mixedGroups      = 6  // each with mixedMembers members
	mixedMembers     = 5
	mixedEnqueues    = 25 // enqueues of three jobs of different types and keys
	mixedKeyLimit    = 2
	mixedTypeLimit   = 3
	mixedGlobalLimit = 4
)

// limitChecker counts what the workers run at this moment. A worker counts a job from the
// answer to its claim until it sends the finish, so every counted job runs.
type limitChecker struct {
	mu     sync.Mutex
	all    int
	types  map[string]int
	keys   map[string]int
	groups map[rota.ID]int // position of the running member
	done   map[rota.ID]int // members of a group that have ended
	runs   int
	faults []string
}

func mixedWorkload(y *story) {
	y.now = time.Now().Add(-time.Hour)
	y.throttle(rota.ThrottleSpec{
		Global: mixedGlobalLimit, Types: []rota.TypeLimit{{Type: "slow", Concurrency: mixedTypeLimit}},
		Keys: []rota.KeyLimit{{Key: "db", Concurrency: mixedKeyLimit}},
	})
	y.declareTemplate("report", rota.TemplateSpec{ConcurrencyKey: "db"})
	y.declare("tick", rota.ScheduleSpec{Every: time.Second, Scopes: tenants})
	lc := &limitChecker{types: map[string]int{}, keys: map[string]int{}, groups: map[rota.ID]int{}, done: map[rota.ID]int{}}
	closed := make(chan struct{})
	var producers, workers sync.WaitGroup
	for i := range mixedFirers {
		producers.Go(func() { lc.firer(y, mixedFireTimes*scale(y), newRand(i)) })
	}
	producers.Go(func() { lc.enqueuer(y, newRand(10)) })
	producers.Go(func() { lc.groupEnqueuer(y) })
	producers.Go(func() { lc.priorityEditor(y, newRand(20)) })
	for i := range mixedWorkers {
		workers.Go(func() { lc.worker(y, newRand(30+i), closed) })
	}
	producers.Wait()
	close(closed)
	workers.Wait()
	lc.audit(y)
}

func (lc *limitChecker) fault(format string, args ...any) {
	lc.mu.Lock()
	defer lc.mu.Unlock()
	lc.faults = append(lc.faults, fmt.Sprintf(format, args...))
}

// firer fires each time when it is due, by a clock that is always at the next fire.
func (lc *limitChecker) firer(y *story, times int, r *rand.Rand) {
	for {
		s, err := y.s.Schedule(y.ctx, "tick")
		if err != nil {
			lc.fault("the schedule: %v", err)
			return
		}
		now := s.NextFire
		if now.After(s.Anchor.Add(time.Duration(times) * time.Second)) {
			return
		}
		c, err := rota.PlanFire(rota.NewMeta(""), s, now, time.Time{})
		if err != nil || c == nil {
			lc.fault("planned %v, %v", c, err)
			return
		}
		for range 1 + r.IntN(2) { // some are sent twice
			if _, ok := apply[*rota.Fired](y, now, c); !ok {
				lc.fault("a fire was refused")
			}
		}
	}
}

func (lc *limitChecker) enqueuer(y *story, r *rand.Rand) {
	for range mixedEnqueues * scale(y) {
		c := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{
			{Type: "mail", Priority: new(r.IntN(3))},
			{Type: "slow", Backoff: new(time.Duration(0))},
			{Type: "slow", ConcurrencyKey: new("db"), Priority: new(r.IntN(3)), Backoff: new(time.Duration(0))},
		}}
		if _, ok := apply[*rota.Enqueued](y, time.Time{}, c); !ok {
			lc.fault("an enqueue was refused")
		}
	}
}

func (lc *limitChecker) groupEnqueuer(y *story) {
	for range mixedGroups * scale(y) {
		c := &rota.EnqueueGroup{Meta: rota.NewMeta(""), Mode: rota.GroupSequential}
		for range mixedMembers {
			c.Jobs = append(c.Jobs, rota.NewJob{Type: "mail", Backoff: new(time.Duration(0)), MaxRetries: new(1)})
		}
		if _, ok := apply[*rota.GroupEnqueued](y, time.Time{}, c); !ok {
			lc.fault("a group was refused")
		}
	}
}

// priorityEditor changes priorities, so that jobs of a key overtake each other.
func (lc *limitChecker) priorityEditor(y *story, r *rand.Rand) {
	for range mixedEnqueues * scale(y) {
		jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{Status: rota.StatusQueued, Limit: 20})
		if err != nil {
			lc.fault("jobs: %v", err)
			return
		}
		if len(jobs) > 0 {
			j := jobs[r.IntN(len(jobs))]
			apply[*rota.Edited](y, time.Time{}, &rota.Edit{Meta: rota.NewMeta("ada"), JobID: j.ID, Priority: new(r.IntN(5))})
		}
	}
}

// worker claims until nothing is claimable and no more jobs are created.
func (lc *limitChecker) worker(y *story, r *rand.Rand, closed <-chan struct{}) {
	wake, stop := y.s.Wake()
	defer stop()
	for {
		noMore := false
		select {
		case <-closed:
			noMore = true
		default:
		}
		got, ok := apply[*rota.Claimed](y, time.Time{}, newClaim(1+r.IntN(3), "mail", "slow"))
		if !ok {
			lc.fault("a claim was refused")
			return
		}
		for _, j := range got.Jobs {
			lc.begin(j)
		}
		for _, j := range got.Jobs {
			lc.end(y, r, j)
		}
		switch {
		case len(got.Jobs) > 0 || got.More:
		case noMore:
			return
		default:
			select {
			case <-wake:
			case <-closed:
			}
		}
	}
}

func (lc *limitChecker) begin(j *rota.Job) {
	lc.mu.Lock()
	defer lc.mu.Unlock()
	lc.runs++
	lc.all++
	lc.types[j.Type]++
	lc.keys[j.ConcurrencyKey]++
	if lc.all > mixedGlobalLimit || lc.types["slow"] > mixedTypeLimit || lc.keys["db"] > mixedKeyLimit {
		lc.faults = append(lc.faults, fmt.Sprintf("%d run at once, %d of them slow, %d on db", lc.all, lc.types["slow"], lc.keys["db"]))
	}
	if j.GroupID.IsZero() {
		return
	}
	if other := lc.groups[j.GroupID]; other != 0 || lc.done[j.GroupID] != j.GroupPosition-1 {
		lc.faults = append(lc.faults, fmt.Sprintf("member %d began while %d ran and %d had ended", j.GroupPosition, other, lc.done[j.GroupID]))
	}
	lc.groups[j.GroupID] = j.GroupPosition
}

// end completes or fails a job. It changes the counts before it sends the finish, because the
// next member may begin before the finish is answered.
func (lc *limitChecker) end(y *story, r *rand.Rand, j *rota.Job) {
	outcome := rota.OutcomeCompleted
	if r.IntN(4) == 0 {
		outcome = rota.OutcomeFailed
	}
	lc.mu.Lock()
	lc.all--
	lc.types[j.Type]--
	lc.keys[j.ConcurrencyKey]--
	if !j.GroupID.IsZero() {
		lc.groups[j.GroupID] = 0
		if outcome == rota.OutcomeCompleted || j.Attempt == j.Policy.MaxAttempts {
			lc.done[j.GroupID] = j.GroupPosition
		}
	}
	lc.mu.Unlock()
	got, ok := apply[*rota.Finished](y, time.Time{}, newFinish(j, outcome))
	if !ok || got.Items[0].Code != "" {
		lc.fault("a finish was refused")
	}
}

// audit wants every job to have ended, each time to have been fired once, and every group to
// have run all members.
func (lc *limitChecker) audit(y *story) {
	lc.settleRetries(y)
	for _, fault := range lc.faults {
		y.Error(fault)
	}
	plans := map[string]int{}
	for _, j := range y.allJobs() {
		if !j.Ended() {
			y.Errorf("%s of type %s, key %q, is left %s", j.ID, j.Type, j.ConcurrencyKey, j.State())
		}
		if j.Schedule != "" && j.Attempt == 1 {
			plans[j.ScopeID+" "+timeText(j.PlanTime)]++
		}
	}
	want(y, "times fired", len(plans), mixedFireTimes*scale(y)*len(tenants))
	for plan, times := range plans {
		if times != 1 {
			y.Errorf("%s was fired %d times", plan, times)
		}
	}
	for id, done := range lc.done {
		want(y, "members that ended", done, mixedMembers)
		want(y, "live members", y.group(id).Tally.Queued+y.group(id).Tally.Running, 0)
	}
	want(y, "groups", len(lc.done), mixedGroups*scale(y))
	y.wantNoViolations()
	y.Logf("%d runs", lc.runs)
}

// settleRetries runs the retries of the schedule's jobs that still wait for their backoff.
func (lc *limitChecker) settleRetries(y *story) {
	done := make(chan struct{})
	close(done)
	for {
		got, _ := apply[*rota.Readied](y, time.Now().Add(24*time.Hour), &rota.Ready{Meta: rota.NewMeta("")})
		if got == nil || got.Count == 0 {
			return
		}
		lc.worker(y, newRand(1), done)
	}
}
