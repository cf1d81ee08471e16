package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// The crowd in company: workers that share limits, sequential groups whose
// members must not meet, and a schedule that several fire at once.
const (
	companyWorkers = 6
	companyFirers  = 3
	companyTimes   = 30 // of the schedule
	companyGroups  = 6  // of companyMembers each
	companyMembers = 5
	companyEach    = 25 // plain jobs of each type and key
	companyKeyMost = 2
	companyOfType  = 3
	companyAtOnce  = 4
)

// floor is what the workers hold at this moment. A worker counts from when it
// was told of its job until it begins to tell how that ended, so what is counted
// does run.
type floor struct {
	mu     sync.Mutex
	all    int
	types  map[string]int
	keys   map[string]int
	groups map[rota.ID]int // the position of the member that runs
	done   map[rota.ID]int // members of a group that have ended
	runs   int
	faults []string
}

func companyCrowd(y *story) {
	y.now = time.Now().Add(-time.Hour)
	y.throttle(rota.ThrottleSpec{
		Global: companyAtOnce, Types: []rota.TypeLimit{{Type: "slow", Concurrency: companyOfType}},
		Keys: []rota.KeyLimit{{Key: "db", Concurrency: companyKeyMost}},
	})
	y.declareTemplate("report", rota.TemplateSpec{ConcurrencyKey: "db"})
	y.declare("tick", rota.ScheduleSpec{Every: time.Second, Scopes: tenants})
	f := &floor{types: map[string]int{}, keys: map[string]int{}, groups: map[rota.ID]int{}, done: map[rota.ID]int{}}
	filled := make(chan struct{})
	var fillers, workers sync.WaitGroup
	for i := range companyFirers {
		fillers.Go(func() { f.firer(y, companyTimes*scale(y), chance(i)) })
	}
	fillers.Go(func() { f.filler(y, chance(10)) })
	fillers.Go(func() { f.grouper(y) })
	fillers.Go(func() { f.shuffler(y, chance(20)) })
	for i := range companyWorkers {
		workers.Go(func() { f.worker(y, chance(30+i), filled) })
	}
	fillers.Wait()
	close(filled)
	workers.Wait()
	f.audit(y)
}

func (f *floor) fault(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// firer fires each time as it comes, by a clock that is always just there.
func (f *floor) firer(y *story, times int, r *rand.Rand) {
	for {
		s, err := y.s.Schedule(y.ctx, "tick")
		if err != nil {
			f.fault("the schedule: %v", err)
			return
		}
		now := s.NextFire
		if now.After(s.Anchor.Add(time.Duration(times) * time.Second)) {
			return
		}
		c, err := rota.PlanFire(rota.NewMeta(""), s, now)
		if err != nil || c == nil {
			f.fault("planned %v, %v", c, err)
			return
		}
		for range 1 + r.IntN(2) { // some are sent twice
			if _, ok := apply[*rota.Fired](y, now, c); !ok {
				f.fault("a fire was refused")
			}
		}
	}
}

func (f *floor) filler(y *story, r *rand.Rand) {
	for range companyEach * scale(y) {
		c := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{
			{Type: "mail", Priority: new(r.IntN(3))},
			{Type: "slow", Backoff: new(time.Duration(0))},
			{Type: "slow", ConcurrencyKey: new("db"), Priority: new(r.IntN(3)), Backoff: new(time.Duration(0))},
		}}
		if _, ok := apply[*rota.Enqueued](y, time.Time{}, c); !ok {
			f.fault("an enqueue was refused")
		}
	}
}

func (f *floor) grouper(y *story) {
	for range companyGroups * scale(y) {
		c := &rota.EnqueueGroup{Meta: rota.NewMeta(""), Mode: rota.GroupSequential}
		for range companyMembers {
			c.Jobs = append(c.Jobs, rota.NewJob{Type: "mail", Backoff: new(time.Duration(0)), MaxRetries: new(1)})
		}
		if _, ok := apply[*rota.GroupEnqueued](y, time.Time{}, c); !ok {
			f.fault("a group was refused")
		}
	}
}

// shuffler changes priorities, so that jobs of a key overtake each other.
func (f *floor) shuffler(y *story, r *rand.Rand) {
	for range companyEach * scale(y) {
		jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{Status: rota.StatusQueued, Limit: 20})
		if err != nil {
			f.fault("jobs: %v", err)
			return
		}
		if len(jobs) > 0 {
			j := jobs[r.IntN(len(jobs))]
			apply[*rota.Edited](y, time.Time{}, &rota.Edit{Meta: rota.NewMeta("ada"), JobID: j.ID, Priority: new(r.IntN(5))})
		}
	}
}

