package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// callerDatabase is a store and a pool of a program that has a table of its own in the same database.
type callerDatabase struct {
	testing.TB
	store *Store
	pool  *pgxpool.Pool
	url   string
}

func openCaller(t testing.TB, config Config) *callerDatabase {
	t.Helper()
	url := pgtest.Shared(t).URL(newDatabase(t))
	pool, err := pgxpool.New(t.Context(), url)
	must(t, err)
	t.Cleanup(pool.Close)
	d := &callerDatabase{t, openAt(t, url, config), pool, url}
	_, err = pool.Exec(t.Context(), `CREATE TABLE orders (id bigint PRIMARY KEY, note text)`)
	must(t, err)
	done[*rota.TypePut](t, d.store, &rota.PutType{Meta: rota.NewMeta("test"), Name: "mail"})
	return d
}

func (d *callerDatabase) begin(options pgx.TxOptions) pgx.Tx {
	d.Helper()
	tx, err := d.pool.BeginTx(context.Background(), options)
	must(d, err)
	d.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

// order writes a row of the caller.
func (d *callerDatabase) order(tx pgx.Tx, id int) {
	d.Helper()
	_, err := tx.Exec(d.Context(), `INSERT INTO orders VALUES ($1, 'paid')`, id)
	must(d, err)
}

func (d *callerDatabase) apply(tx any, c rota.Command) (rota.Result, *rota.PendingTx) {
	d.Helper()
	results, pending, err := d.store.ApplyTx(d.Context(), tx, rota.Batch{Commands: []rota.Command{c}})
	must(d, err)
	return results[0], pending
}

// enqueue enqueues a job in a transaction.
func (d *callerDatabase) enqueue(tx any, job rota.NewJob) (rota.Submitted, *rota.PendingTx) {
	d.Helper()
	job.Type = "mail"
	result, pending := d.apply(tx, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{job}})
	if result.Err != nil {
		d.Fatalf("enqueue was refused: %v", result.Err)
	}
	return result.Reply.(*rota.Enqueued).Jobs[0], pending
}

// committed waits for the end of pending work and reports what became of it.
func committed(t testing.TB, p *rota.PendingTx) bool {
	t.Helper()
	select {
	case <-p.Done():
		return p.Committed()
	case <-time.After(30 * time.Second):
		t.Fatal("the store did not find out what became of the transaction")
		return false
	}
}

// exists reports whether a job exists for others.
func (d *callerDatabase) exists(id rota.ID) bool {
	d.Helper()
	_, err := d.store.Job(d.Context(), id)
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		d.Fatal(err)
	}
	return err == nil
}

func TestJobOfCallerExistsIfDataDoes(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	for _, one := range []struct {
		name string
		end  func(context.Context, pgx.Tx) error
		want bool
	}{
		{"commit", func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) }, true},
		{"rollback", func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) }, false},
		{"lost connection", func(ctx context.Context, tx pgx.Tx) error { return tx.Conn().Close(ctx) }, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			d := &callerDatabase{t, d.store, d.pool, d.url}
			wake, stop := d.store.Wake()
			defer stop()
			var events []rota.Event
			defer d.store.Watch(func(some []rota.Event) { events = append(events, some...) })()
			tx := d.begin(pgx.TxOptions{})
			d.order(tx, len(one.name))
			submitted, pending := d.enqueue(tx, rota.NewJob{})
			if d.exists(submitted.Job.ID) {
				t.Fatal("the job exists before the commit")
			}
			if pending.Committed() || len(wake) > 0 {
				t.Fatal("the store has taken the transaction for committed")
			}
			must(t, one.end(t.Context(), tx))
			if got := committed(t, pending); got != one.want || d.exists(submitted.Job.ID) != one.want {
				t.Fatalf("committed: %t, job exists: %t, want %t", got, d.exists(submitted.Job.ID), one.want)
			}
			if got := len(wake) > 0 && len(events) > 0; got != one.want {
				t.Errorf("a wake-up and %d events arrived: %t, want %t", len(events), got, one.want)
			}
		})
	}
	d.clean()
}

