package wrap_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/wrap"
)

// gatedStore is a store whose Apply waits until it is released, so that a test can decide
// which calls share a batch.
type gatedStore struct {
	rota.Store
	mu         sync.Mutex
	batches    [][]rota.Command
	release    chan error
	batchesMax int
}

func (g *gatedStore) Limits() rota.Limits { return rota.Limits{Batches: g.batchesMax} }

func (g *gatedStore) Apply(_ context.Context, b rota.Batch) ([]rota.Result, error) {
	g.mu.Lock()
	g.batches = append(g.batches, b.Commands)
	g.mu.Unlock()
	if err := <-g.release; err != nil {
		return nil, err
	}
	results := make([]rota.Result, len(b.Commands))
	for i, c := range b.Commands {
		results[i].Err = &rota.Error{Act: c.Head().ID.String()}
	}
	return results, nil
}

type answer struct {
	id      rota.ID
	results []rota.Result
	err     error
}

// send applies one command in a goroutine.
func send(ctx context.Context, s rota.Store, answers chan<- answer) rota.ID {
	c := &rota.Ready{Meta: rota.NewMeta("")}
	go func() {
		results, err := s.Apply(ctx, rota.Batch{Commands: []rota.Command{c}})
		answers <- answer{c.ID, results, err}
	}()
	return c.ID
}

func TestConcurrentStoreGetsSeveralBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error), batchesMax: 2}
		s := wrap.Coalesce(g)
		answers := make(chan answer, 16)
		for round := range 3 { // with the same goroutines, after a pause, and after they have ended
			g.batches = nil
			for range 5 {
				send(context.Background(), s, answers)
				synctest.Wait()
			}
			if len(g.batches) != 2 || len(g.batches[0]) != 1 || len(g.batches[1]) != 1 {
				t.Fatalf("round %d: %d batches in flight; want two of one each", round, len(g.batches))
			}
			for range 3 {
				g.release <- nil
				synctest.Wait()
			}
			if len(g.batches) != 3 || len(g.batches[2]) != 3 {
				t.Fatalf("round %d: %d batches; want two alone and three together", round, len(g.batches))
			}
			for range 5 {
				if a := <-answers; a.err != nil || len(a.results) != 1 || a.results[0].Err.Act != a.id.String() {
					t.Errorf("round %d: %s got the answer of another call: %+v", round, a.id, a)
				}
			}
			time.Sleep(time.Duration(round) * 10 * time.Second)
		}
	})
}

func TestCallersDuringBatchShareNextBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error)}
		s := wrap.Coalesce(g)
		answers := make(chan answer, 16)
		for range 10 {
			send(context.Background(), s, answers)
			synctest.Wait()
		}
		g.release <- nil
		synctest.Wait()
		g.release <- nil
		synctest.Wait()
		if len(g.batches) != 2 || len(g.batches[0]) != 1 || len(g.batches[1]) != 9 {
			t.Fatalf("%d batches; want the first alone and nine together", len(g.batches))
		}
		for range 10 {
			a := <-answers
			if a.err != nil || len(a.results) != 1 || a.results[0].Err.Act != a.id.String() {
				t.Errorf("%s got the answer of another call: %+v", a.id, a)
			}
		}
	})
}

func TestFailedBatchFailsAllItsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error)}
		s := wrap.Coalesce(g)
		answers := make(chan answer, 4)
		send(context.Background(), s, answers)
		synctest.Wait()
		send(context.Background(), s, answers)
		send(context.Background(), s, answers)
		synctest.Wait()
		broken := errors.New("disk full")
		g.release <- nil
		synctest.Wait()
		g.release <- broken
		synctest.Wait()
		failed := 0
		for range 3 {
			if a := <-answers; errors.Is(a.err, broken) {
				failed++
			}
		}
		if failed != 2 {
			t.Fatalf("%d callers got the error, want the two that shared the batch", failed)
		}
	})
}

func TestCancelledCallerDoesNotAffectOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error)}
		s := wrap.Coalesce(g)
		answers := make(chan answer, 4)
		leaving, leave := context.WithCancel(context.Background())
		send(leaving, s, answers) // its batch is in flight
		synctest.Wait()
		send(leaving, s, answers) // waits
		synctest.Wait()
		stays := send(context.Background(), s, answers)
		synctest.Wait()
		leave()
		for range 2 {
			if a := <-answers; a.id == stays || !errors.Is(a.err, context.Canceled) {
				t.Fatalf("%+v, want the cancelled callers to return at once", a)
			}
		}
		g.release <- nil
		g.release <- nil
		if a := <-answers; a.id != stays || a.err != nil || len(a.results) != 1 {
			t.Errorf("the remaining caller got %+v", a)
		}
		if len(g.batches) != 2 || len(g.batches[0]) != 1 || len(g.batches[1]) != 1 {
			t.Errorf("%d batches; want the one in flight applied, and the cancelled call that waited left out", len(g.batches))
		}
	})
}

func TestBatchWithOwnTimeIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error, 2)}
		g.release <- nil
		s := wrap.Coalesce(g)
		c := &rota.Ready{Meta: rota.NewMeta("")}
		if _, err := s.Apply(context.Background(), rota.Batch{Now: c.ID.Time(), Commands: []rota.Command{c}}); err != nil {
			t.Fatal(err)
		}
		if len(g.batches) != 1 {
			t.Fatal("the batch did not reach the store")
		}
	})
}

// panickingStore is a store whose Apply panics.
type panickingStore struct {
	rota.Store
	release chan struct{}
}

func (*panickingStore) Limits() rota.Limits { return rota.Limits{} }

func (b *panickingStore) Apply(context.Context, rota.Batch) ([]rota.Result, error) {
	<-b.release
	panic("a defect")
}

func TestPanicOfStoreAnswersAllCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		b := &panickingStore{release: make(chan struct{})}
		s := wrap.Coalesce(b)
		answers := make(chan answer, 4)
		for range 3 {
			send(context.Background(), s, answers)
			synctest.Wait()
		}
		close(b.release)
		synctest.Wait()
		for range 3 {
			if a := <-answers; rota.CodeOf(a.err) != rota.Internal {
				t.Errorf("got %v, want Internal", a.err)
			}
		}
	})
}

func TestSharedBatchIsBoundedBySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // for the idle goroutines to end
		g := &gatedStore{release: make(chan error)}
		s := wrap.Coalesce(g)
		for range 5 {
			go func() {
				c := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: make([]rota.NewJob, 900)}
				_, _ = s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{c}})
			}()
			synctest.Wait()
		}
		for range 3 {
			g.release <- nil
			synctest.Wait()
		}
		var sizes []int
		for _, b := range g.batches {
			sizes = append(sizes, len(b))
		}
		if !slices.Equal(sizes, []int{1, 2, 2}) {
			t.Errorf("batches of %v commands with 900 jobs each, want 1, 2 and 2", sizes)
		}
	})
}
