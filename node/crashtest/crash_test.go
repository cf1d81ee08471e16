//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envCrashTime is the duration of TestCrash, TestCrashOnPostgres and TestCrashOnDynamoDB. By
// default they go through each kind of fault once. If it is set, other tests on DynamoDB
// cause more and longer faults, too.
const envCrashTime = "ROTA_CRASH_TIME"

// crashTest is a server that is killed repeatedly under load, with the answers that its
// clients received.
type crashTest struct {
	*serverDir
	caller  *caller
	answers *answerLog
	load    *load

	starts    int
	kills     int
	points    []killPoint    // points that are left of this round, the next one first
	attempted map[string]int // how often each point was set
	reached   map[string]int
}

// TestCrash kills a server under load at random times and at chosen points, while it
// works, starts, recovers and stops. In the end it compares the store with the answers
// of the server and the ledger of its handlers.
func TestCrash(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	c.declareSchedules()
	c.load = startLoad(c.caller, c.answers, actions, 3)
	stages := []func(){
		c.killAtPoint, c.killAtRandomTime, c.killAtPoint, c.killWhileStarting, c.killAtPoint, c.killWhileStopping,
		c.killAtPoint, c.killAtRandomTime, c.stayDown, c.killAtPoint, c.stopWithOneSignal, c.killAtPoint, c.stopWithTwoSignals,
	}
	until := crashTime(t)
	for i := 0; i < len(stages) || time.Now().Before(until); i++ {
		stages[i%len(stages)]()
		if t.Failed() {
			break
		}
		if i%60 == 59 {
			c.verifyBetweenStarts()
			t.Logf("%d starts, %d kills, %d of %d points reached so far", c.starts, c.kills, len(c.reached), len(killPoints()))
		}
	}
	stopped := c.drain()
	c.auditAll(stopped)
	c.logSummary(!until.IsZero())
}

// crashTime returns when a long test ends; zero: a short test.
func crashTime(t *testing.T) time.Time {
	text := os.Getenv(envCrashTime)
	if text == "" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return time.Now().Add(d)
}

func newCrash(t *testing.T) *crashTest {
	s := newServerDir(t)
	c := &crashTest{serverDir: s, caller: newCaller(s), answers: newAnswerLog(), attempted: map[string]int{}, reached: map[string]int{}}
	return c
}

// declareSchedules declares the schedules of the test.
func (c *crashTest) declareSchedules() {
	c.Helper()
	proc := c.serverDir.startUntilReady()
	defer proc.kill()
	c.caller.declareTicks()
}

// tickSchedules returns the schedules of the tests. Each of their planned times must
// fire, because no downtime of a test is as long as the grace period for misfires.
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
	c.mustWrite("POST", "/templates", object{"name": "tick", "type": "ledger", "default_params": object{"behave": "succeed"}}, nil)
	for _, s := range tickSchedules() {
		s["template"], s["catch_up"] = "tick", "all"
		c.mustWrite("POST", "/schedules", s, nil)
	}
}

// pauseTicks pauses tickSchedules and returns the time of the pause. A schedule is paused
// before the one it depends on, whose next time it would otherwise wait for.
func (c *caller) pauseTicks() (stopped time.Time) {
	c.serverDir.Helper()
	for _, s := range slices.Backward(tickSchedules()) {
		stopped = c.pause(fmt.Sprint(s["name"]))
	}
	// A job whose dependency was skipped waits for the next execution, which a paused schedule does not start.
	c.mustWrite("POST", "/jobs/cancel", object{"schedule": "tick-after", "state": "blocked"}, nil)
	return stopped
}

func (c *caller) pause(schedule string) time.Time {
	c.serverDir.Helper()
	stopped := time.Now()
	c.mustWrite("POST", "/schedules/"+schedule+"/pause", nil, nil)
	return stopped
}

// startWithStaleWorker starts the server with a stale worker.
func (c *crashTest) startWithStaleWorker(settings ...string) *incarnation {
	c.starts++
	return c.serverDir.start(append(settings, envStaleWorker+"=400ms:ledger:late")...)
}

// countKill counts a kill and checks that the process was killed.
func (c *crashTest) countKill(proc *incarnation) {
	c.kills++
	if how := proc.exitStatus(); how != "killed" {
		c.Errorf("the server was not killed but ended with %s\n%s", how, c.logTail())
	}
}

// killAtRandomTime kills the server at a random time while it works.
func (c *crashTest) killAtRandomTime() {
	proc := c.startWithStaleWorker()
	if proc.waitReady() {
		proc.endsWithin(time.Duration(rand.IntN(900)) * time.Millisecond)
		proc.kill()
	}
	c.countKill(proc)
}

