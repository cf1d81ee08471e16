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
	Piggyback(wrap.PiggybackFunc) (off func())
}

// TestAPassengerSharesTheBatch: its command stands behind the others, its
// answer is its own, and it is asked no more once it is off.
func TestAPassengerSharesTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // by then whoever applied has gone
		g := &gate{pass: make(chan error)}
		s := wrap.Coalesce(g)
		mine := &rota.Ready{Meta: rota.NewMeta("")}
		var arrived []rota.Result
		off := s.(piggybacker).Piggyback(func(commands []rota.Command) (rota.Command, func(rota.Result, error)) {
			if len(commands) != 1 {
				t.Errorf("asked about %d commands", len(commands))
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
		g.pass <- nil
		synctest.Wait()
		if a := <-answers; a.err != nil || len(a.results) != 1 || a.results[0].Err.Act != id.String() {
			t.Errorf("the caller got %+v", a)
		}
		if len(arrived) != 1 || arrived[0].Err.Act != mine.ID.String() {
			t.Errorf("the passenger got %+v", arrived)
		}
		off()
		send(context.Background(), s, answers)
		g.pass <- nil
		synctest.Wait()
		if len(g.batches) != 2 || len(g.batches[0]) != 2 || len(g.batches[1]) != 1 || len(arrived) != 1 {
			t.Errorf("applied %v, the passenger heard %d times", g.batches, len(arrived))
		}
	})
}

// TestAPassengerHearsOfAFailedBatch: nobody knows then whether its command was
// applied, and it hears so.
func TestAPassengerHearsOfAFailedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute)
		g := &gate{pass: make(chan error)}
		s := wrap.Coalesce(g)
		broken := errors.New("disk full")
		var heard error
		defer s.(piggybacker).Piggyback(func([]rota.Command) (rota.Command, func(rota.Result, error)) {
			return &rota.Ready{Meta: rota.NewMeta("")}, func(_ rota.Result, err error) { heard = err }
		})()
		answers := make(chan answer, 1)
		send(context.Background(), s, answers)
		g.pass <- broken
		synctest.Wait()
		if a := <-answers; !errors.Is(a.err, broken) || !errors.Is(heard, broken) {
			t.Errorf("the caller got %v, the passenger %v", a.err, heard)
		}
	})
}
