package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
)

// crowdRace is many commands that are all decided before any of them is
// written.
type crowdRace struct {
	name  string
	set   func(y *story) []rota.Command
	holds func(y *story, results []rota.Result)
}

// claimers are how many claim at once.
const claimers = 100

func crowdRaces() []crowdRace {
	return append(reaperRaces(), []crowdRace{
		{"a hundred claimers and a job that overtakes, at the limit of a key", claimersOfKey, limitKept(3)},
		{"a hundred claimers at the limit of a type", claimersOfType, limitKept(7)},
		{"a hundred claimers at a rate", claimersAtRate, limitKept(5)},
		{"a hundred fires of one time", manyFires, firedByOne},
	}...)
}

func (c crowdRace) run(t testing.TB, h Harness) {
	t.Helper()
	rounds := depth.Of(1, 2, 5)
	if h.Pause == nil {
		rounds = freeRounds / 2
	}
	if h.slice {
		rounds = 1
	}
	for range rounds {
		y := newStory(t, h)
		commands := c.set(y)
		if h.Pause != nil {
			h.Pause(t, y.s, newTurnstile(len(commands)).at)
		}
		results := make([]rota.Result, len(commands))
		together(len(commands), func(i int) { results[i] = y.race(commands[i]) })
		c.holds(y, results)
		y.sound()
	}
}

// turnstile holds everybody until all are there, or somebody has waited long
// enough.
type turnstile struct {
	mu      sync.Mutex
	missing int
	opened  chan struct{}
}

func newTurnstile(count int) *turnstile {
	return &turnstile{missing: count, opened: make(chan struct{})}
}

func (s *turnstile) at(held []rota.Command) {
	s.mu.Lock()
	s.missing -= len(held)
	if s.missing <= 0 {
		s.openOnce()
	}
	s.mu.Unlock()
	select {
	case <-s.opened:
	case <-time.After(5 * gateWait):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.openOnce()
	}
}

func (s *turnstile) openOnce() {
	select {
	case <-s.opened:
	default:
		close(s.opened)
	}
}

func (y *story) manyClaims() (claims []rota.Command) {
	for range claimers {
		claims = append(claims, y.claimCommand(1))
	}
	return claims
}

func claimersOfKey(y *story) []rota.Command {
	jobs := y.keyedRow(3, 10)
	return append(y.manyClaims(), y.editCommand(jobs[7].ID, toPriority(1)))
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

// limitKept wants exactly as many jobs to run as may, each given to one claimer.
func limitKept(limit int) func(*story, []rota.Result) {
	return func(y *story, results []rota.Result) {
		y.Helper()
		given := map[rota.ID]rota.ID{}
		for _, r := range results {
			claimed, ok := r.Reply.(*rota.Claimed)
			if r.Err != nil || !ok {
				continue
			}
			for _, j := range claimed.Jobs {
				if _, twice := given[j.ID]; twice {
					y.Errorf("%s was claimed twice", j.ID)
				}
				given[j.ID] = j.Run.ID
			}
		}
		want(y, "claimed", len(given), limit)
		for id, run := range given {
			want(y, "the run of its claimer", y.look(id).Run.ID, run)
		}
		want(y, "claimed beyond", len(y.claim(5)), 0)
	}
}

func manyFires(y *story) (fires []rota.Command) {
	y.wait(y.declare("nightly", rota.ScheduleSpec{Scopes: tenants}).NextFire)
	for range claimers {
		fires = append(fires, y.fireCommand("nightly"))
	}
	return fires
}

func firedByOne(y *story, results []rota.Result) {
	y.Helper()
	fired := 0
	for _, r := range results {
		if got, ok := r.Reply.(*rota.Fired); ok && !got.Moved {
			fired++
		}
	}
	want(y, "fired by", fired, 1)
	want(y, "jobs", len(y.allJobs()), len(tenants))
}