// killWhileStarting kills the server before or while it recovers.
func (c *crashTest) killWhileStarting() {
	proc := c.startWithStaleWorker()
	proc.endsWithin(time.Duration(rand.IntN(120)) * time.Millisecond)
	proc.kill()
	c.countKill(proc)
}

// killWhileStopping stops the server and kills it before it has stopped.
func (c *crashTest) killWhileStopping() {
	proc := c.startWithStaleWorker()
	if proc.waitReady() {
		proc.endsWithin(time.Duration(200+rand.IntN(400)) * time.Millisecond)
		proc.signal(syscall.SIGTERM)
		if proc.endsWithin(time.Duration(rand.IntN(300)) * time.Millisecond) {
			proc.stop() // it has already stopped
			return
		}
		proc.kill()
		if proc.exitStatus() == "exit 0" { // it stopped just before the kill
			return
		}
	}
	c.countKill(proc)
}

// stopWithOneSignal stops the server with SIGTERM.
func (c *crashTest) stopWithOneSignal() {
	proc := c.startWithStaleWorker()
	if proc.waitReady() {
		proc.endsWithin(time.Duration(200+rand.IntN(600)) * time.Millisecond)
	}
	proc.stop()
}

// stopWithTwoSignals stops the server with two signals: it cancels running jobs and
// records them as failed.
func (c *crashTest) stopWithTwoSignals() {
	proc := c.startWithStaleWorker()
	if proc.waitReady() {
		proc.endsWithin(time.Duration(200+rand.IntN(600)) * time.Millisecond)
	}
	proc.signal(syscall.SIGTERM)
	proc.endsWithin(time.Duration(rand.IntN(20)) * time.Millisecond)
	proc.stop()
}

// stayDown keeps the server down while planned times of its schedules pass.
func (c *crashTest) stayDown() { time.Sleep(3500 * time.Millisecond) }

// pointTimeout is how long a server may take to reach a point, while clients send the
// requests that lead there.
const pointTimeout = 8 * time.Second

// killAtPoint has the server kill itself at the next point.
func (c *crashTest) killAtPoint() {
	if len(c.points) == 0 {
		c.points = killPoints()
		rand.Shuffle(len(c.points), func(i, k int) { c.points[i], c.points[k] = c.points[k], c.points[i] })
	}
	p := c.points[0]
	c.points = c.points[1:]
	if p.focus != "" {
		c.load.focus.Store(actionNamed(p.focus))
		defer c.load.focus.Store(nil)
	}
	proc := c.startWithStaleWorker(p.env())
	if p.verb == "shutdown" && proc.waitReady() {
		proc.endsWithin(300 * time.Millisecond)
		proc.signal(syscall.SIGTERM)
	}
	c.attempted[p.String()]++
	began := time.Now()
	if proc.endsWithin(pointTimeout) {
		c.reached[p.String()]++
	}
	if took := time.Since(began); took > pointTimeout/2 {
		c.Logf("the server took %s to reach %s", took.Round(time.Millisecond), p)
	}
	proc.kill()
	c.countKill(proc)
}

// drain waits until all jobs have ended, and returns the time at which the schedules
// were paused.
func (c *crashTest) drain() time.Time {
	c.Helper()
	c.starts++
	proc := c.serverDir.startUntilReady()
	began := time.Now()
	c.load.stop()
	answered := time.Since(began)
	stopped := c.caller.pauseTicks()
	c.caller.waitUntilIdle()
	c.Logf("within %s all requests were answered, within %s all jobs had ended", answered.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	proc.stop()
	return stopped
}

// logSummary logs a summary. A long test fails if the server never reached some point,
// and every test fails if one of the expected counts is zero, because the test then
// proves nothing about it.
func (c *crashTest) logSummary(long bool) {
	var never []string
	for p, n := range c.attempted {
		if c.reached[p] == 0 && n > 2 {
			never = append(never, p)
		}
	}
	if long && len(never) > 0 {
		c.Errorf("the server never reached %s", strings.Join(never, ", "))
	}
	c.Logf("%d starts, %d kills, %d of %d points reached; %d requests answered, %d of them sent again",
		c.starts, c.kills, len(c.reached), len(killPoints()), c.caller.answered.Load(), c.caller.resent.Load())
	c.Logf("%v", c.answers.counts)
	all := []string{"jobs", "starts", "completed", "retries", "fires", "directs", "triggers", "redrives", "sequences", "stale claims"}
	if !long {
		all = all[:5] // a short test may not reach the others
	}
	for _, what := range all {
		if c.answers.counts[what] == 0 {
			c.Errorf("the test saw no %s, so it proves nothing about them", what)
		}
	}
}
