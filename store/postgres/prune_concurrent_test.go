package postgres

import (
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestConcurrentPrunesOfRetriedExecutions prunes the same executions in several transactions. Each
// reads the ids of the attempts first and the attempts then, and another may have deleted them
// in between.
func TestConcurrentPrunesOfRetriedExecutions(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for range 30 {
		executions := failedTwice(t, s, 20)
		var wg sync.WaitGroup
		var pruned [4]*rota.Pruned
		for i := range pruned {
			wg.Go(func() {
				pruned[i] = done[*rota.Pruned](t, s, &rota.Prune{Meta: rota.NewMeta(""), Executions: executions})
			})
		}
		wg.Wait()
		sum := 0
		for _, p := range pruned {
			sum += p.Executions
		}
		if sum != len(executions) {
			t.Fatalf("pruned %d executions, want %d", sum, len(executions))
		}
	}
}

// failedTwice returns executions whose first attempt and retry failed.
func failedTwice(t *testing.T, s *Store, count int) (executions []rota.ID) {
	t.Helper()
	jobs := make([]rota.NewJob, count)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "work", MaxRetries: new(1), Backoff: new(time.Duration(0))}
	}
	for _, one := range done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: jobs}).Jobs {
		executions = append(executions, one.Job.ID)
	}
	for range 2 {
		f := &rota.Finish{Meta: rota.NewMeta("")}
		for _, j := range done[*rota.Claimed](t, s, claimOf("w", count)).Jobs {
			ref := rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
			f.Items = append(f.Items, rota.FinishItem{LeaseRef: ref, Outcome: rota.OutcomeFailed, Error: "no such host"})
		}
		if len(f.Items) != count {
			t.Fatalf("claimed %d jobs, want %d", len(f.Items), count)
		}
		done[*rota.Finished](t, s, f)
	}
	return executions
}
