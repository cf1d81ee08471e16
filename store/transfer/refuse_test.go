package transfer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/transfer"
)

// enqueue adds a job.
func enqueue(t testing.TB, s rota.Store) error {
	t.Helper()
	command := &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "mail.send"}}}
	_, err := rota.Do[*rota.Enqueued](t.Context(), s, command)
	return err
}

// filled returns a place with one job.
func filled(t testing.TB, at place) place {
	t.Helper()
	s, err := at.open(t, false)
	must(t, err)
	must(t, enqueue(t, s))
	must(t, s.Close())
	return at
}

// wantError fails the test unless an error has a code and contains words.
func wantError(t testing.TB, err error, code rota.Code, words ...string) {
	t.Helper()
	if rota.CodeOf(err) != code {
		t.Errorf("error %v, want %s", err, code)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not contain %q", err, word)
		}
	}
}

// heartbeat records a live server in the store of a database.
func heartbeat(t testing.TB, s rota.Store) {
	t.Helper()
	_, err := s.(rota.Membership).Heartbeat(t.Context(), rota.NodeHeartbeat{Node: "web-1", Incarnation: rota.NewID(), Lease: time.Hour})
	must(t, err)
}

// TestCopyRefusesStoresInUse opens both kinds of stores while a server uses them.
func TestCopyRefusesStoresInUse(t *testing.T) {
	for name, at := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			s, err := at.open(t, false)
			must(t, err)
			if _, is := at.(database); is {
				heartbeat(t, s)
			}
			_, err = at.source()
			wantError(t, err, rota.Busy)
			_, err = at.target()
			wantError(t, err, rota.Busy)
			must(t, s.Close())
		})
	}
}

// TestStoreCannotBeOpenedDuringCopy opens a source while it is copied.
func TestStoreCannotBeOpenedDuringCopy(t *testing.T) {
	for name, at := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			filled(t, at)
			source, err := at.source()
			must(t, err)
			_, err = at.open(t, false)
			wantError(t, err, rota.Busy)
			_, err = at.target()
			wantError(t, err, rota.Busy)
			must(t, source.Close())
			s, err := at.open(t, false) // the source is unchanged
			must(t, err)
			must(t, s.Close())
		})
	}
}

// TestMovedStoreRefusesToOpen opens the source after the copy, without and with AllowMoved.
func TestMovedStoreRefusesToOpen(t *testing.T) {
	for name, from := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			to := newFile(t)
			result, err := copyStore(t, filled(t, from), to, transfer.Options{})
			must(t, err)
			_, err = copyStore(t, from, newFile(t), transfer.Options{})
			wantError(t, err, rota.Conflict, "was moved to "+result.To)
			_, err = from.open(t, false)
			wantError(t, err, rota.Conflict, "was moved to "+result.To+" at 2026-11-15T03:00:00Z", "--allow-moved")
			s, err := from.open(t, true)
			must(t, err)
			must(t, enqueue(t, s))
			must(t, s.Close())
			s, err = from.open(t, false) // the mark is removed
			must(t, err)
			must(t, enqueue(t, s))
			must(t, s.Close())
			_, err = copyStore(t, from, newFile(t), transfer.Options{})
			must(t, err)
		})
	}
}

// TestMovedStoreRefusesOpenClients: a process that had the store open during the copy cannot add jobs
// that no server would run.
func TestMovedStoreRefusesOpenClients(t *testing.T) {
	from := filled(t, newDatabase(t))
	client, err := from.open(t, false)
	must(t, err)
	defer client.Close()
	_, err = copyStore(t, from, newFile(t), transfer.Options{})
	must(t, err)
	wantError(t, enqueue(t, client), rota.Conflict, "moved to another one")
}

// TestMarkHasNoPassword copies between URLs with passwords.
func TestMarkHasNoPassword(t *testing.T) {
	at := newDatabase(t).(database)
	url := strings.Replace(string(at), "postgres://", "postgres://postgres:topsecret@", 1)
	if i := strings.Index(string(at), "@"); i >= 0 {
		url = strings.Replace(string(at), "@", ":topsecret@", 1)
	}
	from := filled(t, newFile(t))
	result, err := copyStore(t, from, database(url), transfer.Options{})
	must(t, err)
	_, err = from.open(t, false)
	wantError(t, err, rota.Conflict, "moved to postgres://")
	if strings.Contains(result.To+err.Error(), "topsecret") {
		t.Errorf("a password in %q or %q", result.To, err)
	}
}

// TestTargetRefusals: a target that is not empty, of another source, or with other options.
func TestTargetRefusals(t *testing.T) {
	for name, to := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			from := filled(t, newFile(t))
			_, err := copyStore(t, from, filled(t, newFile(t)), transfer.Options{})
			wantError(t, err, rota.Conflict, "not empty: jobs has 1 rows")
			_, err = copyInto(t, from, to, transfer.Options{}, func(to transfer.Target) transfer.Target { return &failing{Target: to} })
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			_, err = to.open(t, true)
			wantError(t, err, rota.Conflict, "is not complete")
			_, err = copyStore(t, from, to, transfer.Options{History: true})
			wantError(t, err, rota.Conflict, "was begun without --history")
			other := filled(t, newFile(t))
			_, err = copyStore(t, other, to, transfer.Options{})
			wantError(t, err, rota.Conflict, "unfinished copy of")
			result, err := copyStore(t, other, to, transfer.Options{Restart: true, History: true})
			must(t, err)
			if result.Resumed {
				t.Errorf("result %+v", result)
			}
		})
	}
}

