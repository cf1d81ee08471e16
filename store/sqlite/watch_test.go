package sqlite

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestNothingIsToldOfWhatFailed lets each statement of a command fail in turn:
// what was rolled back is not told of, and what is done at last is, once.
func TestNothingIsToldOfWhatFailed(t *testing.T) {
	told := 0
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			broken := errors.New("broken on purpose")
			failAt, seen := 0, 0
			s := openTest(t, Config{fault: func(int) error {
				seen++
				if seen == failAt {
					return broken
				}
				return nil
			}})
			batch := sc.play(t, s)
			var events []rota.Event
			defer s.Watch(func(more []rota.Event) { events = append(events, more...) })()
			for failAt = 1; ; failAt++ {
				seen = 0
				if _, err := s.Apply(context.Background(), batch); err == nil {
					break
				}
				if len(events) > 0 {
					t.Fatalf("statement %d failed, and %v was told", failAt, events)
				}
			}
			told += len(events)
		})
	}
	if told < len(scenes) {
		t.Errorf("all scenes together told of %d things", told)
	}
}

// TestHalvesOfABatchAreToldOnce: of a batch that the database refuses, its parts
// are applied one by one; what is told is what was done, in its order.
func TestHalvesOfABatchAreToldOnce(t *testing.T) {
	s := openTest(t, Config{})
	execute(t, plainConn(t, s.path), `CREATE TRIGGER poison BEFORE INSERT ON rota_jobs WHEN NEW.type = 'poison' BEGIN
  SELECT RAISE(ROLLBACK, 'no poison'); END`)
	var want, got []rota.ID
	defer s.Watch(func(events []rota.Event) {
		for _, e := range events {
			got = append(got, e.JobID)
		}
	})()
	batch := rota.Batch{Now: noon}
	for _, typ := range []string{"mail", "mail", "poison", "mail", "mail"} {
		c := enqueue(rota.NewJob{Type: typ})
		batch.Commands = append(batch.Commands, c)
		if typ != "poison" {
			want = append(want, c.JobID(0))
		}
	}
	results, err := s.Apply(t.Context(), batch)
	must(t, err)
	if results[2].Err == nil || results[1].Err != nil || results[3].Err != nil {
		t.Fatalf("the answers are %v", results)
	}
	if !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v", got, want)
	}
}

// TestAWatcherIsToldBeforeTheNextCommit: what is told lies behind, and nobody
// else writes meanwhile.
func TestAWatcherIsToldBeforeTheNextCommit(t *testing.T) {
	s := openTest(t, Config{})
	reader := plainConn(t, s.path)
	told := 0
	defer s.Watch(func(events []rota.Event) {
		told += len(events)
		if column(t, reader, `SELECT count(*) FROM rota_jobs`)[0] != "1" {
			t.Error("it was told before it was committed")
		}
		select {
		case <-s.writer:
			t.Error("the writer is free while watchers are told")
		default:
		}
	})()
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	apply(t, s, at(time.Second, claim(1)))
	if told != 2 {
		t.Errorf("told of %d things", told)
	}
}

// TestUnwatchedNothingIsMade: events cost those nothing who do not watch.
func TestUnwatchedNothingIsMade(t *testing.T) {
	s := openTest(t, Config{})
	stop := s.Watch(func([]rota.Event) {})
	stop()
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	w := <-s.writer
	defer s.release(w)
	if w.events != nil {
		t.Errorf("%v was made for nobody", w.events)
	}
}
