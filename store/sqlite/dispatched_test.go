package sqlite

import (
	"context"
	"errors"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

// TestFinishSeesChangesOfOtherConnection removes a run through another connection: Finish must not
// use the cached job.
func TestFinishSeesChangesOfOtherConnection(t *testing.T) {
	s := openTest(t, Config{})
	jobs := running(t, s, 2)
	sqlitetest.Damage(t, s.path, []string{sqlitetest.WithoutRun(":job"), `UPDATE rota_jobs SET run_id = NULL WHERE id = :job`}, jobs[0].ID)
	finish := &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{
		{LeaseRef: lease(jobs[0]), Outcome: rota.OutcomeCompleted}, {LeaseRef: lease(jobs[1]), Outcome: rota.OutcomeCompleted},
	}}
	answers := apply(t, s, at(0, finish))[0].Reply.(*rota.Finished).Items
	if answers[0].Code != rota.LeaseLost || answers[1].Code != "" {
		t.Errorf("answered with %+v", answers)
	}
}

// TestRolledBackClaimIsNotCached lets a claim fail: its jobs must not stay in the cache.
func TestRolledBackClaimIsNotCached(t *testing.T) {
	broken := false
	s := openTest(t, Config{injectFault: func(int) error {
		if broken {
			return errors.New("no")
		}
		return nil
	}})
	job := running(t, s, 1)[0]
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	broken = true
	if _, err := s.Apply(context.Background(), at(0, claim(1))); err == nil {
		t.Fatal("the claim was not refused")
	}
	broken = false
	w := <-s.writer
	known := len(w.dispatched.jobs)
	s.writer <- w
	if known != 0 {
		t.Errorf("%d jobs are cached", known)
	}
	item := rota.FinishItem{LeaseRef: lease(job), Outcome: rota.OutcomeCompleted}
	answers := apply(t, s, at(0, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}}))[0].Reply.(*rota.Finished).Items
	if answers[0].Code != "" {
		t.Errorf("answered with %+v", answers)
	}
	verifyClean(t, s)
}

// TestChangingClaimReplyDoesNotChangeCache changes the reply of a claim before the finish.
func TestChangingClaimReplyDoesNotChangeCache(t *testing.T) {
	s := openTest(t, Config{})
	job := running(t, s, 1)[0]
	ref := lease(job)
	job.Type, job.Attempt, job.Run.Outcome, job.Run.Token = "other", 9, rota.OutcomeFailed, rota.Token{}
	item := rota.FinishItem{LeaseRef: ref, Outcome: rota.OutcomeFailed}
	answers := apply(t, s, at(0, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}}))[0].Reply.(*rota.Finished).Items
	if answers[0].Code != "" {
		t.Errorf("answered with %+v", answers)
	}
	attempts, err := s.Execution(t.Context(), job.ID)
	must(t, err)
	if len(attempts) != 2 || attempts[1].Attempt != 2 || attempts[1].Type == "other" {
		t.Errorf("the attempts are %+v", attempts)
	}
	verifyClean(t, s)
}
