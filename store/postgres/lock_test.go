package postgres

import (
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// TestBatchesWithOppositeLockOrderDoNotDeadlock sends batches of two commands that need the same
// locks in opposite orders. The second lock is known only after the first command is decided.
func TestBatchesWithOppositeLockOrderDoNotDeadlock(t *testing.T) {
	a := openTest(t, Config{Logger: quiet})
	b := openAt(t, urlOf(a), Config{Logger: quiet})
	done[*rota.TypePut](t, a, &rota.PutType{Meta: rota.NewMeta(""), Name: "work"})
	steps := func(i int) (first, second rota.Command) {
		return &rota.SwitchType{Meta: rota.NewMeta(""), Name: "work", Paused: i%2 == 0},
			&rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{Global: i + 1}}
	}
	var both sync.WaitGroup
	for n, s := range []*Store{a, b} {
		both.Go(func() {
			for i := range 50 {
				first, second := steps(2*i + n)
				if n == 1 {
					first, second = second, first
				}
				if _, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{first, second}}); err != nil {
					t.Errorf("batch %d: %v", i, err)
				}
			}
		})
	}
	both.Wait()
	if found := rows(t, a, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)[0][0]; found != "0" {
		t.Errorf("%s deadlocks", found)
	}
}

func TestEveryKindHasALoader(t *testing.T) {
	if err := rules.CheckLoaders(loaders); err != nil {
		t.Error(err)
	}
}
