//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envCrashTime is the duration of TestCrash; by default it makes a few kills.
const envCrashTime = "ROTA_CRASH_TIME"

// crash is a server that is killed repeatedly under load, and what its clients know
// of it.
type crash struct {
	*serverDir
	caller  *caller
	answers *answerLog
	load    *load

	starts  int
	kills   int
	points  []point        // that are to be tried, the next one first
	tried   map[string]int // how often, by point
	reached map[string]int
}

// TestCrash kills a server under load at random moments and at chosen ones,
// while it works, starts, recovers and stops. In the end it compares the store with
// the answers of the server and the ledger of its handlers.
func TestCrash(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	c.declare()
	c.load = begin(c.caller, c.answers, actions, 3)
	endings := []func(){
		c.atPoint, c.atRandom, c.atPoint, c.whileStarting, c.atPoint, c.whileStopping,
		c.atPoint, c.atRandom, c.away, c.atPoint, c.cleanly, c.atPoint, c.hastily,
	}
	until := crashTime(t)
	for i := 0; i < len(endings) || time.Now().Before(until); i++ {
		endings[i%len(endings)]()
		if t.Failed() {
			break
		}
		if i%60 == 59 {
			c.verify()
			t.Logf("%d starts, %d kills, %d of %d points reached so far", c.starts, c.kills, len(c.reached), len(points()))
		}
	}
	stopped := c.settle()
	c.audit(stopped)
	c.sum(!until.IsZero())
}

// crashTime is when a long test ends; zero: a short test.
func crashTime(t *testing.T) time.Time {
	text := os.Getenv(envCrashTime)
	if text == "" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return time.Now().Add(d)
}

func newCrash(t *testing.T) *crash {
	s := newServerDir(t)
	c := &crash{serverDir: s, caller: newCaller(s), answers: newAnswerLog(), tried: map[string]int{}, reached: map[string]int{}}
	return c
}

// declare declares the schedules of the test.
func (c *crash) declare() {
	c.Helper()
	l := c.serverDir.run()
	defer l.kill()
	c.caller.declareTicks()
}

// tickSchedules are all owed in full: no downtime of a test is as long as the
// grace for misfires.
func tickSchedules() []object {
	return []object{
		{"name": "tick-allow", "every": "1s", "overlap": "allow"},
		{"name": "tick-skip", "every": "1s", "overlap": "skip", "param_overrides": object{"behave": "sleep", "for": "600ms"}},
		{"name": "tick-cancel", "every": "2s", "overlap": "cancel", "param_overrides": object{"behave": "sleep", "for": "1500ms"}},
		{"name": "tick-scoped", "every": "2s", "scopes": []object{{"kind": "user", "ids": []string{"a", "b", "c"}}}},
		{"name": "tick-after", "every": "2s", "depends_on": []string{"tick-skip"}},
	}
}

func (c *caller) declareTicks() {
	c.serverDir.Helper()
	c.must("POST", "/templates", object{"name": "tick", "type": "ledger", "default_params": object{"behave": "succeed"}}, nil)
	for _, s := range tickSchedules() {
		s["template"], s["catch_up"] = "tick", "all"
		c.must("POST", "/schedules", s, nil)
	}
}

// pauseTicks pauses those schedules and returns the time of the pause.
func (c *caller) pauseTicks() (stopped time.Time) {
	c.serverDir.Helper()
	for _, s := range tickSchedules() {
		stopped = c.pause(fmt.Sprint(s["name"]))
	}
	return stopped
}

func (c *caller) pause(schedule string) time.Time {
	c.serverDir.Helper()
	stopped := time.Now()
	c.must("POST", "/schedules/"+schedule+"/pause", nil, nil)
	return stopped
}

// begin starts the server.
func (c *crash) begin(settings ...string) *incarnation {
	c.starts++
	return c.serverDir.start(append(settings, envStaleWorker+"=400ms:ledger:late")...)
}

// died counts a kill and checks that the process was killed.
func (c *crash) died(l *incarnation) {
	c.kills++
	if how := l.howItEnded(); how != "killed" {
		c.Errorf("the server was not killed but ended with %s\n%s", how, c.logTail())
	}
}

// atRandom kills the server at any moment of its work.
func (c *crash) atRandom() {
	l := c.begin()
	if l.becomesReady() {
		l.diesWithin(time.Duration(rand.IntN(900)) * time.Millisecond)
		l.kill()
	}
	c.died(l)
}

