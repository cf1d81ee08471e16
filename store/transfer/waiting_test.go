package transfer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest"
	"github.com/rotajobs/rota/store/transfer"
)

// TestCopyWithoutHistoryBehavesAlike copies random stores without history. Then the source and the
// copy receive the same commands: they dispatch the same jobs in the same order, hold the same unique
// keys and idempotency keys, and fire the same schedules.
func TestCopyWithoutHistoryBehavesAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first, second := newFile(t), newFile(t)
		if rapid.Bool().Draw(rt, "to PostgreSQL") {
			second = newDatabase(t)
		}
		log := storetest.RandomLog(rt, 40)
		fill(t, first, log[:25])
		if _, err := copyStore(t, first, second, transfer.Options{}); err != nil {
			rt.Fatalf("copy: %v", err)
		}
		was, err := first.open(t, true)
		must(t, err)
		defer was.Close()
		is, err := second.open(t, false)
		must(t, err)
		defer is.Close()
		compare(rt, "the queue", was, is, queueText)
		compare(rt, "the dead letters", was, is, deadText)
		now, sent := log[24].Now, commandIDs(log[:25])
		for _, b := range log[25:] {
			now = b.Now
			if b.Commands = slices.DeleteFunc(slices.Clone(b.Commands), func(c rota.Command) bool { return !independentOfHistory(c) || sent[headID(c)] }); len(b.Commands) == 0 {
				continue
			}
			sameAnswers(rt, was, is, b)
		}
		for range 4 { // execute everything
			claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "last", Types: typesOf(rt, was), Limit: 50, Lease: rota.LeaseMax, Seed: rota.NewToken()}
			results := sameAnswers(rt, was, is, rota.Batch{Now: now, Commands: []rota.Command{&rota.Ready{Meta: rota.NewMeta("")}, claim}})
			if finish := finishAll(results); len(finish.Items) > 0 {
				sameAnswers(rt, was, is, rota.Batch{Now: now, Commands: []rota.Command{finish}})
			}
		}
		compare(rt, "the queue at the end", was, is, queueText)
	})
}

// independentOfHistory reports whether the answer to a command depends only on what a copy without
// history takes. A command about one job may name one that has ended.
func independentOfHistory(c rota.Command) bool {
	if enqueue, is := c.(*rota.Enqueue); is && enqueue != nil {
		for _, j := range enqueue.Jobs {
			if !j.ID.IsZero() {
				return false // the id of a job that has ended is taken only as long as the job exists
			}
		}
	}
	switch c.Verb() {
	case rota.VerbReady, rota.VerbClaim, rota.VerbReap, rota.VerbEnqueue, rota.VerbFire, rota.VerbTrigger, rota.VerbSweep, rota.VerbExpire,
		rota.VerbRemember, rota.VerbPutSchedule, rota.VerbSwitchSchedule, rota.VerbPutThrottle, rota.VerbSwitchType, rota.VerbEnqueueGroup:
		return c.Validate() == nil
	}
	return false
}

func commandIDs(log []rota.Batch) map[rota.ID]bool {
	ids := map[rota.ID]bool{}
	for _, b := range log {
		for _, c := range b.Commands {
			ids[headID(c)] = true
		}
	}
	return ids
}

func headID(c rota.Command) (id rota.ID) {
	defer func() { _ = recover() }() // some commands of the generator are nil
	return c.Head().ID
}

func sameAnswers(rt *rapid.T, was, is rota.Store, b rota.Batch) []rota.Result {
	rt.Helper()
	want, err := was.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("source: %v", err)
	}
	got, err := is.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("copy: %v", err)
	}
	if w, g := storetest.Answers(want), storetest.Answers(got); w != g {
		rt.Fatalf("the copy answers\n%s\nthe source\n%s\n%+v", firstDifference(g, w), firstDifference(w, g), b)
	}
	return got
}

// firstDifference returns the lines around the first that differs.
func firstDifference(a, b string) string {
	lines, others := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < len(lines) && i < len(others) && lines[i] == others[i] {
		i++
	}
	return strings.Join(lines[max(0, i-5):min(len(lines), i+10)], "\n")
}

func finishAll(results []rota.Result) *rota.Finish {
	finish := &rota.Finish{Meta: rota.NewMeta("")}
	for _, r := range results {
		claimed, ok := r.Reply.(*rota.Claimed)
		if !ok {
			continue
		}
		for i, j := range claimed.Jobs {
			outcome := rota.OutcomeCompleted
			if i%3 == 2 {
				outcome = rota.OutcomeFailed
			}
			ref := rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
			finish.Items = append(finish.Items, rota.FinishItem{LeaseRef: ref, Outcome: outcome})
		}
	}
	return finish
}

// typesOf returns the types of the jobs in the queue.
func typesOf(rt *rapid.T, s rota.Store) []string {
	types := []string{"none"}
	for _, j := range queue(rt, s) {
		types = append(types, j.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func compare(rt *rapid.T, what string, was, is rota.Store, text func(*rapid.T, rota.Store) string) {
	rt.Helper()
	if w, g := text(rt, was), text(rt, is); w != g {
		rt.Fatalf("%s of the copy:\n%s\nof the source:\n%s", what, g, w)
	}
}

func queue(rt *rapid.T, s rota.Store) []*rota.Job {
	jobs, err := s.Queue(context.Background(), rota.ID{}, rota.PageMax)
	if err != nil {
		rt.Fatal(err)
	}
	return jobs
}

// queueText lists the jobs of the queue in order, with the reasons why each does not run.
func queueText(rt *rapid.T, s rota.Store) string {
	var b strings.Builder
	for _, j := range queue(rt, s) {
		fmt.Fprintf(&b, "%s %s hold %d attempt %d:", j.ID, j.Type, j.Hold, j.Attempt)
		reasons, err := s.Explain(context.Background(), j.ID)
		if err != nil {
			rt.Fatal(err)
		}
		for _, r := range reasons {
			fmt.Fprintf(&b, " %s", r.Code)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func deadText(rt *rapid.T, s rota.Store) string {
	jobs, err := s.Jobs(context.Background(), rota.JobQuery{Dead: true, Limit: rota.PageMax})
	if err != nil {
		rt.Fatal(err)
	}
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&b, "%s %d\n", j.ID, j.Attempt)
	}
	return b.String()
}
