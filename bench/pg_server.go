package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// findPostgres reports whether the programs of a PostgreSQL server are installed.
func findPostgres() bool {
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		if _, err := exec.LookPath(filepath.Join(strings.TrimSpace(string(out)), "initdb")); err == nil {
			return true
		}
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 { // the only possible error is an invalid pattern
		return true
	}
	_, err := exec.LookPath("initdb")
	return err == nil
}

// pgBenchmarks returns the cases on PostgreSQL, or none if it is not installed.
func pgBenchmarks() []benchmark {
	if !findPostgres() {
		return nil
	}
	return slices.Concat([]benchmark{
		pgEngineBenchmark(), pgInsertBenchmark(), pgLatencyBenchmark(), pgTwoBenchmark(), pgTwoSlowBenchmark(), pgReaderBenchmark(), pgHistoryBenchmark(), pgChurnBenchmark(), pgCompleteBenchmark(),
	}, pgWithoutBenchmarks(), pgChainBenchmarks(), pgTxBenchmarks())
}

// notePostgres adds a text to the report if the cases on PostgreSQL are selected but cannot run.
func (b *bench) notePostgres() {
	if b.filter.MatchString(pgEngineCase) && !findPostgres() {
		b.report.explain("postgres/…",
			"not measured, because PostgreSQL is not installed: neither pg_config --bindir nor /usr/lib/postgresql/*/bin nor the PATH has initdb")
	}
}

// pgServer is the server of this invocation. Each case has its own databases in it.
type pgServer struct {
	cluster *pgtest.Cluster
	admin   *pgx.Conn // creates databases and reads statistics
}

// postgres returns the server. It starts the server at the first call.
func (b *bench) postgres() (*pgServer, error) {
	if b.server != nil {
		return b.server, nil
	}
	dir, err := filepath.Abs(filepath.Join(b.dir, "postgres"))
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(b.dir, 0o711); err != nil { // the server runs as another user if this is root
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, err
	}
	cluster, err := pgtest.Start(dir, pgtest.Options{Durable: true})
	if err != nil {
		return nil, fmt.Errorf("%w\nIf this is root, the user postgres must have access to BENCH_DIR", err)
	}
	s := &pgServer{cluster: cluster}
	if s.admin, err = pgx.Connect(b.ctx, cluster.URL("postgres")); err == nil {
		err = s.describe(b)
	}
	if err != nil {
		cluster.Close()
		return nil, err
	}
	b.server = s
	return s, nil
}

// close stops the server, if there is one, and removes the files.
func (b *bench) close() error {
	if b.server != nil {
		_ = b.server.admin.Close(context.Background())
		b.server.cluster.Close()
		b.server = nil
	}
	return os.RemoveAll(b.dir)
}

// The settings to report: those that differ from PostgreSQL's defaults, and the most important of the others.
const pgSettings = `
SELECT name, current_setting(name), source
FROM pg_settings
WHERE source NOT IN ('default', 'override', 'client', 'environment variable') AND name !~ '^(lc_|log_|TimeZone|DateStyle|default_text)'
  OR name IN ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size',
    'checkpoint_timeout', 'wal_level', 'work_mem', 'autovacuum', 'autovacuum_naptime', 'jit')
ORDER BY name`

func (s *pgServer) describe(b *bench) error {
	var body strings.Builder
	rows, err := s.admin.Query(b.ctx, pgSettings)
	if err != nil {
		return err
	}
	var name, value, source string
	_, err = pgx.ForEachRow(rows, []any{&name, &value, &source}, func() error {
		if name == "fsync" && value != "on" || name == "synchronous_commit" && value != "on" {
			return fmt.Errorf("%s is %s", name, value)
		}
		if source == "default" {
			source = "default"
		}
		fmt.Fprintf(&body, "%s = %s (%s)\n", name, value, source)
		return nil
	})
	b.report.explain("postgres/…: the settings of the server, reached by TCP on 127.0.0.1", body.String())
	return err
}

// database is a database for one subject of one run.
type database struct {
	name, url string
	server    *pgServer
	disable   postgres.FastPath // fast paths that stores in this database do not use
}

// config returns the configuration of a store in this database.
func (d *database) config() postgres.Config {
	config := pgWarnOnly
	config.Disable = d.disable
	return config
}

// database creates an empty database.
func (b *bench) database(name string) (*database, error) {
	s, err := b.postgres()
	if err != nil {
		return nil, err
	}
	name = fmt.Sprintf("%s_%d", strings.NewReplacer(" ", "_", "/", "_", "-", "_", ",", "").Replace(name), b.round)
	if _, err := s.admin.Exec(b.ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	return &database{name: name, url: s.cluster.URL(name), server: s}, nil
}

// drop removes a database.
func (d *database) drop() { _ = d.server.cluster.Drop(d.name) } // the rest is removed with the server

// pgWarnOnly is the configuration of a store that logs only warnings and errors.
var pgWarnOnly = postgres.Config{Logger: warnings()}

// createStore creates an empty store.
func (d *database) createStore() error {
	store, err := postgres.OpenWith(d.url, pgWarnOnly)
	if err != nil {
		return err
	}
	return store.Close()
}

const pgCount = `
SELECT count(*) FILTER (WHERE status = 'QUEUED'),
  count(*) FILTER (WHERE status = 'RUNNING' AND sequel IS NULL),
  count(*) FILTER (WHERE status = 'RUNNING' AND sequel = 'none' AND outcome = 'COMPLETED'),
  count(*) FILTER (WHERE status = 'QUEUED' AND hold & 2 <> 0),
  (SELECT count(*) FROM rota.schedules)
FROM rota.jobs`

func (d *database) count(ctx context.Context) (c counts, err error) {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return c, err
	}
	err = conn.QueryRow(ctx, pgCount).Scan(&c.queued, &c.running, &c.completed, &c.blocked, &c.schedules)
	return c, errors.Join(err, conn.Close(ctx))
}

// audit fails if a database does not hold the expected rows, or if a row violates an invariant.
func (d *database) audit(ctx context.Context, want counts) error {
	got, err := d.count(ctx)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the database holds %+v, not %+v", got, want)
	}
	config := pgWarnOnly
	config.ReadOnly = true
	store, err := postgres.OpenWith(d.url, config)
	if err != nil {
		return err
	}
	defer store.Close()
	for violation, err := range store.Verify(ctx) {
		if err != nil {
			return err
		}
		return fmt.Errorf("verify: %+v", violation)
	}
	return nil
}

// processor returns the processor time of all processes of the server so far, including those that have ended.
func (s *pgServer) processor() (used time.Duration, err error) {
	if s == nil {
		return 0, nil
	}
	pid := s.cluster.Pid()
	if used, err = endedChildren(pid); err != nil {
		return 0, err
	}
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	for _, field := range append(strings.Fields(string(list)), strconv.Itoa(pid)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		one, _ := processorOf(child) // the next reading of endedChildren includes a process that has just ended
		used += one
	}
	return used, nil
}

// endedChildren returns the processor time of the children of a process that have ended and were waited for.
func endedChildren(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const user, system = 13, 14 // counted after the name, which may contain any character
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= system {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	first, err1 := strconv.ParseInt(fields[user], 10, 64)
	second, err2 := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(first+second) * time.Second / ticksPerSecond, errors.Join(err1, err2)
}

// logged returns the bytes of write-ahead log that the server has written so far.
func (s *pgServer) logged(ctx context.Context) (bytes int64, err error) {
	err = s.admin.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").Scan(&bytes)
	return bytes, err
}
