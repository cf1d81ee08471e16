package sqlite

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// conflictingTx is the writer with a Lock that reports changed rows, as in a store with several
// writers.
type conflictingTx struct {
	*writer
	conflicts  int
	beforeLock func()
	locks      rules.Locks
}

func (o *conflictingTx) Lock(w *rules.UnitOfWork) (bool, error) {
	o.locks = w.Locks()
	if o.conflicts == 0 {
		return false, nil
	}
	o.conflicts--
	if o.beforeLock != nil {
		o.beforeLock()
	}
	return true, nil
}

// inTransaction calls a function inside a transaction of the writer.
func inTransaction(t *testing.T, s *Store, use func(w *writer)) {
	t.Helper()
	w, err := s.acquire(context.Background())
	must(t, err)
	defer s.release(w)
	must(t, w.begin(context.Background()))
	w.audit = w.audit[:0]
	use(w)
	must(t, w.sealAudit())
	must(t, w.exec(sqlCommit))
}

func TestStepIsRetriedWhenRowsChangeBeforeLock(t *testing.T) {
	s := openTest(t, Config{})
	job := queued(t, s, 1)[0]
	cancel := at(2*time.Second, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: job.ID})
	inTransaction(t, s, func(w *writer) {
		tx := &conflictingTx{writer: w, conflicts: 1}
		tx.beforeLock = func() { // another process claims the job that is being cancelled
			_, err := rules.Apply(w, at(time.Second, claim(1)))
			must(t, err)
		}
		results, err := rules.Apply(tx, cancel)
		must(t, err)
		if reply, ok := results[0].Reply.(*rota.CancelledJob); !ok || !reply.Stopping {
			t.Errorf("the step was not decided again: %+v", results[0])
		}
		if !slices.Contains(tx.locks.Jobs, job.ID) {
			t.Errorf("not all rows that were read are locked: %+v", tx.locks)
		}
	})
	verifyClean(t, s)
}

func TestStepIsBusyAfterTooManyRetries(t *testing.T) {
	s := openTest(t, Config{})
	inTransaction(t, s, func(w *writer) {
		_, err := rules.Apply(&conflictingTx{writer: w, conflicts: 1000}, at(0, enqueue(rota.NewJob{Type: "mail"})))
		if rota.CodeOf(err) != rota.Busy {
			t.Errorf("got %v, want Busy", err)
		}
	})
	if got := dump(t, s); got != dump(t, openTest(t, Config{})) {
		t.Errorf("the store has changed:\n%s", got)
	}
}

func TestLocksListWhatWasReadByKey(t *testing.T) {
	s := openTest(t, Config{})
	inTransaction(t, s, func(w *writer) {
		tx := &conflictingTx{writer: w}
		_, err := rules.Apply(tx, at(0, enqueue(rota.NewJob{Type: "web", UniqueKey: "b"}, rota.NewJob{Type: "mail", UniqueKey: "a"})))
		must(t, err)
		for _, want := range []rules.Lock{
			{Class: rules.LockUniqueKey, Name: "web\x00b"},
			{Class: rules.LockUniqueKey, Name: "mail\x00a"},
			{Class: rules.LockType, Name: "web"},
			{Class: rules.LockType, Name: "mail"},
		} {
			if !slices.Contains(tx.locks.Names, want) {
				t.Errorf("%+v is missing: %+v", want, tx.locks)
			}
		}
		c := claim(1)
		_, err = rules.Apply(tx, at(0, c))
		must(t, err)
		if !slices.Contains(tx.locks.Names, rules.Lock{Class: rules.LockCommand, Name: string(c.ID[:])}) {
			t.Errorf("a claim does not lock its own id: %+v", tx.locks)
		}
	})
}