// clean checks the store.
func (d *callerDatabase) clean() {
	d.Helper()
	for v, err := range d.store.Verify(d.Context()) {
		must(d, err)
		d.Errorf("violation: %+v", v)
	}
}

func TestRollbackToEarlierSavepointUndoesWork(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	tx := d.begin(pgx.TxOptions{})
	kept, keptWork := d.enqueue(tx, rota.NewJob{})
	nested, err := tx.Begin(t.Context())
	must(t, err)
	undone, undoneWork := d.enqueue(nested, rota.NewJob{})
	must(t, nested.Rollback(t.Context()))
	if committed(t, undoneWork) {
		t.Error("undone work counts as committed while the transaction is open")
	}
	must(t, tx.Commit(t.Context()))
	if !committed(t, keptWork) || !d.exists(kept.Job.ID) || d.exists(undone.Job.ID) {
		t.Error("want the first job and not the second")
	}
	d.clean()
}

func TestRefusalLeavesCallersTransactionUsable(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	tx := d.begin(pgx.TxOptions{})
	before := settingsOfCaller(t, tx)
	result, pending := d.apply(tx, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Template: "unknown"}}})
	if result.Err == nil || result.Err.Code != rota.NotFound {
		t.Fatalf("got %v, want NotFound", result.Err)
	}
	if !committed(t, pending) {
		t.Error("a batch that wrote nothing is pending")
	}
	d.enqueue(tx, rota.NewJob{})
	if after := settingsOfCaller(t, tx); after != before {
		t.Errorf("settings were %s and are %s", before, after)
	}
	d.order(tx, 1)
	must(t, tx.Commit(t.Context()))
	if n := rows(t, d.store, `SELECT count(*) FROM orders`)[0][0]; n != "1" {
		t.Errorf("%s orders", n)
	}
}

// TestFastPathOfCallersIsNotCompiled checks the settings of the function. Without sequential scans the
// planner estimates a high cost for tables of few rows, and with JIT, which is on by default, PostgreSQL
// would compile the statements of the function again in each call. That takes 300 ms.
func TestFastPathOfCallersIsNotCompiled(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	functions := rows(t, d.store, `SELECT proname, array_to_string(proconfig, ' ') FROM pg_proc WHERE 'enable_seqscan=off' = ANY (proconfig)`)
	if len(functions) == 0 {
		t.Error("no function has settings")
	}
	for _, f := range functions {
		if !strings.Contains(f[1], "jit=off") {
			t.Errorf("the function %s has the settings %s, without jit=off", f[0], f[1])
		}
		if !strings.Contains(f[1], "lock_timeout="+callerLockTimeout) {
			t.Errorf("the function %s has the settings %s, without the lock time-out of rota.TxLockWait", f[0], f[1])
		}
	}
}

// settingsOfCaller returns the settings, prepared statements and temporary objects of a connection.
func settingsOfCaller(t testing.TB, tx pgx.Tx) (all string) {
	t.Helper()
	err := tx.QueryRow(t.Context(), `SELECT concat_ws(' ',
  (SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE name LIKE 'enable%' OR name LIKE '%timeout' OR name IN ('jit', 'plan_cache_mode', 'search_path')),
  (SELECT count(*) FROM pg_prepared_statements WHERE from_sql OR name LIKE 'rota%'),
  (SELECT count(*) FROM pg_class WHERE relpersistence = 't'))`, pgx.QueryExecModeExec).Scan(&all)
	must(t, err)
	return all
}

