//go:build unix

package main

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// cutOff is how long a server is cut off. A server tries a request for ten seconds before
// it answers that DynamoDB is unavailable.
func cutOff(t *testing.T) time.Duration {
	if crashTime(t).IsZero() {
		return 12 * time.Second
	}
	return 30 * time.Second
}

// TestServerCutOffFromDynamoDB cuts a server off, by connections that hang and by such that
// break. It answers 503 to writes and stops its run before another attempt starts. The
// other server goes on.
func TestServerCutOffFromDynamoDB(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*dynamoProxy){"hangs": (*dynamoProxy).Hold, "breaks": (*dynamoProxy).Cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retryIfSlow(t, func(t *testing.T, fail failFunc) { testServerCutOff(t, fail, cut) })
		})
	}
}

func testServerCutOff(t *testing.T, fail failFunc, cut func(*dynamoProxy)) {
	f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 2)
	first, second := f.servers[0], f.servers[1]
	first.startUntilReady()
	job := f.enqueueHeld("open")
	second.startUntilReady()
	f.checkFirstAttempt(job, fail)
	record := f.faults.begin("partition", first)
	cut(first.dynamoProxy())

	refused := make(chan answer, 1)
	go func() { refused <- f.writeOnce(0) }()
	others := f.startWriting(1)
	f.waitUntil("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.lastAttempt(job).ID)) == 1 })
	f.waitUntil("the first attempt has ended", func() bool { return len(f.ledgerOf(job.ID.ID)) == 2 })
	began, end := f.ledgerOf(f.lastAttempt(job).ID)[0].at, f.ledgerOf(job.ID.ID)[1]
	t.Logf("the run was stopped %s before another attempt began", began.Sub(end.at).Round(time.Millisecond))
	if end.result != "stopped" || end.at.After(began) {
		fail(f, "the first attempt ended %s, %s after another began", end.result, end.at.Sub(began))
	}
	f.release("open")
	if a := <-refused; a.status != http.StatusServiceUnavailable {
		t.Errorf("a server that is cut off answers %d: %s", a.status, a.body)
	}
	time.Sleep(time.Until(record.from.Add(cutOff(t))))
	others.stop()
	others.check()
	first.proxy.Resume()
	f.faults.end(record)

	f.waitUntil("the server that was cut off is notified", func() bool { return logsLostLease(first.log(), job.ID.ID) })
	f.waitUntil("it answers writes again", func() bool { return f.writeOnce(0).status < 300 })
	f.waitUntil("the other attempt is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
	f.checkIdleCluster()
}

// TestServerFrozenForThreeLeases freezes a server while it runs a job. The other server goes
// on, and runs the job. The frozen server stops its run when it continues, and changes nothing.
func TestServerFrozenForThreeLeases(t *testing.T) {
	t.Parallel()
	retryIfSlow(t, testServerFrozen)
}

func testServerFrozen(t *testing.T, fail failFunc) {
	f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 2)
	first, second := f.servers[0], f.servers[1]
	first.startUntilReady()
	job := f.enqueueHeld("open")
	second.startUntilReady()
	f.checkFirstAttempt(job, fail)
	record := f.faults.begin("freeze", first)
	first.incarnation().signal(syscall.SIGSTOP)
	others := f.startWriting(1)
	f.waitUntil("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.lastAttempt(job).ID)) == 1 })
	time.Sleep(time.Until(record.from.Add(3 * clusterLease)))
	others.stop()
	others.check()
	first.incarnation().signal(syscall.SIGCONT)
	f.faults.end(record)
	f.waitUntil("the first attempt has ended", func() bool { return len(f.ledgerOf(job.ID.ID)) == 2 })
	if end := f.ledgerOf(job.ID.ID)[1]; end.result != "stopped" {
		fail(f, "the first attempt ended %s", end.result)
	}
	f.waitUntil("the frozen server is notified", func() bool { return logsLostLease(first.log(), job.ID.ID) })
	f.release("open")
	f.waitUntil("the other attempt is done", func() bool { return f.lastAttempt(job).State() == rota.StateCompleted })
	f.waitUntil("the server that was frozen answers writes", func() bool { return f.writeOnce(0).status < 300 })
	if n := len(f.chain(job)); n != 2 {
		fail(f, "the job has %d attempts", n)
	}
	f.checkIdleCluster()
}

// writeOnce enqueues a job at one server, and does not send the request again.
func (f *testCluster) writeOnce(i int) answer {
	addr, _ := f.servers[i].address()
	mark := f.answers.newMark() // the job may exist or not, but not twice
	body := []byte(`{"type": "ledger", "params": {"mark": "` + mark + `"}}`)
	c := f.callerOf(i)
	c.timeout = waitMax
	a, err := c.sendOnce(f.Context(), http.MethodPost, "http://"+addr+"/api/v1/jobs", body, mark)
	if err != nil {
		f.Logf("%s: %v", f.servers[i].name, err)
	}
	return a
}

// requestsThrottled is how many requests a second all servers of a throttled table have together.
const requestsThrottled = 20

// TestThrottledTableLosesNothing throttles all requests of three servers under load. Every
// request of a client is answered in the end, and the servers recover.
func TestThrottledTableLosesNothing(t *testing.T) {
	t.Parallel()
	throttled := 8 * time.Second
	if !crashTime(t).IsZero() {
		throttled = time.Minute
	}
	f := newDynamoCluster(t, dyntest.Start(t, dyntest.Dynoxide), 3)
	f.startAll()
	f.declareLimitsAndSchedules()
	l := startLoad(f.caller, f.answers, clusterActions(), 6)
	before := f.throughput(4 * time.Second)
	record := f.faults.begin("throttle", nil)
	for _, s := range f.servers {
		s.dynamoProxy().Limit(requestsThrottled / len(f.servers))
	}
	during := f.throughput(throttled)
	for _, s := range f.servers {
		s.proxy.Resume()
	}
	f.faults.end(record)
	time.Sleep(2 * time.Second) // the longest waits between attempts
	after := f.throughput(4 * time.Second)
	t.Logf("requests of clients a second: %.1f before, %.1f while throttled, %.1f after", before, during, after)
	if after < 2*during { // other tests use the machine, so it need not be as fast as before
		t.Errorf("the throughput was %.1f requests a second while the table was throttled, and is %.1f afterwards", during, after)
	}
	stopped := f.drain(l)
	f.auditAll(stopped)
	f.checkReplicas()
	f.logRequests()
}

// throughput returns how many requests of clients are answered in a second.
func (f *testCluster) throughput(d time.Duration) float64 {
	began, answered := time.Now(), f.caller.answered.Load()
	time.Sleep(d)
	return float64(f.caller.answered.Load()-answered) / time.Since(began).Seconds()
}

// TestServiceClockOffByAnHour sets the clock of DynamoDB an hour ahead of those of all servers,
// or back. Every time is that of DynamoDB: nothing is fired twice, and no lease ends early.
func TestServiceClockOffByAnHour(t *testing.T) {
	t.Parallel()
	for _, offset := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(offset.String(), func(t *testing.T) {
			t.Parallel()
			f := newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), 3)
			for _, s := range f.servers {
				s.dynamoProxy().ShiftDate(offset)
			}
			f.startAll()
			began := time.Now()
			f.callerOf(0).declareTicks()
			job := f.enqueueHeld("open")
			time.Sleep(3 * clusterLease)
			f.release("open")
			stopped := f.caller.pauseTicks()
			f.caller.waitUntilIdle()
			f.stopAll()
			a := f.audit()
			defer a.store.Close()
			a.checkStarts()
			a.checkEndings()
			a.checkSchedules(stopped.Add(offset))
			a.checkClusterLogs(f)
			if n := f.countAttempts(a.chains[job.ID.ID]); n != 1 {
				t.Errorf("a job has %d attempts; a wrong clock must not fail it", n)
			}
			for _, j := range a.jobs {
				if ahead := j.CreatedAt.Sub(began.Add(offset)); ahead < -time.Second || j.CreatedAt.Before(j.PlanTime) {
					t.Errorf("job %s, planned for %s, was created at %s", j.ID, j.PlanTime, j.CreatedAt)
				}
			}
		})
	}
}
