package access_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/internal/buffertx"
	"github.com/rotajobs/rota/store/sqlite"
)

// newTxSite is a site whose store has transactions that the test controls.
func newTxSite(t *testing.T) (*site, *buffertx.Store) {
	t.Helper()
	s := newSite(t)
	store := buffertx.New(t, s.store, func(path string) (rota.Store, error) {
		return sqlite.OpenWith(path, sqlite.Config{AllowMoved: true, Clock: clock})
	})
	return siteOf(t, store), store
}

// note is a payload.
type note struct{}

func (note) JobType() string { return "noop" }

func TestTransactionNeedsTheRightsOfItsCommands(t *testing.T) {
	s, store := newTxSite(t)
	s.users("ada", "bob")
	s.must(&rota.PutType{Meta: rota.NewMeta("admin"), Name: "noop", Spec: rota.TypeSpec{Schema: json.RawMessage(`{"type": "object"}`)}}) // so that no client declares it
	s.grant("ada", rota.CreateJob, "")
	for user, allowed := range map[string]bool{"ada": true, "bob": false, rota.AdminUser: true} {
		client, tx := rota.New(s.as(user), rota.WithActor("somebody else")), store.Begin()
		_, plain := client.Enqueue(t.Context(), note{})
		job, err := client.EnqueueTx(t.Context(), tx, note{})
		schedule := client.ScheduleTx(t.Context(), tx, "nightly-"+user, note{}, rota.Every(time.Hour))
		if commit := tx.Commit(); commit != nil {
			t.Fatal(commit)
		}
		if !allowed {
			if rota.CodeOf(err) != rota.Denied || rota.CodeOf(schedule) != rota.Denied || err.Error() != plain.Error() {
				t.Errorf("%s: %v, %v; without a transaction %v", user, err, schedule, plain)
			}
			continue
		}
		if err != nil || schedule != nil || plain != nil {
			t.Errorf("%s: %v, %v, %v", user, err, schedule, plain)
			continue
		}
		if stored, err := store.Job(t.Context(), job.ID); err != nil || stored.CreatedBy != user {
			t.Errorf("%s: %+v, %v", user, stored, err)
		}
	}
	for _, name := range []string{"nightly-ada", "nightly-bob"} {
		if _, err := store.Schedule(t.Context(), name); (err == nil) != (name == "nightly-ada") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A transaction is one more way to the store. It must not lead around the Guard.
func TestStoreAsFindsGuardForTransactions(t *testing.T) {
	s, store := newTxSite(t)
	s.users("bob")
	guard := s.as("bob")
	if found, is := rota.StoreAs[rota.TxStore](guard); !is || found != rota.TxStore(guard) {
		t.Fatalf("it found %T", found)
	}
	if _, wraps := any(guard).(interface{ Unwrap() rota.Store }); wraps {
		t.Error("the store behind the Guard can be reached")
	}
	tx := store.Begin()
	for _, command := range []rota.Command{
		&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: rota.LeaseRef{JobID: rota.NewID(), RunID: rota.NewID(), Token: rota.NewToken()}, Outcome: rota.OutcomeCompleted}}},
		&rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "eve", Kind: rota.KindUser, Mode: rota.PutCreate},
		&rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"bob"}, Privileges: []rota.Privilege{rota.Admin}},
	} {
		results, pending, err := rota.ApplyTx(t.Context(), guard, tx, rota.Batch{Commands: []rota.Command{command}})
		if err != nil || results[0].Err == nil || results[0].Err.Code != rota.Denied {
			t.Errorf("%s: %+v, %v", command.Verb(), results, err)
		}
		if <-pending.Done(); pending.Committed() {
			t.Errorf("%s: it was committed", command.Verb())
		}
	}
}

// Even an administrator sends no command that only Rota itself sends.
func TestAdminSendsNoInternalCommandInTransaction(t *testing.T) {
	s, store := newTxSite(t)
	batch := rota.Batch{Commands: []rota.Command{
		&rota.Reap{Meta: rota.NewMeta("")},
		&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "noop"}}},
	}}
	tx := store.Begin()
	results, pending, err := s.directory.Guard(access.Admin()).ApplyTx(context.Background(), tx, batch)
	if err != nil || results[0].Err == nil || results[0].Err.Code != rota.Denied || results[1].Err != nil {
		t.Fatalf("%+v, %v", results, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if <-pending.Done(); !pending.Committed() {
		t.Error("it was not committed")
	}
}

// changingTx changes a template between the check of a command and its transaction.
type changingTx struct {
	*buffertx.Store
	change func()
	calls  int
}

func (c *changingTx) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	if c.calls++; c.calls == 1 {
		c.change()
	}
	return c.Store.ApplyTx(ctx, tx, b)
}

// The command is checked again, and the two batches are one work.
func TestCommandInTransactionIsCheckedAgainIfItsTemplateChanged(t *testing.T) {
	for _, commits := range []bool{true, false} {
		base, store := newTxSite(t)
		changing := &changingTx{Store: store}
		s := siteOf(t, changing)
		s.users("ada")
		s.must(&rota.PutTemplate{Meta: rota.NewMeta("admin"), Name: "job", Spec: rota.TemplateSpec{Type: "noop"}})
		s.grant("ada", rota.ExecuteJob, "job")
		changing.change = func() {
			base.must(&rota.PutTemplate{Meta: rota.NewMeta("admin"), Name: "job", Spec: rota.TemplateSpec{Type: "noop", Description: "changed"}})
		}
		tx := store.Begin()
		results, pending, err := rota.ApplyTx(t.Context(), s.as("ada"), tx, rota.Batch{Commands: []rota.Command{
			&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}},
		}})
		if err != nil || results[0].Err != nil || changing.calls != 2 {
			t.Fatalf("%d calls, %+v, %v", changing.calls, results, err)
		}
		select {
		case <-pending.Done():
			t.Error("it ended before the transaction")
		default:
		}
		if commits {
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		tx.Rollback()
		if <-pending.Done(); pending.Committed() != commits {
			t.Errorf("committed: %v, want %v", pending.Committed(), commits)
		}
	}
}