// worker works until there is nothing to claim and nobody makes more.
func (f *floor) worker(y *story, r *rand.Rand, filled <-chan struct{}) {
	wake, stop := y.s.Wake()
	defer stop()
	for {
		full := false
		select {
		case <-filled:
			full = true
		default:
		}
		got, ok := apply[*rota.Claimed](y, time.Time{}, newClaim(1+r.IntN(3), "mail", "slow"))
		if !ok {
			f.fault("a claim was refused")
			return
		}
		for _, j := range got.Jobs {
			f.begin(j)
		}
		for _, j := range got.Jobs {
			f.end(y, r, j)
		}
		switch {
		case len(got.Jobs) > 0 || got.More:
		case full:
			return
		default:
			select {
			case <-wake:
			case <-filled:
			}
		}
	}
}

func (f *floor) begin(j *rota.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs++
	f.all++
	f.types[j.Type]++
	f.keys[j.ConcurrencyKey]++
	if f.all > companyAtOnce || f.types["slow"] > companyOfType || f.keys["db"] > companyKeyMost {
		f.faults = append(f.faults, fmt.Sprintf("%d run at once, %d of them slow, %d on db", f.all, f.types["slow"], f.keys["db"]))
	}
	if j.GroupID.IsZero() {
		return
	}
	if other := f.groups[j.GroupID]; other != 0 || f.done[j.GroupID] != j.GroupPosition-1 {
		f.faults = append(f.faults, fmt.Sprintf("member %d began while %d ran and %d had ended", j.GroupPosition, other, f.done[j.GroupID]))
	}
	f.groups[j.GroupID] = j.GroupPosition
}

// end completes a job or fails it. A member has ended for sure only once that
// was answered, and its successor may begin before: so the books are changed
// first.
func (f *floor) end(y *story, r *rand.Rand, j *rota.Job) {
	outcome := rota.OutcomeCompleted
	if r.IntN(4) == 0 {
		outcome = rota.OutcomeFailed
	}
	f.mu.Lock()
	f.all--
	f.types[j.Type]--
	f.keys[j.ConcurrencyKey]--
	if !j.GroupID.IsZero() {
		f.groups[j.GroupID] = 0
		if outcome == rota.OutcomeCompleted || j.Attempt == j.Policy.MaxAttempts {
			f.done[j.GroupID] = j.GroupPosition
		}
	}
	f.mu.Unlock()
	got, ok := apply[*rota.Finished](y, time.Time{}, newFinish(j, outcome))
	if !ok || got.Items[0].Code != "" {
		f.fault("a finish was refused")
	}
}

// audit wants everything to have ended, each time to have been fired once, and
// every group to have run through.
func (f *floor) audit(y *story) {
	f.settleRetries(y)
	for _, fault := range f.faults {
		y.Error(fault)
	}
	plans := map[string]int{}
	for _, j := range y.allJobs() {
		if !j.Ended() {
			y.Errorf("%s of type %s, key %q, is left %s", j.ID, j.Type, j.ConcurrencyKey, j.State())
		}
		if j.Schedule != "" && j.Attempt == 1 {
			plans[j.ScopeID+" "+clock(j.PlanTime)]++
		}
	}
	want(y, "times fired", len(plans), companyTimes*scale(y)*len(tenants))
	for plan, times := range plans {
		if times != 1 {
			y.Errorf("%s was fired %d times", plan, times)
		}
	}
	for id, done := range f.done {
		want(y, "members that ended", done, companyMembers)
		want(y, "members that live", y.group(id).Tally.Queued+y.group(id).Tally.Running, 0)
	}
	want(y, "groups", len(f.done), companyGroups*scale(y))
	y.sound()
	y.Logf("%d runs", f.runs)
}

// settleRetries runs what the schedule's jobs, which wait before they are tried
// again, have left.
func (f *floor) settleRetries(y *story) {
	done := make(chan struct{})
	close(done)
	for {
		got, _ := apply[*rota.Readied](y, time.Now().Add(24*time.Hour), &rota.Ready{Meta: rota.NewMeta("")})
		if got == nil || got.Count == 0 {
			return
		}
		f.worker(y, chance(1), done)
	}
}
