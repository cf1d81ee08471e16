package storetest

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
)

// ScaleVar names the environment variable that multiplies the work of the
// concurrent part.
const ScaleVar = "ROTA_STORETEST_SCALE"

func scale(t testing.TB) int {
	t.Helper()
	text := os.Getenv(ScaleVar)
	if text == "" {
		return depth.Of(1, 1, 3)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q; it must be a whole number, 1 or more", ScaleVar, text)
	}
	return n
}

// Concurrent calls one store from many goroutines, and afterwards checks the answers and the
// rows.
func Concurrent(t *testing.T, h Harness) {
	t.Helper()
	runStories(t, h, []namedStory{
		{"many concurrent workers lose no job and run none twice", plainWorkload},
		{"limits, groups and schedules hold with many concurrent workers", mixedWorkload},
		{"one claimer takes the jobs of many enqueuers in dispatch order", oneClaimer},
		{"one claim sent twice concurrently takes its jobs once", claimSentTwice},
		{"concurrent claims take no job twice", concurrentClaims},
		{"of several outcomes reported concurrently one is stored", concurrentOutcomes},
		{"a concurrent finish and reap leave one outcome and at most one retry", finishAgainstReap},
		{"concurrent enqueues of one unique key create one job", concurrentKeys},
		{"concurrent enqueues of one planned execution create one job", concurrentPlans},
	})
}

// apply sends one command from any goroutine. A zero time means the clock of the store.
func apply[R rota.Reply](y *story, now time.Time, c rota.Command) (reply R, ok bool) {
	results, err := y.s.Apply(context.Background(), rota.Batch{Now: now, Commands: []rota.Command{c}})
	switch {
	case err != nil:
		y.Errorf("apply %s: %v", c.Verb(), err)
	case len(results) != 1:
		y.Errorf("apply %s: %d results", c.Verb(), len(results))
	case results[0].Err == nil:
		return results[0].Reply.(R), true
	}
	return reply, false
}

// concurrently runs a function count times, each in its own goroutine, and waits for all of
// them.
func concurrently(count int, run func(i int)) {
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() { run(i) })
	}
	all.Wait()
}

func newClaim(limit int, types ...string) *rota.Claim {
	return &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w1", Incarnation: incarnationOne, Types: types,
		Limit: limit, Lease: lease, Seed: rota.Token(rota.NewID()),
	}
}

func newFinish(j *rota.Job, outcome rota.Outcome) *rota.Finish {
	it := rota.FinishItem{LeaseRef: leaseOf(j), Outcome: outcome}
	return &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{it}}
}

// enqueueConcurrently enqueues jobs from several goroutines.
func enqueueConcurrently(y *story, callers, each int) {
	concurrently(callers, func(i int) {
		for k := range each {
			n := rota.NewJob{Type: "mail", Priority: new((i + k) % 3)}
			apply[*rota.Enqueued](y, time.Time{}, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{n, n}})
		}
	})
}

func oneClaimer(y *story) {
	const callers = 4
	each := 15 * scale(y)
	enqueueConcurrently(y, callers, each)
	order := y.queue()
	var claimed []*rota.Job
	for limit := 1; ; limit = limit%7 + 1 {
		got, _ := apply[*rota.Claimed](y, time.Time{}, newClaim(limit, "mail"))
		if got == nil || len(got.Jobs) == 0 {
			break
		}
		claimed = append(claimed, got.Jobs...)
	}
	want(y, "claimed", len(claimed), callers*each*2)
	for i, j := range claimed {
		want(y, "claimed in the queue's order", j.ID, order[i])
		if i > 0 && !claimed[i-1].Before(j) {
			y.Errorf("%s was claimed before %s, which is earlier in the order", claimed[i-1].ID, j.ID)
		}
	}
}

func claimSentTwice(y *story) {
	for range 20 * scale(y) {
		y.enqueueMany(3)
		c := newClaim(2, "mail")
		var answers [2]*rota.Claimed
		concurrently(2, func(i int) { answers[i], _ = apply[*rota.Claimed](y, time.Time{}, c) })
		if answers[0] == nil || answers[1] == nil {
			y.Fatal("a claim was refused")
		}
		wantIDs(y, "the answer to the second", idsOf(answers[1].Jobs), answers[0].Jobs...)
		want(y, "claimed", len(answers[0].Jobs), 2)
		want(y, "left in the queue", len(y.queue()), 1)
		apply[*rota.Claimed](y, time.Time{}, newClaim(9, "mail"))
	}
}

