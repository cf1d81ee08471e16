package verify

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

var verifyNow = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// checkNames returns a Verifier and the names of the checks it reports.
func checkNames() (*Verifier, *[]string) {
	var names []string
	return NewVerifier(func(v rota.Violation) { names = append(names, v.Check) }), &names
}

func jobID(n int) (id rota.ID) {
	id[6], id[8] = 0x70, 0x80
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}

func readyJob(n int) *rota.Job {
	return &rota.Job{
		ID: jobID(n), ExecutionID: jobID(n), Type: "mail", Params: []byte("{}"), Status: rota.StatusQueued, Position: int64(n) * 100,
		Attempt: 1, Policy: rota.Policy{MaxAttempts: 4}, CreatedAt: verifyNow, QueuedAt: verifyNow,
	}
}

// endedJob returns a job whose run ended so, settled as the rules do.
func endedJob(n int, outcome rota.Outcome, sequel rota.Sequel) *rota.Job {
	j := readyJob(n)
	j.Status, j.StartedAt, j.FinishedAt, j.Sequel = rota.StatusRunning, verifyNow, verifyNow, sequel
	j.Run = &rota.Run{ID: jobID(1_000_000 + n), Runner: "node", Token: rota.Token{1}, StartedAt: verifyNow, Outcome: outcome, FinishedAt: verifyNow}
	return j
}

func retryOf(parent *rota.Job, n int) *rota.Job {
	j := readyJob(n)
	j.RetryOf, j.ExecutionID, j.Attempt = parent.ID, parent.ExecutionID, parent.Attempt+1
	return j
}

func TestVerifierAcceptsJobsInAnyOrder(t *testing.T) {
	parent := endedJob(1, rota.OutcomeFailed, rota.SequelRetry)
	rows := []Row{{Job: parent, RunID: parent.Run.ID}, {Job: retryOf(parent, 2), Parent: parent}}
	for range 2 {
		v, names := checkNames()
		for _, r := range rows {
			v.Job(r)
		}
		if v.NeedsSecondPass() || len(*names) > 0 {
			t.Errorf("found %v", *names)
		}
		slices.Reverse(rows) // clocks that were set back give a retry the smaller id
	}
}

func TestSecondPassReportsDuplicates(t *testing.T) {
	parent := endedJob(1, rota.OutcomeFailed, rota.SequelRetry)
	twin := endedJob(2, rota.OutcomeCompleted, rota.SequelNone)
	twin.Run.ID = parent.Run.ID
	planned, again := readyJob(3), readyJob(4)
	planned.PlanTime, again.PlanTime = verifyNow, verifyNow
	again.ScopeKind, again.ScopeID = rota.GlobalScopeKind, rota.GlobalScopeID
	for name, rows := range map[string][]Row{
		rota.CheckDoubleRun:    {{Job: parent}, {Job: twin}, {Job: retryOf(parent, 5), Parent: parent}},
		rota.CheckPlanTwice:    {{Job: planned}, {Job: again}},
		rota.CheckRetryTwice:   {{Job: parent}, {Job: retryOf(parent, 5), Parent: parent}, {Job: retryOf(parent, 6), Parent: parent}},
		rota.CheckRetryMissing: {{Job: parent}},
	} {
		t.Run(name, func(t *testing.T) {
			v, names := checkNames()
			for _, r := range rows {
				v.Job(r)
			}
			if len(*names) > 0 || !v.NeedsSecondPass() {
				t.Fatalf("found %v at once", *names)
			}
			for _, r := range rows {
				v.SecondPass(r.Job)
			}
			if !slices.Equal(*names, []string{name}) {
				t.Errorf("found %v", *names)
			}
		})
	}
}

