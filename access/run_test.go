package access_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// onBothStores runs a test on a store of each kind.
func onBothStores(t *testing.T, test func(t *testing.T, s *site)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newSite(t)) })
	t.Run("postgres", func(t *testing.T) {
		cluster := pgtest.Shared(t)
		store, err := postgres.OpenWith(cluster.URL(cluster.NewDatabase(t, "")), postgres.Config{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		test(t, siteOf(t, store))
	})
}

// fail claims and fails the next job, which becomes a retry or a dead letter.
func (s *site) fail(item rota.FinishItem) {
	s.t.Helper()
	claimed := s.must(&rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"noop"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken()}).(*rota.Claimed)
	if len(claimed.Jobs) != 1 {
		s.t.Fatalf("%d jobs were claimed", len(claimed.Jobs))
	}
	item.LeaseRef, item.Outcome = claimed.Jobs[0].Lease(), rota.OutcomeFailed
	s.must(&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}})
}

// TestLaterAttemptsDoNotRunForANewUser drops and creates the user of a job again before a retry and a redrive of the job are
// created. The rights are those of the first attempt.
func TestLaterAttemptsDoNotRunForANewUser(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *site) {
		ctx := context.Background()
		s.users("ada")
		retries, backoff := 1, time.Second
		job := s.must(&rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "noop", MaxRetries: &retries, Backoff: &backoff}}}).(*rota.Enqueued).Jobs[0].Job
		runs := func(j *rota.Job, want rota.Code) {
			t.Helper()
			if _, err := s.directory.RunRights(ctx, j); rota.CodeOf(err) != want {
				t.Errorf("attempt %d of %s: %v, want %q", j.Attempt, j.ID, err, want)
			}
		}
		runs(job, "")
		s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "ada", Kind: rota.KindUser})
		s.users("ada")
		s.fail(rota.FinishItem{Error: "no"})
		retry, err := s.store.LastAttempt(ctx, job.ID)
		if err != nil || retry.Attempt != 2 || retry.RunsFor() != "ada" {
			t.Fatalf("%+v, %v", retry, err)
		}
		runs(retry, rota.Denied)
		if _, err := s.as("ada").Job(ctx, retry.ID); rota.CodeOf(err) != rota.NotFound {
			t.Errorf("the new user sees a retry of the old one's job: %v", err)
		}
		s.must(&rota.Ready{Meta: rota.NewMeta("")})
		s.fail(rota.FinishItem{Error: "no", Permanent: true})
		redrive := func(actor string, id rota.ID) *rota.Job {
			return s.must(&rota.Redrive{Meta: rota.NewMeta(actor), JobID: id}).(*rota.Redriven).Job
		}
		again := redrive("admin", job.ID)
		runs(again, rota.Denied)
		s.fail(rota.FinishItem{Error: "no", Permanent: true})
		runs(redrive("admin", again.ID), rota.Denied)

		own := s.must(&rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "noop", MaxRetries: &retries, Backoff: &backoff}}}).(*rota.Enqueued).Jobs[0].Job
		runs(own, "")
	})
}
