package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

func TestReplicaNotesChangedExecutions(t *testing.T) {
	path := filepath.Join(sqlitetest.MemoryDir(t), "replica.db")
	open := func(track bool) *Replica {
		r, err := OpenReplica(path, Config{Track: track})
		must(t, err)
		return r
	}
	r := open(true)
	now, index := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), uint64(0)
	apply := func(c rota.Command) rota.Result {
		t.Helper()
		index++
		now = now.Add(time.Second)
		results, err := r.ApplyAt(t.Context(), rota.LogEntry{Log: "log", Index: index, Batch: rota.Batch{Now: now, Commands: []rota.Command{c}}})
		must(t, err)
		if results[0].Err != nil {
			t.Fatal(results[0].Err)
		}
		return results[0]
	}
	changed := func(want int) []ChangedExecution {
		t.Helper()
		all, err := r.Changed(t.Context(), 10)
		must(t, err)
		if len(all) != want {
			t.Fatalf("%d executions have changed, want %d: %+v", len(all), want, all)
		}
		return all
	}
	settledUpTo := func(want uint64) {
		t.Helper()
		if got, err := r.SettledUpTo(t.Context()); err != nil || got != want {
			t.Errorf("settled up to %d, %v; want %d", got, err, want)
		}
	}
	id, other := rota.NewID(), rota.NewID()
	apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{ID: id, Type: "a"}, {ID: other, Type: "a"}}})
	created, first := now, changed(2)
	settledUpTo(0)
	later := now.Add(time.Hour)
	apply(&rota.Edit{Meta: rota.NewMeta(""), JobID: id, RunAt: later})
	must(t, r.Settle(t.Context(), first))
	if again := changed(1); again[0].ID != id || again[0].Entry != 2 || len(again[0].Moved) != 1 || !again[0].Moved[0].Equal(created) {
		t.Errorf("after an edit of run_at: %+v", again)
	}
	settledUpTo(1)
	must(t, r.Settle(t.Context(), changed(1)))
	changed(0)
	settledUpTo(2)
	apply(&rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Incarnation: rota.NewID(), Types: []string{"a"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()})
	if got := changed(1); got[0].ID != other || got[0].Moved != nil {
		t.Errorf("after a claim: %+v", got)
	}
	must(t, r.SettleUpTo(t.Context(), 3))
	changed(0)

	third := rota.NewID()
	apply(&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{ID: third, Type: "a"}}})
	created = now
	apply(&rota.Cancel{Meta: rota.NewMeta(""), JobID: third})
	apply(&rota.Prune{Meta: rota.NewMeta(""), Executions: []rota.ID{third}})
	if got := changed(1); got[0].ID != third || len(got[0].Moved) != 1 || !got[0].Moved[0].Equal(created) {
		t.Errorf("after an execution was pruned that is not settled: %+v", got)
	}
	must(t, r.Settle(t.Context(), changed(1)))
	changed(0)

	must(t, r.Close())
	r = open(false)
	must(t, r.Close())
	if r = open(true); len(changed(2)) != 2 { // nobody has noted changes in the meantime
		t.Error("executions that have not ended are not noted")
	}
	must(t, r.Close())
}