func TestTransactionsThatCannotBeUsedAreRefusedByName(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	other, err := pgxpool.New(t.Context(), pgtest.Shared(t).URL(newDatabase(t)))
	must(t, err)
	t.Cleanup(other.Close)
	empty, err := pgxpool.New(t.Context(), pgtest.Shared(t).URL("postgres"))
	must(t, err)
	t.Cleanup(empty.Close)
	begin := func(pool *pgxpool.Pool) pgx.Tx {
		tx, err := pool.Begin(t.Context())
		must(t, err)
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		return tx
	}
	ended := d.begin(pgx.TxOptions{})
	must(t, ended.Commit(t.Context()))
	aborted := d.begin(pgx.TxOptions{})
	_, _ = aborted.Exec(t.Context(), `SELECT 1/0`)
	reading := d.begin(pgx.TxOptions{})
	open, err := reading.Query(t.Context(), `SELECT generate_series(1, 1000)`)
	must(t, err)
	t.Cleanup(open.Close)
	db := stdlib.OpenDBFromPool(d.pool)
	t.Cleanup(func() { _ = db.Close() })
	endedSQL, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	must(t, endedSQL.Rollback())
	for name, one := range map[string]struct {
		tx   any
		want string
	}{
		"nil":               {nil, "is nil"},
		"nil pointer":       {(*sql.Tx)(nil), "is nil"},
		"nil pgx":           {(*pgxpool.Tx)(nil), "is nil"},
		"another type":      {d.pool, "*pgxpool.Pool"},
		"over":              {ended, "is over"},
		"over, stdlib":      {endedSQL, "is over"},
		"aborted":           {aborted, "is aborted"},
		"read-only":         {d.begin(pgx.TxOptions{AccessMode: pgx.ReadOnly}), "is read-only"},
		"in use":            {reading, "is in use"},
		"another database":  {begin(other), "another database"},
		"database, no Rota": {begin(empty), "another database"},
	} {
		_, _, err := d.store.ApplyTx(t.Context(), one.tx, rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "mail"}}}}})
		var e *rota.Error
		if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != "tx" || e.Hint == "" || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: got %v, want Invalid with a hint that says %q", name, err, one.want)
		}
	}
	d.clean()
}

func TestStdlibTransactionEnqueues(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	db := stdlib.OpenDBFromPool(d.pool)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	submitted, pending := d.enqueue(tx, rota.NewJob{})
	_, err = tx.ExecContext(t.Context(), `INSERT INTO orders VALUES (1, 'paid')`)
	must(t, err)
	must(t, tx.Commit())
	if !committed(t, pending) || !d.exists(submitted.Job.ID) {
		t.Error("the job does not exist")
	}
}

func TestTwoCallersWithOneUniqueKey(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	for _, commit := range []bool{true, false} {
		key := map[bool]string{true: "committed", false: "rolled back"}[commit]
		first, second := d.begin(pgx.TxOptions{}), d.begin(pgx.TxOptions{})
		held, _ := d.enqueue(first, rota.NewJob{UniqueKey: key})
		d.enqueue(second, rota.NewJob{UniqueKey: key + ", another"})
		began := time.Now()
		_, _, err := d.store.ApplyTx(t.Context(), second, enqueueKey(key))
		if rota.CodeOf(err) != rota.Busy || time.Since(began) < rota.TxLockWait {
			t.Fatalf("got %v after %s, want Busy after %s", err, time.Since(began), rota.TxLockWait)
		}
		var server *pgconn.PgError
		if !errors.As(err, &server) {
			t.Errorf("PostgreSQL's error is not in the chain of %v", err)
		}
		if commit {
			must(t, first.Commit(t.Context()))
		} else {
			must(t, first.Rollback(t.Context()))
		}
		got, _ := d.enqueue(second, rota.NewJob{UniqueKey: key})
		if got.Duplicate != commit || commit && got.Job.ID != held.Job.ID {
			t.Errorf("%s: got %+v", key, got)
		}
		must(t, second.Commit(t.Context()))
	}
	d.clean()
}

func enqueueKey(key string) rota.Batch {
	return rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "mail", UniqueKey: key}}}}}
}

