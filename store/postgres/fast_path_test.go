package postgres

import (
	"math"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/storetest"
)

// TestConformanceWithoutFastPaths runs the suite on the plain way of each transaction. Make deep
// runs all of it.
func TestConformanceWithoutFastPaths(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make test runs it")
	}
	h := harness(t, pgtest.Shared(t).URL, Config{Disable: EveryFastPath})
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.Subset(t, h)
}

// TestJobsRunWithoutEachFastPath runs jobs in batches of several sizes on stores that lack one fast
// path each, so that no fast path needs another one.
func TestJobsRunWithoutEachFastPath(t *testing.T) {
	t.Parallel()
	for _, path := range FastPaths() {
		t.Run(path.String(), func(t *testing.T) {
			t.Parallel()
			s := openTest(t, Config{Logger: quiet, Disable: path})
			want := 0
			for _, types := range [][]string{{"work"}, {"work"}, {"work", "other"}, {"work"}} {
				for _, n := range []int{1, 1, 1, 3, 2 * copyMin} {
					runJobs(t, s, types, n)
					want += n * len(types)
				}
			}
			if got := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE outcome = 'COMPLETED'`)[0][0]; got != itoa(want) {
				t.Errorf("%s jobs are completed, want %d", got, want)
			}
			for violation, err := range s.Verify(t.Context()) {
				t.Errorf("verify: %+v %v", violation, err)
			}
		})
	}
}

// runJobs enqueues n jobs of each type and claims them in the same batch, and then finishes them
// and claims again in the same batch.
func runJobs(t *testing.T, s *Store, types []string, n int) {
	t.Helper()
	enqueue := &rota.Enqueue{Meta: rota.NewMeta("")}
	for range n {
		for _, typ := range types {
			enqueue.Jobs = append(enqueue.Jobs, rota.NewJob{Type: typ})
		}
	}
	claim := claimOf("w", len(enqueue.Jobs))
	claim.Types = types
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueue, claim}})
	must(t, err)
	jobs := results[1].Reply.(*rota.Claimed).Jobs
	finish := &rota.Finish{Meta: rota.NewMeta("")}
	for i, j := range jobs {
		if j.ID != enqueue.JobID(i) {
			t.Errorf("job %d was claimed out of order", i)
		}
		finish.Items = append(finish.Items, rota.FinishItem{LeaseRef: j.Lease(), Outcome: rota.OutcomeCompleted})
	}
	results, err = s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{finish, claimOf("w", 1)}})
	must(t, err)
	if left := results[1].Reply.(*rota.Claimed).Jobs; len(jobs) != len(enqueue.Jobs) || len(left) > 0 {
		t.Errorf("%d of %d jobs were claimed, then %d more", len(jobs), len(enqueue.Jobs), len(left))
	}
}

// TestFastPathNames checks that a set of fast paths is what its names say.
func TestFastPathNames(t *testing.T) {
	for _, path := range append(FastPaths(), 0, IdlePath|RowCache, EveryFastPath) {
		if got, known := ParseFastPath(path.String()); got != path || !known {
			t.Errorf("%q stands for %b, want %b", path, got, path)
		}
	}
	if _, known := ParseFastPath("fast-path"); known {
		t.Error("an unknown fast path is accepted")
	}
	if n := len(FastPaths()); EveryFastPath != 1<<n-1 {
		t.Errorf("the set of all fast paths is %b; %d have names", EveryFastPath, n)
	}
}

// TestRoundTripsWithoutFastPaths counts the round trips of an enqueue and a claim in one batch on an
// idle store, without each of the fast paths that save some.
func TestRoundTripsWithoutFastPaths(t *testing.T) {
	s, p, _ := openIdle(t)
	for _, one := range []struct {
		off  FastPath
		want int
	}{
		{0, 1}, {IdlePath, 2}, {UnsentClaim, 2}, {UnreadNewJobs, 2}, {WebhookCache, 3}, {RowCache, 4}, {EveryFastPath, 5},
	} {
		least := math.MaxInt
		for range 10 { // a pause of the machine makes an assumption wrong
			s.config.Disable = 0
			waitIdle(t, s)
			s.config.Disable = one.off
			var jobs []*rota.Job
			n := p.count(func() { jobs = enqueueAndClaim(t, s, 1) })
			finish(t, s, jobs)
			if least = min(least, n); least <= one.want {
				break
			}
		}
		if least != one.want {
			t.Errorf("without %q: %d round trips, want %d", one.off, least, one.want)
		}
	}
}
