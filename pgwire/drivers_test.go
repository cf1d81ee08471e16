package pgwire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/store/sqlite"
)

// newHouse is a server over the real console, on a store of its own.
func newHouse(t testing.TB, change ...func(*Config)) (*site, *console.Console) {
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
	talks := console.New(console.Config{Store: store, Version: "0.9"})
	t.Cleanup(func() {
		_ = talks.Close()
		_ = store.Close()
	})
	real := func(c *Config) { c.Session = func(user string) Session { return talks.Session(user) } }
	return newSite(t, append(change, real)...), talks
}

func TestPgx(t *testing.T) {
	s, _ := newHouse(t)
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
	s, _ := newHouse(t)
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

// TestPsql runs the program itself, which must be on the machine.
func TestPsql(t *testing.T) {
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("there is no psql")
	}
	s, _ := newHouse(t, withTLS(certificate(t, false)))
	host, port, _ := net.SplitHostPort(s.addr)
	psql := func(more string, args ...string) string {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		args = append([]string{"-X", "-A", "-v", "VERBOSITY=verbose", fmt.Sprintf("host=%s port=%s user=admin dbname=rota %s", host, port, more)}, args...)
		command := exec.CommandContext(ctx, "psql", args...)
		command.Env = append(command.Environ(), "PGPASSWORD="+password)
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

// BenchmarkCreateJob compares CREATE JOB over the wire with the same in process, by
// 16 at once: the wire must not cost much beside the store.
func BenchmarkCreateJob(b *testing.B) {
	const text = "CREATE JOB %s%d SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'"
	ctx := context.Background()
	rate := func(name string, open func(s *site, talks *console.Console) func(text string) error) {
		b.Run(name, func(b *testing.B) {
			s, talks := newHouse(b)
			b.SetParallelism(16)
			var next atomic.Int64
			b.RunParallel(func(p *testing.PB) {
				run := open(s, talks)
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
	rate("in process", func(_ *site, talks *console.Console) func(string) error {
		session := talks.Session("admin")
		return func(text string) error {
			return session.Run(ctx, text, nil, func(*console.Answer) error { return nil })
		}
	})
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec} {
		rate("over the wire, "+mode.String(), func(s *site, _ *console.Console) func(string) error {
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
