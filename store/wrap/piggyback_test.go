package wrap_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/wrap"
)

type piggybacker interface {
	Piggyback(wrap.PiggybackFunc) (stop func())
}

// The piggybacked command is the last of the batch and gets its own answer. After stop the
// function is not called again.
func TestPiggybackedCommandSharesBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error)}
		s := wrap.Coalesce(g)
		mine := &rota.Ready{Meta: rota.NewMeta("")}
		var arrived []rota.Result
		stop := s.(piggybacker).Piggyback(func(commands []rota.Command) (rota.Command, func(rota.Result, error)) {
			if len(commands) != 1 {
				t.Errorf("called with %d commands", len(commands))
			}
			return mine, func(r rota.Result, err error) {
				if err != nil {
					t.Error(err)
				}
				arrived = append(arrived, r)
			}
		})
		idle := s.(piggybacker).Piggyback(func([]rota.Command) (rota.Command, func(rota.Result, error)) { return nil, nil })
		defer idle()
		answers := make(chan answer, 4)
		id := send(context.Background(), s, answers)
		g.release <- nil
		synctest.Wait()
		if a := <-answers; a.err != nil || len(a.results) != 1 || a.results[0].Err.Act != id.String() {
			t.Errorf("the caller got %+v", a)
		}
		if len(arrived) != 1 || arrived[0].Err.Act != mine.ID.String() {
			t.Errorf("the piggybacked command got %+v", arrived)
		}
		stop()
		send(context.Background(), s, answers)
		g.release <- nil
		synctest.Wait()
		if len(g.batches) != 2 || len(g.batches[0]) != 2 || len(g.batches[1]) != 1 || len(arrived) != 1 {
			t.Errorf("applied %v, answered %d times", g.batches, len(arrived))
		}
	})
}

// The answer is the error of the batch: it is unknown whether the command was applied.
func TestPiggybackedCommandGetsErrorOfFailedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute)
		g := &gatedStore{release: make(chan error)}
		s := wrap.Coalesce(g)
		broken := errors.New("disk full")
		var answered error
		defer s.(piggybacker).Piggyback(func([]rota.Command) (rota.Command, func(rota.Result, error)) {
			return &rota.Ready{Meta: rota.NewMeta("")}, func(_ rota.Result, err error) { answered = err }
		})()
		answers := make(chan answer, 1)
		send(context.Background(), s, answers)
		g.release <- broken
		synctest.Wait()
		if a := <-answers; !errors.Is(a.err, broken) || !errors.Is(answered, broken) {
			t.Errorf("the caller got %v, the piggybacked command %v", a.err, answered)
		}
	})
}
