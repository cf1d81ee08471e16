package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

func bigOf(n int64) *big.Int { return big.NewInt(n) }

const everyHour = " SCHEDULE EVERY 1 HOUR AS 'SELECT 1'"

// endlessQuery is a query that would count for a long time.
const endlessQuery = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n"

func countOf(t *testing.T, conn *pgx.Conn, like string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM sys.jobs WHERE job_name LIKE $1", like).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPgxTransactions(t *testing.T) {
	s := startNode(t)
	ctx := t.Context()
	everyMode(t, s, func(t *testing.T, conn *pgx.Conn) {
		var list []string
		defer func() {
			for _, name := range list {
				s.exec(t, "DROP JOB IF EXISTS "+name)
			}
		}()
		create := func(on interface{ Conn() *pgx.Conn }, name string) {
			t.Helper()
			list = append(list, name)
			if _, err := on.Conn().Exec(ctx, "CREATE JOB "+name+everyHour); err != nil {
				t.Fatal(err)
			}
		}
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			create(tx, "kept")
			err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
				create(inner, "dropped")
				return errors.New("no")
			})
			if err == nil {
				t.Error("the inner one did not fail")
			}
			return pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
				create(inner, "kept_too")
				return nil
			})
		})
		if err != nil || countOf(t, conn, "kept%") != 2 || countOf(t, conn, "dropped") != 0 {
			t.Error(err, countOf(t, conn, "%"))
		}
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(ctx, "DROP JOB kept"); err != nil {
			t.Error(err)
		}
		if _, err := tx.Exec(ctx, "DROP JOB nothing"); stateOf(err) != "42704" {
			t.Error(err)
		}
		if _, err := tx.Exec(ctx, "SELECT 1"); stateOf(err) != "25P02" {
			t.Error(err)
		}
		if err := tx.Commit(ctx); !errors.Is(err, pgx.ErrTxCommitRollback) || countOf(t, conn, "kept") != 1 {
			t.Error(err)
		}
		tx, err = conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.Serializable, DeferrableMode: pgx.Deferrable})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(ctx, "DROP JOB kept"); stateOf(err) != "25006" {
			t.Error(err)
		}
		if err := tx.Rollback(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestPgxBatches(t *testing.T) {
	s := startNode(t)
	ctx := t.Context()
	everyMode(t, s, func(t *testing.T, conn *pgx.Conn) {
		good := &pgx.Batch{}
		good.Queue("CREATE JOB a" + everyHour)
		good.Queue("CREATE JOB b" + everyHour)
		good.Queue("SELECT $1::bigint + 1", 41).QueryRow(func(row pgx.Row) error {
			var n int64
			if err := row.Scan(&n); err != nil || n != 42 {
				t.Error(n, err)
			}
			return nil
		})
		if err := conn.SendBatch(ctx, good).Close(); err != nil || countOf(t, conn, "_") != 2 {
			t.Error(err, countOf(t, conn, "_"))
		}
		bad := &pgx.Batch{}
		bad.Queue("DROP JOB a")
		bad.Queue("SELECT 1 / (SELECT 0)")
		bad.Queue("DROP JOB b")
		if err := conn.SendBatch(ctx, bad).Close(); stateOf(err) != "22012" || countOf(t, conn, "_") != 2 {
			t.Error(err, countOf(t, conn, "_"))
		}
		last := &pgx.Batch{}
		last.Queue("DROP JOB a")
		last.Queue("DROP JOB b")
		if err := conn.SendBatch(ctx, last).Close(); err != nil || countOf(t, conn, "_") != 0 {
			t.Error(err)
		}
	})
}

// The test cancels a long query. pgx sends a cancel request and closes the connection. The
// pool continues with other connections, and no query slot stays in use.
func TestPgxCancelEndsLongQuery(t *testing.T) {
	s := startNode(t)
	pool, err := pgxpool.New(t.Context(), s.url("pool_max_conns=4"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			var n int64
			if err := pool.QueryRow(ctx, endlessQuery).Scan(&n); err == nil {
				t.Error("the query was not cancelled")
			}
		})
	}
	all.Wait()
	began := time.Now()
	for range 10 {
		var one int
		if err := pool.QueryRow(t.Context(), "SELECT 1").Scan(&one); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Error("cancelled queries delayed other queries for", took)
	}

	conn := s.connect(t)
	timer := time.AfterFunc(200*time.Millisecond, func() { _ = conn.PgConn().CancelRequest(context.Background()) })
	defer timer.Stop()
	if _, err := conn.Exec(t.Context(), endlessQuery); stateOf(err) != "57014" {
		t.Error(err)
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Error("the connection does not work after a cancel request:", err)
	}
	if _, err := conn.Exec(t.Context(), "SET statement_timeout = '100ms'"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), endlessQuery); stateOf(err) != "57014" {
		t.Error(err)
	}
}