// TestSecondPassIgnoresFingerprintCollision checks that values with equal
// fingerprints are compared themselves.
func TestSecondPassIgnoresFingerprintCollision(t *testing.T) {
	one, other := endedJob(1, rota.OutcomeCompleted, rota.SequelNone), endedJob(2, rota.OutcomeCompleted, rota.SequelNone)
	one.PlanTime, other.PlanTime = verifyNow, verifyNow.Add(time.Hour)
	v, names := checkNames()
	v.NeedsSecondPass()
	for _, j := range []*rota.Job{one, other} {
		plan, _ := firstPlan(j)
		v.suspects.runs[fingerprintOf(j.Run.ID)], v.suspects.plans[fingerprint(plan)], v.suspects.owed[fingerprintOf(j.ID)] = true, true, true
	}
	v.SecondPass(one)
	v.SecondPass(other)
	if len(*names) > 0 {
		t.Errorf("found %v", *names)
	}
}

func TestRetryMayDifferOnlyWhereItWasEdited(t *testing.T) {
	parent := endedJob(1, rota.OutcomeFailed, rota.SequelRetry)
	retry := retryOf(parent, 2)
	retry.Params, retry.Priority = []byte(`{"n":2}`), 7
	v, names := checkNames()
	v.Job(Row{Job: retry, Parent: parent})
	retry.Version = jobID(9)
	v.Job(Row{Job: retry, Parent: parent})
	retry.Policy.Timeout = time.Second
	v.Job(Row{Job: retry, Parent: parent})
	if want := []string{rota.CheckChainKept, rota.CheckChainKept}; !slices.Equal(*names, want) {
		t.Errorf("found %v, want %v", *names, want)
	}
}

func TestCompletedExecutionMayLoseKeyAfterUniqueFor(t *testing.T) {
	j := endedJob(1, rota.OutcomeCompleted, rota.SequelNone)
	j.UniqueKey, j.UniqueFor = "k", time.Minute
	for _, held := range []*rules.UniqueKeyRecord{nil, {ExecutionID: jobID(2)}, {ExecutionID: j.ID, FreeAt: 1, Ended: true}} {
		v, names := checkNames()
		v.Job(Row{Job: j, Key: held})
		if len(*names) > 0 {
			t.Errorf("with %+v found %v", held, *names)
		}
	}
}

func TestOrderWalkFindsDifferenceFromRules(t *testing.T) {
	a, b := readyJob(1), readyJob(2)
	moved := *b
	moved.Position = 7
	for _, test := range []struct {
		name  string
		walk  []*rota.Job
		clean bool
	}{
		{"in order", []*rota.Job{a, b}, true},
		{"reversed", []*rota.Job{b, a}, false},
		{"one missing", []*rota.Job{a}, false},
		{"one twice", []*rota.Job{a, b, b}, false},
		{"one in place of another", []*rota.Job{a, a}, false},
		{"one at another position", []*rota.Job{&moved, a}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, names := checkNames()
			v.Job(Row{Job: a})
			v.Job(Row{Job: b})
			order := v.QueueOrder()
			for _, j := range test.walk {
				order.Next(j)
			}
			order.End()
			if (len(*names) == 0) != test.clean {
				t.Errorf("found %v", *names)
			}
		})
	}
}

// TestVerifierMemoryPerJobIsBounded: the Verifier keeps some 24 bytes of a job
// that ran, was planned and was retried; a map of ids would take four times
// that.
func TestVerifierMemoryPerJobIsBounded(t *testing.T) {
	const jobs, maxCount = 100_000, 64
	v, names := checkNames()
	before := heap()
	for n := range jobs {
		j := endedJob(n, rota.OutcomeFailed, rota.SequelRetry)
		j.PlanTime = verifyNow.Add(time.Duration(n) * time.Second)
		v.Job(Row{Job: j, RunID: j.Run.ID})
	}
	if perJob := (heap() - before) / jobs; perJob > maxCount || len(*names) > 0 {
		t.Errorf("keeps %d bytes a job, found %v", perJob, *names)
	}
	runtime.KeepAlive(v)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
