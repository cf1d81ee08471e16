package sqlite

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestFailedCommandPublishesNothing lets each statement of a command fail in turn: a rolled back
// transaction publishes no events, and the one that succeeds publishes them once.
func TestFailedCommandPublishesNothing(t *testing.T) {
	published := 0
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			broken := errors.New("broken on purpose")
			failAt, seen := 0, 0
			s := openTest(t, Config{injectFault: func(int) error {
				seen++
				if seen == failAt {
					return broken
				}
				return nil
			}})
			batch := sc.prepare(t, s)
			var events []rota.Event
			defer s.Watch(func(more []rota.Event) { events = append(events, more...) })()
			for failAt = 1; ; failAt++ {
				seen = 0
				if _, err := s.Apply(context.Background(), batch); err == nil {
					break
				}
				if len(events) > 0 {
					t.Fatalf("statement %d failed, and %v was published", failAt, events)
				}
			}
			published += len(events)
		})
	}
	if published < len(scenarios) {
		t.Errorf("all scenarios together published %d events", published)
	}
}

// TestSplitBatchPublishesEachEventOnce applies a batch that the database refuses and that is split:
// the events are those of the applied commands, in their order.
func TestSplitBatchPublishesEachEventOnce(t *testing.T) {
	s := openTest(t, Config{})
	execute(t, rawConn(t, s.path), `CREATE TRIGGER poison BEFORE INSERT ON rota_jobs WHEN NEW.type = 'poison' BEGIN
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
		t.Errorf("published events of %v, want %v", got, want)
	}
}

// TestWatcherIsCalledBetweenCommits checks that a watcher is called after the commit, and that no
// other batch is applied meanwhile.
func TestWatcherIsCalledBetweenCommits(t *testing.T) {
	s := openTest(t, Config{})
	reader := rawConn(t, s.path)
	published := 0
	defer s.Watch(func(events []rota.Event) {
		published += len(events)
		if column(t, reader, `SELECT count(*) FROM rota_jobs`)[0] != "1" {
			t.Error("the watcher was called before the commit")
		}
		select {
		case <-s.writer:
			t.Error("the writer is free during the call of the watcher")
		default:
		}
	})()
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	apply(t, s, at(time.Second, claim(1)))
	if published != 2 {
		t.Errorf("%d events were published", published)
	}
}

// TestNoEventsAreBuiltWithoutWatcher checks that events cost nothing if there are no watchers.
func TestNoEventsAreBuiltWithoutWatcher(t *testing.T) {
	s := openTest(t, Config{})
	stop := s.Watch(func([]rota.Event) {})
	stop()
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	w := <-s.writer
	defer s.release(w)
	if w.events != nil {
		t.Errorf("events were built without a watcher: %v", w.events)
	}
}