func TestPgxPoolServesConcurrentClients(t *testing.T) {
	s := startWithHistory(t)
	pool, err := pgxpool.New(t.Context(), s.url("pool_max_conns=50", "pool_min_conns=50", "application_name=pool"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for j := range 4 {
				name := fmt.Sprintf("p_%d_%d", i, j)
				if _, err := pool.Exec(t.Context(), "CREATE JOB "+name+everyHour); err != nil {
					t.Error(err)
				}
				var found string
				if err := pool.QueryRow(t.Context(), "SELECT job_name FROM sys.jobs WHERE job_name = $1", name).Scan(&found); err != nil || found != name {
					t.Error(found, err)
				}
			}
		})
	}
	all.Wait()
	if n := pool.Stat().NewConnsCount(); n < 50 {
		t.Errorf("there were %d connections", n)
	}
	var n int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM sys.jobs WHERE job_name LIKE 'p\\_%'").Scan(&n); err != nil || n != 200 {
		t.Error(n, err)
	}
}

func TestPgxPreparedStatements(t *testing.T) {
	s := startWithHistory(t)
	conn := s.connect(t)
	if _, err := conn.Prepare(t.Context(), "by name", "SELECT job_uuid FROM sys.jobs WHERE job_name = $1"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var id [16]byte
		if err := conn.QueryRow(t.Context(), "by name", "tick").Scan(&id); err != nil || id == [16]byte{} {
			t.Error(id, err)
		}
	}
	if err := conn.Deallocate(t.Context(), "by name"); err != nil {
		t.Error(err)
	}
	if _, err := conn.PgConn().Prepare(t.Context(), "twice", "SELECT 1", nil); err != nil {
		t.Error(err)
	}
	if _, err := conn.PgConn().Prepare(t.Context(), "twice", "SELECT 1", nil); stateOf(err) != "42P05" {
		t.Error(err)
	}
	if err := conn.DeallocateAll(t.Context()); err != nil {
		t.Error(err)
	}
	if typ, err := conn.LoadType(t.Context(), "_uuid"); err != nil || typ.OID != 2951 {
		t.Error(typ, err)
	}
}

func TestDatabaseSQL(t *testing.T) {
	s := startWithHistory(t)
	db, err := sql.Open("pgx", s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statement, err := db.PrepareContext(t.Context(), "SELECT job_name, priority, job_uuid, next_run_time_ts, params, description, is_null FROM (SELECT *, starts_at IS NULL AS is_null FROM sys.jobs) j WHERE job_name = $1")
	if err != nil {
		t.Fatal(err)
	}
	defer statement.Close()
	rows, err := statement.QueryContext(t.Context(), "tick")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range types {
		got = append(got, c.Name()+" "+c.DatabaseTypeName()+" "+c.ScanType().String())
	}
	want := []string{
		"job_name TEXT string", "priority INT4 int32", "job_uuid UUID string", "next_run_time_ts TIMESTAMPTZ time.Time",
		"params JSONB string", "description TEXT string", "is_null BOOL bool",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var (
		name, id    string
		priority    int
		next        sql.NullTime
		params      []byte
		description sql.NullString
		is          bool
	)
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&name, &priority, &id, &next, &params, &description, &is); err != nil || name != "tick" || priority != 7 || len(id) != 36 || !next.Valid || description.Valid || !is {
		t.Error(name, priority, id, next, description, is, err)
	}
	rows.Close()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "DROP JOB tick"); stateOf(err) != "25006" {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	config, err := pgx.ParseConfig(s.url("default_query_exec_mode=simple_protocol"))
	if err != nil {
		t.Fatal(err)
	}
	simple := stdlib.OpenDB(*config)
	defer simple.Close()
	var when time.Time
	if err := simple.QueryRowContext(t.Context(), "SELECT created_at_ts FROM sys.jobs WHERE job_name = $1 AND created_at_ts < $2", "tick", time.Now().Add(time.Hour)).Scan(&when); err != nil {
		t.Error(err)
	}
}