func concurrentClaims(y *story) {
	enqueueConcurrently(y, 2, 30*scale(y))
	total := len(y.queue())
	answers := make([][]*rota.Job, 6)
	concurrently(len(answers), func(i int) {
		for {
			got, ok := apply[*rota.Claimed](y, time.Time{}, newClaim(i+1, "mail"))
			if !ok || len(got.Jobs) == 0 {
				return
			}
			answers[i] = append(answers[i], got.Jobs...)
		}
	})
	seen := map[rota.ID]bool{}
	for _, jobs := range answers {
		for k, j := range jobs {
			if seen[j.ID] {
				y.Errorf("%s was claimed twice", j.ID)
			}
			seen[j.ID] = true
			if k > 0 && !jobs[k-1].Before(j) {
				y.Errorf("one claimer got %s before %s, which is earlier in the order", jobs[k-1].ID, j.ID)
			}
		}
	}
	want(y, "claimed", len(seen), total)
}

func concurrentOutcomes(y *story) {
	outcomes := []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeSkipped}
	for range 15 * scale(y) {
		j := y.running(rota.NewJob{Priority: new(1)})
		answers := make([]rota.FinishAnswer, len(outcomes))
		concurrently(len(outcomes), func(i int) {
			if got, ok := apply[*rota.Finished](y, time.Time{}, newFinish(j, outcomes[i])); ok {
				answers[i] = got.Items[0]
			}
		})
		won := 0
		for i, a := range answers {
			if a.Code == "" {
				won++
				want(y, "the outcome answered", a.Outcome, outcomes[i])
				want(y, "the outcome stored", y.job(j.ID).Run.Outcome, outcomes[i])
			}
		}
		want(y, "outcomes that were stored", won, 1)
	}
}

func finishAgainstReap(y *story) {
	for range 15 * scale(y) {
		j := y.running(rota.NewJob{Priority: new(1)})
		late := y.now.Add(time.Hour)
		var finished *rota.Finished
		var reaped *rota.Reaped
		concurrently(2, func(i int) {
			if i == 0 {
				finished, _ = apply[*rota.Finished](y, late, newFinish(j, rota.OutcomeFailed))
			} else {
				reaped, _ = apply[*rota.Reaped](y, late, &rota.Reap{Meta: rota.NewMeta("")})
			}
		})
		if finished == nil || reaped == nil {
			y.Fatal("a command was refused")
		}
		want(y, "either finished or reaped", (finished.Items[0].Code == "") != (len(reaped.Jobs) == 1), true)
		chain, err := y.s.Execution(y.ctx, j.ID)
		if err != nil {
			y.Fatal(err)
		}
		want(y, "attempts", len(chain), 2)
	}
}

func concurrentKeys(y *story) {
	submitConcurrently(y, func(n *rota.NewJob, k string) { n.UniqueKey = k })
}

func concurrentPlans(y *story) {
	submitConcurrently(y, func(n *rota.NewJob, k string) { n.Name, n.PlanTime = "plan-"+k, startTime })
}

// submitConcurrently enqueues jobs with the same key from several goroutines.
func submitConcurrently(y *story, setKey func(n *rota.NewJob, k string)) {
	for round := range 10 * scale(y) {
		answers := make([]rota.Submitted, 4)
		concurrently(len(answers), func(i int) {
			n := rota.NewJob{Type: "mail"}
			setKey(&n, strconv.Itoa(round))
			got, ok := apply[*rota.Enqueued](y, time.Time{}, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{n}})
			if ok {
				answers[i] = got.Jobs[0]
			}
		})
		created := 0
		for _, a := range answers {
			if a.Job == nil || a.Job.ID != answers[0].Job.ID {
				y.Fatalf("the answers name different jobs: %v", answers)
			}
			if !a.Duplicate {
				created++
			}
		}
		want(y, "jobs created", created, 1)
		want(y, "in the queue", len(y.queue()), round+1)
	}
}