// TestOpenTransactionBlocksNothingElse leaves a transaction open that has enqueued, under a unique
// key and under an undeclared type. Everything else goes on; the key itself is Busy.
func TestOpenTransactionBlocksNothingElse(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	done[*rota.Enqueued](t, d.store, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "mail"}}})
	tx := d.begin(pgx.TxOptions{})
	d.enqueue(tx, rota.NewJob{UniqueKey: "held"})
	if result, _ := d.apply(tx, &rota.PutType{Meta: rota.NewMeta("test"), Name: "declared-inside", Mode: rota.PutCreate}); result.Err != nil {
		t.Fatal(result.Err)
	}
	for i := range 300 { // keys and types that would share a lock stripe
		name := "type-" + itoa(i)
		done[*rota.TypePut](t, d.store, &rota.PutType{Meta: rota.NewMeta("test"), Name: name})
		done[*rota.Enqueued](t, d.store, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: name, UniqueKey: name}}})
	}
	claimed := done[*rota.Claimed](t, d.store, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 10, Lease: time.Minute, Seed: rota.NewToken()})
	if len(claimed.Jobs) != 1 {
		t.Fatalf("claimed %d jobs", len(claimed.Jobs))
	}
	lease := claimed.Jobs[0].Lease()
	done[*rota.Extended](t, d.store, &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute, Items: []rota.ExtendItem{{LeaseRef: lease}}})
	began := time.Now()
	results, err := d.store.Apply(t.Context(), rota.Batch{Commands: append(enqueueKey("held").Commands, enqueueKey("free").Commands...)})
	must(t, err)
	if rota.CodeOf(results[0].Err) != rota.Busy || results[1].Err != nil {
		t.Errorf("got %v and %v, want Busy for the held key alone", results[0].Err, results[1].Err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the answer took %s", took)
	}
	must(t, tx.Commit(t.Context()))
	d.clean()
}

func TestIsolationLevelsOfCallers(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	done[*rota.ThrottlePut](t, d.store, &rota.PutThrottle{Meta: rota.NewMeta("test"), Spec: rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "tenant", Concurrency: 1}}}})
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		tx := d.begin(pgx.TxOptions{IsoLevel: level})
		d.enqueue(tx, rota.NewJob{UniqueKey: string(level)})
		_, _, err := d.store.ApplyTx(t.Context(), tx, rota.Batch{Commands: []rota.Command{&rota.Enqueue{
			Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "mail", ConcurrencyKey: new("tenant")}},
		}}})
		if refused := rota.CodeOf(err) == rota.Invalid && strings.Contains(err.Error(), "REPEATABLE READ"); refused != (level != pgx.ReadCommitted) {
			t.Errorf("%s: got %v", level, err)
		}
		d.order(tx, len(level))
		must(t, tx.Commit(t.Context()))
	}
	d.clean()
}

func TestSerializationFailureReachesCaller(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	tx := d.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	_, err := tx.Exec(t.Context(), `SELECT 1 FROM orders`) // takes the snapshot
	must(t, err)
	done[*rota.Enqueued](t, d.store, enqueueKey("taken").Commands[0])
	_, _, err = d.store.ApplyTx(t.Context(), tx, enqueueKey("taken"))
	if stateOf(err) != "40001" {
		t.Errorf("got %v, want SQLSTATE 40001 in the chain", err)
	}
}

func TestTypeDeclaredInsideIsUsedInside(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	tx := d.begin(pgx.TxOptions{})
	results, pending, err := d.store.ApplyTx(t.Context(), tx, rota.Batch{Commands: []rota.Command{
		&rota.PutType{Meta: rota.NewMeta("test"), Name: "inside", Mode: rota.PutCreate},
		&rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "inside"}}},
	}})
	must(t, err)
	if results[0].Err != nil || results[1].Err != nil {
		t.Fatal(results[0].Err, results[1].Err)
	}
	must(t, tx.Rollback(t.Context()))
	if committed(t, pending) {
		t.Error("counts as committed")
	}
	if _, err := d.store.Type(t.Context(), "inside"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the type of a transaction that was rolled back: got %v, want NotFound", err)
	}
	d.clean()
}

