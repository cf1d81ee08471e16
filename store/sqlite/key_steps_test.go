package sqlite

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// stepsTx is the writer with a count of the rounds and the rows that rules load.
type stepsTx struct {
	countingTx
	jobs int
}

func (c *stepsTx) Load(u *rules.UnitOfWork) error {
	err := c.countingTx.Load(u)
	c.jobs = 0
	u.EachJob(func(*rota.Job, bool) { c.jobs++ })
	return err
}

// steps applies a batch, and returns in how many rounds it loads how many jobs.
func steps(t *testing.T, s *Store, b rota.Batch) (rounds, jobs int, results []rota.Result) {
	t.Helper()
	inTransaction(t, s, func(w *writer) {
		tx := &stepsTx{countingTx: countingTx{writer: w}}
		var err error
		results, err = rules.Apply(tx, b)
		must(t, err)
		rounds, jobs = tx.rounds, tx.jobs
	})
	return rounds, jobs, results
}

// TestLongKeyQueueCostsCommandsNothing compares the rounds and the rows that commands load with 20 jobs
// of a key in front of others and with 100,000 of them, for each way to limit the key.
func TestLongKeyQueueCostsCommandsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	for name, spec := range map[string]rota.ThrottleSpec{
		"keys":             {Keys: []rota.KeyLimit{{Key: "t:1", Concurrency: 1}}},
		"each_key":         {EachKey: []rota.EachKeyLimit{{Pattern: "t:*", Concurrency: 1}}},
		"each_key_of_type": {EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			short, long := stepsBehindKey(t, spec, 20), stepsBehindKey(t, spec, 100_000)
			if short != long {
				t.Errorf("rounds and jobs of claim, enqueue and finish: %v with 20 jobs, %v with 100,000", short, long)
			}
			t.Logf("rounds and jobs of claim, enqueue and finish: %v", long)
		})
	}
}

// stepsBehindKey enqueues count jobs of the key t:1, then one of t:2 and one without a key, and returns
// the rounds and the jobs that a claim, an enqueue and a finish load.
func stepsBehindKey(t *testing.T, spec rota.ThrottleSpec, count int) (steps3 [3][2]int) {
	t.Helper()
	s := openTest(t, Config{})
	apply(t, s, putLimits(0, spec))
	for left := count; left > 0; left -= rota.JobsMax {
		jobs := make([]rota.NewJob, min(left, rota.JobsMax))
		for i := range jobs {
			jobs[i] = rota.NewJob{Type: "mail", ConcurrencyKey: new("t:1")}
		}
		apply(t, s, at(0, enqueue(jobs...)))
	}
	apply(t, s, at(time.Second, enqueue(rota.NewJob{Type: "mail", ConcurrencyKey: new("t:2")}, rota.NewJob{Type: "mail"})))
	rounds, jobs, results := steps(t, s, at(2*time.Second, claim(10)))
	steps3[0] = [2]int{rounds, jobs}
	claimed := results[0].Reply.(*rota.Claimed).Jobs
	if len(claimed) != 3 || claimed[0].ConcurrencyKey != "t:1" || claimed[1].ConcurrencyKey != "t:2" {
		t.Errorf("%d jobs were claimed, want the first of t:1, that of t:2, and the one without a key", len(claimed))
	}
	for i, c := range []rota.Command{
		enqueue(rota.NewJob{Type: "mail", ConcurrencyKey: new("t:1")}),
		finish(claimed[0], rota.OutcomeCompleted),
	} {
		rounds, jobs, _ := steps(t, s, at(3*time.Second, c))
		steps3[i+1] = [2]int{rounds, jobs}
	}
	return steps3
}

// TestOtherTypeOfKeyIsNotRead has a key with many ready jobs of a type without a limit. A job of a type
// with a limit for each key does not read them.
func TestOtherTypeOfKeyIsNotRead(t *testing.T) {
	s := openTest(t, Config{})
	apply(t, s, putLimits(0, rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}}}))
	jobs := make([]rota.NewJob, 500)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "web", ConcurrencyKey: new("t:1")}
	}
	apply(t, s, at(0, enqueue(jobs...)))
	if _, jobs, _ := steps(t, s, at(time.Second, enqueue(rota.NewJob{Type: "mail", ConcurrencyKey: new("t:1")}))); jobs != 0 {
		t.Errorf("the enqueue of a limited type loads %d jobs of the other type", jobs)
	}
	if _, jobs, _ := steps(t, s, at(time.Second, enqueue(rota.NewJob{Type: "web", ConcurrencyKey: new("t:1")}))); jobs != 0 {
		t.Errorf("the enqueue of the type without a limit loads %d jobs", jobs)
	}
}