// whileStarting kills the server before or while it recovers.
func (c *crash) whileStarting() {
	l := c.begin()
	l.diesWithin(time.Duration(rand.IntN(120)) * time.Millisecond)
	l.kill()
	c.died(l)
}

// whileStopping stops the server and kills it before it has stopped.
func (c *crash) whileStopping() {
	l := c.begin()
	if l.becomesReady() {
		l.diesWithin(time.Duration(200+rand.IntN(400)) * time.Millisecond)
		l.signal(syscall.SIGTERM)
		if l.diesWithin(time.Duration(rand.IntN(300)) * time.Millisecond) {
			l.stop() // it has already stopped
			return
		}
		l.kill()
	}
	c.died(l)
}

// cleanly stops the server with SIGTERM.
func (c *crash) cleanly() {
	l := c.begin()
	if l.becomesReady() {
		l.diesWithin(time.Duration(200+rand.IntN(600)) * time.Millisecond)
	}
	l.stop()
}

// hastily stops the server with two signals: running jobs are interrupted and recorded
// as failed.
func (c *crash) hastily() {
	l := c.begin()
	if l.becomesReady() {
		l.diesWithin(time.Duration(200+rand.IntN(600)) * time.Millisecond)
	}
	l.signal(syscall.SIGTERM)
	l.diesWithin(time.Duration(rand.IntN(20)) * time.Millisecond)
	l.stop()
}

// away keeps the server down for some planned times of its schedules.
func (c *crash) away() { time.Sleep(3500 * time.Millisecond) }

// pointTimeout is how long a server may take to reach a point, while clients send the
// requests that lead there.
const pointTimeout = 8 * time.Second

// atPoint lets the server kill itself at the next of the points.
func (c *crash) atPoint() {
	if len(c.points) == 0 {
		c.points = points()
		rand.Shuffle(len(c.points), func(i, k int) { c.points[i], c.points[k] = c.points[k], c.points[i] })
	}
	p := c.points[0]
	c.points = c.points[1:]
	if p.focus != "" {
		c.load.focus.Store(actionNamed(p.focus))
		defer c.load.focus.Store(nil)
	}
	l := c.begin(p.setting())
	if p.verb == "shutdown" && l.becomesReady() {
		l.diesWithin(300 * time.Millisecond)
		l.signal(syscall.SIGTERM)
	}
	c.tried[p.String()]++
	began := time.Now()
	if l.diesWithin(pointTimeout) {
		c.reached[p.String()]++
	}
	if took := time.Since(began); took > pointTimeout/2 {
		c.Logf("it took %s to get to %s", took.Round(time.Millisecond), p)
	}
	l.kill()
	c.died(l)
}

// settle waits until all jobs have ended, and returns the time at which the schedules
// were paused.
func (c *crash) settle() time.Time {
	c.Helper()
	c.starts++
	l := c.serverDir.run()
	began := time.Now()
	c.load.end()
	answered := time.Since(began)
	stopped := c.caller.pauseTicks()
	c.caller.waitUntilIdle()
	c.Logf("within %s all requests were answered, within %s all jobs had ended", answered.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	l.stop()
	return stopped
}

// sum logs a summary. A long test fails if it never reached some point, and any test
// fails if it saw no work, because it proves nothing about them.
func (c *crash) sum(long bool) {
	var never []string
	for p, n := range c.tried {
		if c.reached[p] == 0 && n > 2 {
			never = append(never, p)
		}
	}
	if long && len(never) > 0 {
		c.Errorf("the server never got to %s", strings.Join(never, ", "))
	}
	c.Logf("%d starts, %d kills, %d of %d points reached; %d requests answered, %d of them sent again",
		c.starts, c.kills, len(c.reached), len(points()), c.caller.answered.Load(), c.caller.resent.Load())
	c.Logf("%v", c.answers.counts)
	all := []string{"jobs", "starts", "completed", "retries", "fires", "directs", "triggers", "redrives", "sequences", "stale claims"}
	if !long {
		all = all[:5] // there was no time for each of the others
	}
	for _, what := range all {
		if c.answers.counts[what] == 0 {
			c.Errorf("the test saw no %s, and proves nothing about them", what)
		}
	}
}
