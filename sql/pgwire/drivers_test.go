package pgwire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/store/sqlite"
)

// newConsoleServer starts a server with a real console and its own store.
func newConsoleServer(t testing.TB, change ...func(*Config)) (_ *testServer, admin func() *session.Session) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sql", "noop"} {
		declare := &rota.PutType{Meta: rota.NewMeta(""), Name: name}
		if _, err := rota.Do[*rota.TypePut](context.Background(), store, declare); err != nil {
			t.Fatal(err)
		}
	}
	con := session.New(session.Config{Version: "0.9"})
	t.Cleanup(func() {
		_ = con.Close()
		_ = store.Close()
	})
	real := func(c *Config) { c.Session = func(id access.Identity) Session { return con.Session(store, id.User) } }
	return newTestServer(t, append(change, real)...), func() *session.Session { return con.Session(store, "admin") }
}

func TestPgxQueryModes(t *testing.T) {
	s, _ := newConsoleServer(t)
	ctx := context.Background()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			conn, err := pgx.Connect(ctx, s.url(""))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(ctx)
			name := strings.ReplaceAll(mode.String(), " ", "_")
			if _, err := conn.Exec(ctx, "CREATE JOB "+name+" SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'", mode); err != nil {
				t.Fatal(err)
			}
			var found string
			var created time.Time
			err = conn.QueryRow(ctx, "SELECT job_name, created_at_ts FROM sys.jobs WHERE job_name = $1", mode, name).Scan(&found, &created)
			if err != nil || found != name || time.Since(created) > time.Minute {
				t.Errorf("%q of %v, %v", found, created, err)
			}
			var refused *pgconn.PgError
			if _, err := conn.Exec(ctx, "DROP JOB no_such_job", mode); !errors.As(err, &refused) || refused.Code != "42704" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPgxTransactions(t *testing.T) {
	s, _ := newConsoleServer(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	create := func(on interface {
		Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	}, name string,
	) {
		t.Helper()
		if _, err := on.Exec(ctx, "CREATE JOB "+name+" SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'"); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM sys.jobs").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	create(tx, "a")
	inner, err := tx.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	create(inner, "b")
	if err := inner.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil || count() != 1 {
		t.Errorf("%v, %d jobs", err, count())
	}
	tx, _ = conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if _, err := tx.Exec(ctx, "DROP JOB a"); codeOf(err) != "25006" {
		t.Errorf("got %v", err)
	}
	_ = tx.Rollback(ctx)

	batch := &pgx.Batch{}
	batch.Queue("CREATE JOB c SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'")
	batch.Queue("CREATE JOB c SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'")
	if err := conn.SendBatch(ctx, batch).Close(); codeOf(err) != "42710" || count() != 1 {
		t.Errorf("%v, %d jobs", err, count())
	}
	batch = &pgx.Batch{}
	batch.Queue("CREATE JOB d SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'")
	batch.Queue("CREATE JOB e SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'")
	if err := conn.SendBatch(ctx, batch).Close(); err != nil || count() != 3 {
		t.Errorf("%v, %d jobs", err, count())
	}
}

// A wrong message that never reaches the console rolls back the implicit transaction. It also
// fails a transaction that the client began.
func TestWrongMessageRollsBackImplicitTransaction(t *testing.T) {
	s, _ := newConsoleServer(t)
	c := s.client()
	create := func(name string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{
			&pgproto3.Parse{Query: "CREATE JOB " + name + " SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'"}, &pgproto3.Bind{}, &pgproto3.Execute{},
		}
	}
	created := []string{"ParseComplete", "BindComplete", "CommandComplete CREATE JOB"}
	for _, wrong := range []struct {
		message pgproto3.FrontendMessage
		answer  string
	}{
		{&pgproto3.Bind{PreparedStatement: "unknown"}, "ERROR 26000 prepared statement \"unknown\" does not exist"},
		{&pgproto3.Parse{Query: "SELECT 1; SELECT 2"}, "ERROR 42601 cannot prepare 2 statements at once; send each statement separately"},
	} {
		wantLines(t, c.exchange(append(create("a"), wrong.message, &pgproto3.Sync{})...), append(created, wrong.answer, "ReadyForQuery I"))
		wantLines(t, c.query("BEGIN"), []string{"CommandComplete BEGIN", "ReadyForQuery T"})
		wantLines(t, c.exchange(append(create("b"), wrong.message, &pgproto3.Sync{})...), append(created, wrong.answer, "ReadyForQuery E"))
		if got := c.query("COMMIT"); !slices.Contains(got, "CommandComplete ROLLBACK") {
			t.Error(got)
		}
	}
	wantLines(t, c.query("SELECT count(*) FROM sys.jobs")[1:], []string{`DataRow "0"`, "CommandComplete SELECT 1", "ReadyForQuery I"})
	wantLines(t, c.exchange(append(create("a"), append(create("b"), &pgproto3.Sync{})...)...), append(append(created, created...), "ReadyForQuery I"))
	wantLines(t, c.query("SELECT count(*) FROM sys.jobs")[1:], []string{`DataRow "2"`, "CommandComplete SELECT 1", "ReadyForQuery I"})
}

// pgx sends arguments of many types, in binary where it can, and reads them back.
func TestPgxArguments(t *testing.T) {
	s, _ := newConsoleServer(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	now := time.Date(2026, 11, 15, 10, 0, 0, 123456000, time.UTC)
	for _, test := range []struct {
		query string
		arg   any
		want  any
	}{
		{"SELECT $1::int + 1", 41, int32(42)},
		{"SELECT $1::bigint", int64(1) << 40, int64(1) << 40},
		{"SELECT $1::float8", 0.25, 0.25},
		{"SELECT $1::boolean", true, true},
		{"SELECT $1::text", "ä b", "ä b"},
		{"SELECT $1::bytea", []byte{0, 255}, []byte{0, 255}},
		{"SELECT $1::timestamptz", now, now},
		{"SELECT $1::interval", 90 * time.Minute, pgtype.Interval{Microseconds: 5400e6, Valid: true}},
		{"SELECT $1::uuid", "0193a8e2-7d7b-7000-8000-00000000002a", [16]byte{0x01, 0x93, 0xa8, 0xe2, 0x7d, 0x7b, 0x70, 0, 0x80, 15: 0x2a}},
		{"SELECT $1::jsonb", map[string]any{"a": 1.5}, map[string]any{"a": 1.5}},
		{"SELECT $1::text[]", []string{"a", "b c", `"`}, []any{"a", "b c", `"`}},
		{"SELECT $1::int[]", []int32{1, 2}, []any{int32(1), int32(2)}},
		{"SELECT $1::int", nil, nil},
	} {
		rows, _ := conn.Query(ctx, test.query, test.arg)
		got, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (any, error) {
			list, err := row.Values()
			return list[0], err
		})
		if at, is := got.(time.Time); is {
			got = at.UTC()
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s with %v: got %#v, %v", test.query, test.arg, got, err)
		}
	}
	if err := conn.QueryRow(ctx, "SELECT $1::int", pgx.QueryExecModeExec, "forty").Scan(nil); codeOf(err) != "22P02" {
		t.Errorf("got %v", err)
	}
}

// TestPsqlCommands runs the program itself, which must be on the machine.
func TestPsqlCommands(t *testing.T) {
	if _, err := exec.LookPath("psql"); err != nil {
		t.Fatal("psql is not installed; make test installs it")
	}
	s, _ := newConsoleServer(t, withTLS(certificate(t, false)))
	host, port, _ := net.SplitHostPort(s.addr)
	psql := func(more string, args ...string) string {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		args = append([]string{"-X", "-A", "-v", "VERBOSITY=verbose", fmt.Sprintf("host=%s port=%s user=admin dbname=rota %s", host, port, more)}, args...)
		command := exec.CommandContext(ctx, "psql", args...)
		command.Env = append(command.Environ(), "PGPASSWORD="+password, "LC_ALL=C.UTF-8") // psql translates its output to the locale
		out, _ := command.CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	for _, test := range []struct{ name, more, say, want string }{
		{"plain", "sslmode=disable", "SELECT 1 AS a, 'x' AS b", "a|b\n1|x\n(1 row)"},
		{"bound to the certificate", "sslmode=require channel_binding=require", "SELECT 1 AS a", "a\n1\n(1 row)"},
		{"a job", "", "CREATE JOB j SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'", "CREATE JOB"},
		{"an error", "", "SELEC 1", "ERROR:  42601: found SELEC, expected a statement (CREATE, ALTER, DROP, EXECUTE, SHOW, SELECT, …)\nLINE 1: SELEC 1\n        ^\nHINT:  did you mean SELECT?"},
		{"a transaction", "", "BEGIN; CREATE JOB k SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'; ROLLBACK; SELECT job_name FROM sys.jobs", "BEGIN\nCREATE JOB\nROLLBACK\njob_name\nj\n(1 row)"},
		{"a zone", "options='-c timezone=Europe/Berlin'", "SHOW timezone", "TimeZone\nEurope/Berlin\n(1 row)"},
		{"a setting", "", "SET application_name = 'x'; SHOW application_name", "SET\napplication_name\nx\n(1 row)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := psql(test.more, "-c", test.say); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	t.Run("connection info", func(t *testing.T) {
		if got := psql("sslmode=require", "-c", `\conninfo`); !strings.Contains(got, `database "rota" as user "admin"`) || !strings.Contains(got, "SSL connection") {
			t.Error(got)
		}
	})
	t.Run("a wrong password", func(t *testing.T) {
		if got := psql("password=wrong"); !strings.Contains(got, `FATAL:  password authentication failed for user "admin"`) {
			t.Error(got)
		}
	})
}

// BenchmarkCreateJob compares CREATE JOB over the protocol with CREATE JOB in process, with 16
// concurrent clients: the protocol must cost little compared with the store.
func BenchmarkCreateJob(b *testing.B) {
	const text = "CREATE JOB %s%d SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'"
	ctx := context.Background()
	rate := func(name string, open func(s *testServer, begin func() *session.Session) func(text string) error) {
		b.Run(name, func(b *testing.B) {
			s, begin := newConsoleServer(b)
			b.SetParallelism(16)
			var next atomic.Int64
			b.RunParallel(func(p *testing.PB) {
				run := open(s, begin)
				for p.Next() {
					if err := run(fmt.Sprintf(text, "j", next.Add(1))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
	rate("in process", func(_ *testServer, begin func() *session.Session) func(string) error {
		admin := begin()
		return func(text string) error {
			return admin.Run(ctx, text, nil, func(*session.Answer) error { return nil })
		}
	})
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec} {
		rate("over the wire, "+mode.String(), func(s *testServer, _ func() *session.Session) func(string) error {
			conn, err := pgx.Connect(ctx, s.url(""))
			if err != nil {
				b.Fatal(err)
			}
			s.t.Cleanup(func() { _ = conn.Close(ctx) })
			return func(text string) error {
				_, err := conn.Exec(ctx, text, mode)
				return err
			}
		})
	}
}
