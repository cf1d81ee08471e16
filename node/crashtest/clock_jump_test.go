//go:build unix

package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
)

// TestClockJumpsFireEachPlannedTimeOnce sets the clock of a running server half a day ahead, then half a day
// back, then right. After each jump schedules continue at once and catch up according to
// their policy. Running jobs are not affected.
func TestClockJumpsFireEachPlannedTimeOnce(t *testing.T) {
	t.Parallel()
	s := newServerDir(t)
	proc, c, answers := s.startUntilReady(envClock+"="+s.path("clock")), newCaller(s), newAnswerLog()
	began := time.Now()
	c.mustWrite("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	starts := began.Add(-24 * time.Hour).UTC().Format(time.RFC3339) // no planned time is earlier
	for name, every := range map[string]string{"none": "1s", "last": "1s", "all": "10m"} {
		c.mustWrite("POST", "/schedules", object{
			"name": "tick-" + name, "template": "tick", "every": every, "catch_up": name, "starts_at": starts,
		}, nil)
	}
	mark := answers.newMark()
	long := c.enqueue(object{"behave": "sleep", "for": "4s", "mark": mark}, nil)
	answers.acknowledge(mark, long)

	offsets := []time.Duration{0, 12 * time.Hour, -12 * time.Hour, 0}
	for _, offset := range offsets {
		set := s.path("clock.new")
		must(t, os.WriteFile(set, []byte(offset.String()+"\n"), 0o600))
		must(t, os.Rename(set, s.path("clock")))
		by := time.Now().Add(offset)
		c.waitForTicks("tick-none", by, 1)
		c.waitForTicks("tick-last", by, 2) // the first may be for a missed time
	}
	s.waitUntil("the long job is done", func() bool { return s.startsInLedger() > 0 && c.state(long) == "completed" })
	took := time.Since(began)
	for _, name := range []string{"tick-none", "tick-last", "tick-all"} {
		c.mustWrite("POST", "/schedules/"+name+"/pause", nil, nil)
	}
	c.waitUntilIdle()
	proc.stop()

	a := s.audit(answers)
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	firesOf := map[string]int{}
	for p, n := range a.countPlannedFires() {
		if firesOf[p.schedule] += n; n != 1 {
			t.Errorf("%d executions are planned for %s at %s", n, p.schedule, time.UnixMicro(p.at).UTC())
		}
	}
	seconds := int(took/time.Second) + 2
	if n := firesOf["tick-none"]; n > seconds {
		t.Errorf("within %s, tick-none fired %d times", took, n)
	}
	if n := firesOf["tick-last"]; n > seconds+len(offsets) {
		t.Errorf("within %s and %d jumps, tick-last fired %d times", took, len(offsets), n)
	}
	// Half a day ahead and half a day back: each planned time of both fires once.
	if n := firesOf["tick-all"]; n < 2*72-2 || n > 2*72+2 {
		t.Errorf("tick-all fired %d times for one day", n)
	}
	if chain := a.chains[long.ID.ID]; len(chain) != 1 {
		t.Errorf("a job has %d attempts; a clock jump must not fail it", len(chain))
	}
	t.Logf("within %s: %v", took.Round(time.Second), firesOf)
}

// waitForTicks waits until a schedule has fired the given number of times after the
// clock was set. The server reads the clock offset once a second.
func (c *caller) waitForTicks(name string, set time.Time, often int) {
	c.serverDir.Helper()
	c.serverDir.waitUntil(fmt.Sprintf("schedule %s continues at %s", name, set), func() bool {
		var list api.List[api.Job]
		c.mustRead("/jobs?schedule="+name+"&limit=5", &list)
		fires := 0
		for _, job := range list.Items {
			if ahead := job.PlanTime.Sub(set); ahead > 0 && ahead < waitMax {
				fires++
			}
		}
		return fires >= often
	})
}

// state returns the state of a job.
func (c *caller) state(job api.Job) string {
	c.serverDir.Helper()
	var now api.Job
	c.mustRead("/jobs/"+job.ID.String(), &now)
	return now.State
}
