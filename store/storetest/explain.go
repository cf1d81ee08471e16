package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

func testExplain(t *testing.T, h Harness) {
	s := h.Open(t)
	explains := !isModel(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !explains {
		t.Skip("the model does not explain jobs")
	}
	stories := []namedStory{
		{"an ended job is explained by how it ended", explainEnded},
		{"a running job is explained by its worker", explainRunning},
		{"a retried job is explained by its last attempt", explainRetried},
		{"a redriven job is explained by its redrive", explainRedriven},
		{"an unknown job is not found", explainNotFound},
		{"a paused type is a reason", explainPaused},
		{"a delay is a reason, with its time", explainDelay},
		{"an unmet dependency is a reason, with its state", explainDependency},
		{"a paused or disabled dependency is a reason", explainDependencyPaused},
		{"an unmet dependency names its scope", explainDependencyScope},
		{"an earlier group member is a reason", explainGroup},
		{"an ended group is a reason", explainEnding},
		{"an earlier execution of the schedule is a reason", explainOverlap},
		{"a key at its limit is a reason", explainKey},
		{"a limit of each key is a reason that names where it is set", explainEachKey},
		{"a type limit and the global limit are reasons", explainLimits},
		{"an exhausted rate is a reason", explainRate},
		{"a reserved node is a reason", explainReservation},
		{"the number of earlier ready jobs is a reason", explainOrder},
		{"every reason that holds a job back is listed", explainEverything},
	}
	for i := range stories {
		run := stories[i].run
		// Explanations use the clock of the store.
		stories[i].run = func(y *story) { y.now = currentTime(); run(y) }
	}
	runStories(t, h, stories)
	if h.slice {
		return
	}
	t.Run("reasons agree with what a claim does", func(t *testing.T) { explainAgrees(t, h) })
}

func currentTime() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// isModel reports whether the store is the model, which does not explain jobs.
func isModel(s rota.Store) bool {
	_, is := s.(*model.Model)
	return is
}

// explainAll wants every queued job of a store to have valid reasons.
func explainAll(ctx context.Context, s rota.Store) error {
	if isModel(s) {
		return nil
	}
	for q := (rota.JobQuery{Status: rota.StatusQueued, Limit: rota.PageMax}); ; {
		jobs, err := s.Jobs(ctx, q)
		if err != nil || len(jobs) == 0 {
			return err
		}
		for _, j := range jobs {
			reasons, err := s.Explain(ctx, j.ID)
			if err != nil {
				return err
			}
			if wrong := reasonProblem(j, reasons); wrong != "" {
				return fmt.Errorf("job %s, %s with hold %05b: %s: %+v", j.ID, j.Status, j.Hold, wrong, reasons)
			}
		}
		q.Before = jobs[len(jobs)-1].ID
	}
}

// reasonProblem returns what is wrong with the reasons of a job. It is empty if they are valid.
func reasonProblem(j *rota.Job, reasons []rota.Reason) string {
	place := func(r rota.Reason) int { return slices.Index(rota.ReasonCodes, r.Code) }
	for _, r := range reasons {
		if place(r) < 0 || strings.TrimSpace(r.Text) == "" || strings.TrimSpace(r.Remedy) == "" {
			return "a reason without a known code, a text or a remedy"
		}
	}
	codes := codesOf(reasons)
	switch {
	case len(reasons) == 0:
		return "no reason"
	case !slices.IsSortedFunc(reasons, func(a, b rota.Reason) int { return cmp.Compare(place(a), place(b)) }):
		return "reasons out of order"
	case j.Ready() && !strings.HasSuffix(codes, string(rota.ReasonOrder)):
		return "ready, but the last reason is not the order"
	case j.Status != rota.StatusQueued && len(reasons) != 1:
		return "more than one reason"
	case (j.Status == rota.StatusQueued) == (codes == string(rota.ReasonEnded) || codes == string(rota.ReasonRunning)):
		return "a reason that does not fit its status"
	}
	return ""
}

func codesOf(reasons []rota.Reason) string {
	return joinNames(reasons, func(r rota.Reason) string { return string(r.Code) })
}

// wantReasons returns the reasons of a job. They must be valid and have these codes.
func (y *story) wantReasons(j *rota.Job, codes ...rota.ReasonCode) []rota.Reason {
	y.Helper()
	all, err := y.s.Explain(y.ctx, j.ID)
	must(y, "explain", all, err)
	if wrong := reasonProblem(y.lastAttempt(j.ID), all); wrong != "" {
		y.Errorf("%s: %+v", wrong, all)
	}
	if got, w := codesOf(all), joinNames(codes, func(c rota.ReasonCode) string { return string(c) }); got != w {
		y.Fatalf("the reasons are %s, want %s: %+v", got, w, all)
	}
	return all
}

// wantWords wants a reason to contain words, in its text or in its remedy.
func wantWords(y *story, r rota.Reason, words ...string) {
	y.Helper()
	for _, word := range words {
		if !strings.Contains(r.Text+"\n"+r.Remedy, word) {
			y.Errorf("%s: %s is missing in: %s %s", r.Code, word, r.Text, r.Remedy)
		}
	}
}
