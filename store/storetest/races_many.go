package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
)

// manyRace is many commands that are all decided before any of them is
// written.
type manyRace struct {
	name  string
	setup func(y *story) []rota.Command
	check func(y *story, results []rota.Result)
}

// raceClaimers is how many claims, or fires, run concurrently.
const raceClaimers = 100

func manyRaces() []manyRace {
	return append(reaperRaces(), []manyRace{
		{"a hundred claims and an edit of priority at a key limit: the limit holds", claimersOfKey, limitKept(3)},
		{"a hundred claims and an edit of priority at a limit of each key of a type: the limit holds", claimersOfKeyAndType, limitKept(3)},
		{"a hundred claims at a limit of each key of a prefix: the limit holds", claimersOfEachKey, limitKept(6)},
		{"a hundred claims at a type limit: the limit holds", claimersOfType, limitKept(7)},
		{"a hundred claims at a rate: the rate holds", claimersAtRate, limitKept(5)},
		{"a hundred fires of one time: one creates the jobs", manyFires, firedByOne},
	}...)
}

func (c manyRace) run(t testing.TB, h Harness) {
	t.Helper()
	rounds := depth.Of(1, 2, 5)
	if h.Pause == nil {
		rounds = ungatedRounds / 2
	}
	if h.slice {
		rounds = 1
	}
	for range rounds {
		y := newStory(t, h)
		commands := c.setup(y)
		if h.Pause != nil {
			h.Pause(t, y.s, newBarrier(len(commands)).wait)
		}
		results := make([]rota.Result, len(commands))
		concurrently(len(commands), func(i int) { results[i] = y.applyOne(commands[i]) })
		c.check(y, results)
		y.wantNoViolations()
	}
}

// barrier blocks callers until all have arrived, or one has waited long enough.
type barrier struct {
	mu      sync.Mutex
	missing int
	opened  chan struct{}
}

func newBarrier(count int) *barrier {
	return &barrier{missing: count, opened: make(chan struct{})}
}

func (b *barrier) wait(held []rota.Command) {
	b.mu.Lock()
	b.missing -= len(held)
	if b.missing <= 0 {
		b.openOnce()
	}
	b.mu.Unlock()
	select {
	case <-b.opened:
	case <-time.After(5 * gateWait):
		b.mu.Lock()
		defer b.mu.Unlock()
		b.openOnce()
	}
}

func (b *barrier) openOnce() {
	select {
	case <-b.opened:
	default:
		close(b.opened)
	}
}

func (y *story) manyClaims() (claims []rota.Command) {
	for range raceClaimers {
		claims = append(claims, y.claimCommand(1))
	}
	return claims
}

func claimersOfKey(y *story) []rota.Command {
	jobs := y.enqueueLimited(3, 10)
	return append(y.manyClaims(), y.editCommand(jobs[7].ID, toPriority(1)))
}

func claimersOfKeyAndType(y *story) []rota.Command {
	y.throttle(eachKeyOfType("mail", 3))
	y.ofKey("other", "db", 5)
	jobs := y.ofKey("mail", "db", 10)
	return append(y.manyClaims(), y.editCommand(jobs[7].ID, toPriority(1)))
}

// claimersOfEachKey adds the limit after the jobs, so that all of them are ready.
func claimersOfEachKey(y *story) []rota.Command {
	y.ofKey("mail", "t:1", 10)
	y.ofKey("mail", "t:2", 10)
	y.throttle(eachKey("t:*", 3))
	return y.manyClaims()
}

func claimersOfType(y *story) []rota.Command {
	y.throttle(typeLimit(7, rota.Rate{}))
	y.enqueueMany(20)
	return y.manyClaims()
}

func claimersAtRate(y *story) []rota.Command {
	y.throttle(typeLimit(0, rota.Rate{Count: 5, Per: time.Hour}))
	y.enqueueMany(20)
	return y.manyClaims()
}

// limitKept wants exactly limit jobs to run, each claimed once.
func limitKept(limit int) func(*story, []rota.Result) {
	return func(y *story, results []rota.Result) {
		y.Helper()
		runs := map[rota.ID]rota.ID{}
		for _, r := range results {
			claimed, ok := r.Reply.(*rota.Claimed)
			if r.Err != nil || !ok {
				continue
			}
			for _, j := range claimed.Jobs {
				if _, twice := runs[j.ID]; twice {
					y.Errorf("%s was claimed twice", j.ID)
				}
				runs[j.ID] = j.Run.ID
			}
		}
		want(y, "claimed", len(runs), limit)
		for id, run := range runs {
			want(y, "the run of its claimer", y.job(id).Run.ID, run)
		}
		want(y, "claimed beyond", len(y.claim(5)), 0)
	}
}

func manyFires(y *story) (fires []rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{Scopes: tenants}).NextFire)
	for range raceClaimers {
		fires = append(fires, y.fireCommand("nightly"))
	}
	return fires
}

func firedByOne(y *story, results []rota.Result) {
	y.Helper()
	fired := 0
	for _, r := range results {
		if got, ok := r.Reply.(*rota.Fired); ok && !got.ScheduleChanged {
			fired++
		}
	}
	want(y, "fired by", fired, 1)
	want(y, "jobs", len(y.allJobs()), len(tenants))
}