// TestOpenTransactionDoesNotHoldItsConcurrencyKey leaves a transaction open that has enqueued under a
// limited concurrency key. Claims and enqueues of the key go on; after the commit, Ready applies the
// limit to the job.
func TestOpenTransactionDoesNotHoldItsConcurrencyKey(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	done[*rota.ThrottlePut](t, d.store, &rota.PutThrottle{Meta: rota.NewMeta("test"), Spec: rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "tenant", Concurrency: 1}}}})
	of := rota.NewJob{Type: "mail", ConcurrencyKey: new("tenant")}
	tx := d.begin(pgx.TxOptions{})
	inside, _ := d.enqueue(tx, of)
	began := time.Now()
	done[*rota.Enqueued](t, d.store, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{of}})
	claim := func() []*rota.Job {
		return done[*rota.Claimed](t, d.store, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 10, Lease: time.Minute, Seed: rota.NewToken()}).Jobs
	}
	running := claim()
	if took := time.Since(began); len(running) != 1 || took > 5*time.Second {
		t.Fatalf("claimed %d jobs within %s", len(running), took)
	}
	must(t, tx.Commit(t.Context()))
	done[*rota.Readied](t, d.store, &rota.Ready{Meta: rota.NewMeta("")})
	if jobs := claim(); len(jobs) != 0 {
		t.Fatal("two jobs of the key run")
	}
	done[*rota.Finished](t, d.store, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: running[0].Lease(), Outcome: rota.OutcomeCompleted}}})
	if jobs := claim(); len(jobs) != 1 || jobs[0].ID != inside.Job.ID {
		t.Errorf("claimed %d jobs, want the one of the caller", len(jobs))
	}
	d.clean()
}

// lateType is a type that no store has.
type lateType struct {
	N int `json:"n"`
}

func (lateType) JobType() string { return "late" }

// TestManyCallersDeclareOneType lets many callers enqueue the first jobs of a type at once.
func TestManyCallersDeclareOneType(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	client := rota.New(d.store)
	errs := make(chan error)
	const callers = 8
	for range callers {
		go func() {
			errs <- func() error {
				tx, err := d.pool.Begin(context.Background())
				if err != nil {
					return err
				}
				defer func() { _ = tx.Rollback(context.Background()) }()
				if _, err := client.EnqueueTx(context.Background(), tx, lateType{1}); err != nil {
					return err
				}
				return tx.Commit(context.Background())
			}()
		}()
	}
	for range callers {
		must(t, <-errs)
	}
	if n := rows(t, d.store, `SELECT count(*) FROM rota_jobs WHERE type = 'late'`)[0][0]; n != itoa(callers) {
		t.Errorf("%s jobs, want %d", n, callers)
	}
	d.clean()
}

func TestRefusalBeforeAnythingIsReadLeavesTransactionUsable(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	tx := d.begin(pgx.TxOptions{})
	result, _ := d.apply(tx, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{}}})
	if result.Err == nil || result.Err.Code != rota.Invalid {
		t.Fatalf("got %v, want Invalid", result.Err)
	}
	d.order(tx, 1)
	must(t, tx.Commit(t.Context()))
}

// TestFailureOfFastPathLeavesTransactionUsable sends a simple job that the database refuses.
func TestFailureOfFastPathLeavesTransactionUsable(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	ctx := t.Context()
	_, err := d.pool.Exec(ctx, d.store.dialect.qualify(`ALTER TABLE rota_jobs ADD CONSTRAINT jobs_of_test CHECK (params NOT LIKE '%refused%')`))
	must(t, err)
	conn, err := d.pool.Acquire(ctx)
	must(t, err)
	defer conn.Release()
	for round, params := range []string{`{}`, `{"text": "refused"}`} { // the first makes the connection known
		tx, err := conn.Begin(ctx)
		must(t, err)
		_, _, err = d.store.ApplyTx(ctx, tx, rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "mail", Params: []byte(params)}}}}})
		if refused := stateOf(err) == "23514"; refused != (round == 1) {
			t.Fatalf("%s: got %v", params, err)
		}
		d.order(tx, round)
		must(t, tx.Commit(ctx))
	}
	if n := rows(t, d.store, `SELECT count(*) FROM rota_jobs`)[0][0]; n != "1" {
		t.Errorf("%s jobs, want 1", n)
	}
}
