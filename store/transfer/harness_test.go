package transfer_test

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/storetest"
	"github.com/rotajobs/rota/store/transfer"
)

func TestMain(m *testing.M) {
	depth.Checks(2, 4, 40)
	pgtest.Main(m)
}

var quiet = slog.New(slog.DiscardHandler)

// place is where a store is: a file or a database.
type place interface {
	open(t testing.TB, allowMoved bool) (rota.Store, error)
	read(t testing.TB) rota.Store
	source() (source, error)
	target() (target, error)
	exec(t testing.TB, sql string)
}

type source interface {
	transfer.Source
	io.Closer
}

type target interface {
	transfer.Target
	io.Closer
}

type file string

func newFile(t testing.TB) place { return file(filepath.Join(t.TempDir(), "rota.db")) }

func (f file) open(_ testing.TB, allowMoved bool) (rota.Store, error) {
	return sqlite.OpenWith(string(f), sqlite.Config{AllowMoved: allowMoved, Logger: quiet})
}

func (f file) read(t testing.TB) rota.Store {
	s, err := sqlite.OpenWith(string(f), sqlite.Config{ReadOnly: true, Logger: quiet})
	must(t, err)
	return s
}

func (f file) source() (source, error) {
	return sqlite.OpenTransferSource(string(f), sqlite.TransferConfig{})
}

func (f file) target() (target, error) {
	return sqlite.OpenTransferTarget(string(f), sqlite.TransferConfig{})
}

func (f file) exec(t testing.TB, sql string) {
	conn, err := zombiezen.OpenConn(string(f), zombiezen.OpenReadWrite)
	must(t, err)
	must(t, sqlitex.ExecuteTransient(conn, sql, nil))
	must(t, conn.Close())
}

type database string

// newDatabase returns a database without a schema: the target creates it.
func newDatabase(t testing.TB) place {
	server := pgtest.Shared(t)
	template := server.Template(t, "migrated", func(url string) error {
		s, err := postgres.OpenWith(url, postgres.Config{Poll: true, Logger: quiet})
		if err != nil {
			return err
		}
		return s.Close()
	})
	return database(server.URL(server.NewDatabase(t, template)))
}

func (d database) open(_ testing.TB, allowMoved bool) (rota.Store, error) {
	return postgres.OpenWith(string(d), postgres.Config{AllowMoved: allowMoved, Poll: true, Logger: quiet})
}

func (d database) read(t testing.TB) rota.Store {
	s, err := postgres.OpenWith(string(d), postgres.Config{ReadOnly: true, Poll: true, Logger: quiet})
	must(t, err)
	return s
}

func (d database) source() (source, error) { return postgres.OpenTransferSource(string(d)) }
func (d database) target() (target, error) { return postgres.OpenTransferTarget(string(d)) }

func (d database) exec(t testing.TB, sql string) {
	conn, err := pgx.Connect(t.Context(), string(d))
	must(t, err)
	_, err = conn.Exec(t.Context(), strings.ReplaceAll(sql, "rota_", "rota."))
	must(t, err)
	must(t, conn.Close(t.Context()))
}

// copyStore copies a store.
func copyStore(t testing.TB, from, to place, o transfer.Options) (*transfer.Result, error) {
	t.Helper()
	return copyInto(t, from, to, o, func(to transfer.Target) transfer.Target { return to })
}

// copyInto copies a store into a target that wrap changes.
func copyInto(t testing.TB, from, to place, o transfer.Options, wrap func(transfer.Target) transfer.Target) (*transfer.Result, error) {
	t.Helper()
	source, err := from.source()
	must(t, err)
	defer source.Close()
	target, err := to.target()
	must(t, err)
	defer target.Close()
	if o.Now.IsZero() {
		o.Now = time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	}
	return transfer.Copy(t.Context(), source, wrap(target), o)
}

// fill applies batches to a store and closes it.
func fill(t testing.TB, at place, log []rota.Batch) {
	t.Helper()
	s, err := at.open(t, false)
	must(t, err)
	for _, b := range log {
		_, err := s.Apply(t.Context(), b)
		must(t, err)
	}
	must(t, s.Close())
}

// randomLog returns a history with jobs in all states.
func randomLog(rt *rapid.T) []rota.Batch { return storetest.RandomLog(rt, 25) }

// dump returns all rows of a store as text.
func dump(t testing.TB, at place) string {
	t.Helper()
	s := at.read(t)
	defer s.Close()
	text, err := storetest.Dump(t.Context(), s)
	must(t, err)
	return text
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