// TestSourceChangedSinceKill resumes a copy after the source was used again.
func TestSourceChangedSinceKill(t *testing.T) {
	from, to := filled(t, filled(t, newFile(t))), newDatabase(t)
	o := transfer.Options{}
	o.SetPage(1, 1<<20)
	_, err := copyInto(t, from, to, o, func(to transfer.Target) transfer.Target { return &failing{Target: to, writes: 1} })
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	s, err := from.open(t, false)
	must(t, err)
	jobs, err := s.Jobs(t.Context(), rota.JobQuery{Limit: 10, Oldest: true})
	must(t, err)
	_, err = rota.Do[*rota.CancelledJob](t.Context(), s, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: jobs[0].ID})
	must(t, err)
	must(t, s.Close())
	_, err = copyStore(t, from, to, o)
	wantError(t, err, rota.Conflict, "the table jobs differs", "since it was interrupted")
	if s, err := from.open(t, false); err != nil {
		t.Errorf("the source of a copy that failed: %v", err)
	} else {
		_ = s.Close()
	}
	o.Restart = true
	_, err = copyStore(t, from, to, o)
	must(t, err)
}

type unfinished struct{ transfer.Target }

func (unfinished) Finish(context.Context) error { return errKilled }

// TestKillBetweenMarks stops a copy after the source is marked: no store can be started until the
// copy runs again.
func TestKillBetweenMarks(t *testing.T) {
	from, to := filled(t, newDatabase(t)), newFile(t)
	_, err := copyInto(t, from, to, transfer.Options{}, func(to transfer.Target) transfer.Target { return unfinished{to} })
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	_, err = from.open(t, false)
	wantError(t, err, rota.Conflict, "was moved")
	_, err = to.open(t, false)
	wantError(t, err, rota.Conflict, "is not complete")
	_, err = copyStore(t, from, to, transfer.Options{})
	must(t, err)
	s, err := to.open(t, false)
	must(t, err)
	must(t, s.Close())
}

// killed begins a copy that stops before its first rows are written.
func killed(t testing.TB, from, to place) {
	t.Helper()
	_, err := copyInto(t, from, to, transfer.Options{}, func(to transfer.Target) transfer.Target { return &failing{Target: to} })
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
}

// TestUnfinishedCopyIsNoSource copies from the target of a copy that was interrupted.
func TestUnfinishedCopyIsNoSource(t *testing.T) {
	for name, to := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			killed(t, filled(t, newFile(t)), to)
			_, err := to.source()
			wantError(t, err, rota.Conflict, "is not complete", "run the same command again")
		})
	}
}

// TestMovedStoreIsNoTarget: a store with the mark of an unfinished copy that was moved nevertheless, as
// an earlier version did, must not become usable.
func TestMovedStoreIsNoTarget(t *testing.T) {
	for name, to := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			killed(t, filled(t, newFile(t)), to)
			to.exec(t, `INSERT INTO rota_meta (key, value) VALUES ('moved', '{"to":"sqlite:other.db"}')`)
			_, err := to.target()
			wantError(t, err, rota.Conflict, "was moved to sqlite:other.db")
		})
	}
}

// begun is a target that is killed when it has begun.
type begun struct{ transfer.Target }

func (b begun) Begin(ctx context.Context, state storekit.CopyState, discard bool) error {
	if err := b.Target.Begin(ctx, state, discard); err != nil {
		return err
	}
	return errKilled
}

// TestKillDuringRestart stops a copy that discards the rows of an earlier one: the next copy writes every
// row.
func TestKillDuringRestart(t *testing.T) {
	for name, to := range map[string]place{"SQLite": newFile(t), "PostgreSQL": newDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			from := filled(t, filled(t, newFile(t)))
			o := transfer.Options{}
			o.SetPage(1, 1<<20)
			_, err := copyInto(t, from, to, o, func(to transfer.Target) transfer.Target { return &failing{Target: to, writes: 1} })
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			o.Restart = true
			_, err = copyInto(t, from, to, o, func(to transfer.Target) transfer.Target { return begun{to} })
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			o.Restart = false
			result, err := copyStore(t, from, to, o)
			must(t, err)
			if result.Written != result.Rows {
				t.Errorf("result %+v", result)
			}
		})
	}
}

// TestCopyOfFileWithoutWAL copies a file with a rollback journal, as a backup and a restored store are.
func TestCopyOfFileWithoutWAL(t *testing.T) {
	from := filled(t, newFile(t))
	from.exec(t, "PRAGMA journal_mode = DELETE")
	result, err := copyStore(t, from, newFile(t), transfer.Options{})
	must(t, err)
	_, err = from.open(t, false)
	wantError(t, err, rota.Conflict, "was moved to "+result.To)
}
