package postgres

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
)

// callerRun is a run that ends in a transaction of the caller.
type callerRun struct {
	*callerDatabase
	job *rota.Job
}

// run enqueues a job and dispatches it.
func (d *callerDatabase) run(job rota.NewJob) *callerRun {
	d.Helper()
	id := done[*rota.Enqueued](d, d.store, mailJob(job).Commands[0]).Jobs[0].Job.ID
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Incarnation: rota.NewID(), Types: []string{"mail"}, Limit: 100, Lease: time.Minute, Seed: rota.NewToken()}
	for _, j := range done[*rota.Claimed](d, d.store, claim).Jobs {
		if j.ID == id {
			return &callerRun{d, j}
		}
	}
	d.Fatal("the job is not dispatched")
	return nil
}

func (r *callerRun) completion() rota.FinishItem {
	return rota.FinishItem{LeaseRef: r.job.Lease(), Outcome: rota.OutcomeCompleted}
}

// finish ends the run in a transaction, and reports whether the fast path did: the way of the batch
// without the plain way.
func (r *callerRun) finish(tx pgx.Tx, item rota.FinishItem) (answer rota.FinishAnswer, fast bool, err error) {
	r.Helper()
	batch := rota.Batch{Commands: []rota.Command{&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}}}}
	var decisions int
	r.store.onDecided = func([]rota.Command) { decisions++ } // only the plain way calls it
	defer func() { r.store.onDecided = nil }()
	results, _, err := r.store.ApplyTx(r.Context(), tx, batch)
	if err == nil && results[0].Err != nil {
		err = results[0].Err
	}
	if err != nil {
		return answer, decisions == 0, err
	}
	return results[0].Reply.(*rota.Finished).Items[0], decisions == 0, nil
}

func (r *callerRun) stored() *rota.Job {
	r.Helper()
	j, err := r.store.Job(r.Context(), r.job.ID)
	must(r, err)
	return j
}

// TestFastCompletionStoresWhatThePlainWayStores compares the rows of both ways.
func TestFastCompletionStoresWhatThePlainWayStores(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	exitCode, rowsAffected, tenant := 7, int64(12), "tenant"
	full := rota.FinishItem{ExitCode: &exitCode, RowsAffected: &rowsAffected, Result: []byte(`{"sent":1}`), LogPath: "logs/1", EndedAgo: time.Millisecond}
	for _, one := range []struct {
		name string
		job  rota.NewJob
		item rota.FinishItem
		fast bool
	}{
		{"plain job", rota.NewJob{}, rota.FinishItem{}, true},
		{"all that a run may report", rota.NewJob{}, full, true},
		{"unique key until pruned", rota.NewJob{UniqueKey: "kept"}, full, true},
		{"unique key for a while", rota.NewJob{UniqueKey: "while", UniqueFor: time.Hour}, full, false},
		{"concurrency key", rota.NewJob{ConcurrencyKey: &tenant}, full, false},
		{"artifacts", rota.NewJob{}, rota.FinishItem{Artifacts: []string{"report.pdf"}}, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			d := &callerDatabase{t, d.store, d.pool, d.url}
			var stored []*rota.Job
			for _, disable := range []FastPath{0, CallerFinish} {
				d.store.config.Disable = disable
				if one.job.UniqueKey != "" {
					one.job.UniqueKey += "'"
				}
				r := d.run(one.job)
				item := one.item
				item.LeaseRef, item.Outcome = r.job.Lease(), rota.OutcomeCompleted
				tx := d.begin(pgx.TxOptions{})
				answer, fast, err := r.finish(tx, item)
				must(t, err)
				if answer.Outcome != rota.OutcomeCompleted || fast != (one.fast && disable == 0) {
					t.Errorf("disabled %q: answer %+v, fast %t", disable, answer, fast)
				}
				must(t, tx.Commit(t.Context()))
				j := r.stored()
				if took := j.FinishedAt.Sub(r.job.StartedAt); took < 0 || took > time.Minute || !j.FinishedAt.Equal(j.Run.FinishedAt) {
					t.Errorf("finished %s after the start; the run ended at %s, the job at %s", took, j.Run.FinishedAt, j.FinishedAt)
				}
				stored = append(stored, withoutIdentity(j))
			}
			d.store.config.Disable = 0
			if !reflect.DeepEqual(stored[0], stored[1]) {
				t.Errorf("the fast way stores\n%+v %+v\nand the plain way\n%+v %+v", stored[0], stored[0].Run, stored[1], stored[1].Run)
			}
		})
	}
	d.clean()
}

// withoutIdentity returns a job without what differs between two jobs.
func withoutIdentity(j *rota.Job) *rota.Job {
	var zero time.Time
	job, run := *j, *j.Run
	job.ID, job.ExecutionID, job.CreatedAt, job.QueuedAt, job.StartedAt, job.FinishedAt, job.UniqueKey = rota.ID{}, rota.ID{}, zero, zero, zero, zero, ""
	run.ID, run.Incarnation, run.Token, run.StartedAt, run.HeartbeatAt, run.StaleAfter, run.FinishedAt = rota.ID{}, rota.ID{}, rota.Token{}, zero, zero, zero, zero
	job.Position, job.Run = 0, &run
	return &job
}

// TestFastCompletionChecksItsAssumptions changes what the fast path assumes, behind the store's back.
func TestFastCompletionChecksItsAssumptions(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	other := openAt(t, d.url, Config{})
	extend := func(r *callerRun) {
		done[*rota.Extended](r, other, &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Hour, Items: []rota.ExtendItem{{LeaseRef: r.job.Lease()}}})
	}
	for id, one := range []struct {
		name   string
		change func(*callerRun)
		want   rota.Code
	}{
		{"the lease was extended", extend, ""},
		{"a cancel was requested", func(r *callerRun) {
			done[rota.Reply](r, other, &rota.Cancel{Meta: rota.NewMeta("test"), JobID: r.job.ID})
		}, ""},
		{"the limits changed", func(r *callerRun) {
			done[*rota.ThrottlePut](r, other, &rota.PutThrottle{Meta: rota.NewMeta("test"), Spec: rota.ThrottleSpec{Global: 500}})
		}, ""},
		{"a node was reserved", func(r *callerRun) {
			done[*rota.Reserved](r, other, &rota.Reserve{Meta: rota.NewMeta("test"), Node: "n"})
		}, ""},
		{"another process ended the run", func(r *callerRun) {
			done[*rota.Finished](r, other, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: r.job.Lease(), Outcome: rota.OutcomeFailed, Error: "gone"}}})
		}, rota.LeaseLost},
	} {
		t.Run(one.name, func(t *testing.T) {
			r := (&callerDatabase{t, d.store, d.pool, d.url}).run(rota.NewJob{MaxRetries: new(int)})
			one.change(r)
			tx := r.begin(pgx.TxOptions{})
			r.order(tx, id)
			answer, fast, err := r.finish(tx, r.completion())
			must(t, err)
			if fast || answer.Code != one.want {
				t.Errorf("fast %t, answer %+v", fast, answer)
			}
			must(t, tx.Commit(t.Context()))
			if got := r.stored().Run.Outcome; one.want == "" && got != rota.OutcomeCompleted {
				t.Errorf("the run is %s", got)
			}
		})
	}
	d.clean()
}

// TestFastCompletionThatIsRolledBack ends the run again, in a transaction and then outside.
func TestFastCompletionThatIsRolledBack(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	r := d.run(rota.NewJob{})
	for range 2 {
		tx := d.begin(pgx.TxOptions{})
		if answer, _, err := r.finish(tx, r.completion()); err != nil || answer.Outcome != rota.OutcomeCompleted {
			t.Fatalf("%+v, %v", answer, err)
		}
		must(t, tx.Rollback(t.Context()))
	}
	if j := r.stored(); !j.Run.Open() {
		t.Errorf("the run is %s after a rollback", j.Run.Outcome)
	}
	item := r.completion()
	item.Outcome, item.ErrorCode = rota.OutcomeFailed, rota.CodeUncommitted
	done[*rota.Finished](t, d.store, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}})
	if j := r.stored(); j.Run.Outcome != rota.OutcomeFailed || j.Run.ErrorCode != rota.CodeUncommitted {
		t.Errorf("got %+v", j.Run)
	}
	d.clean()
}

// TestFastCompletionOfLockedJobIsBusy: another transaction holds the row. The caller's stays usable,
// and nothing stays in its connection.
func TestFastCompletionOfLockedJobIsBusy(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	r := d.run(rota.NewJob{})
	holder := d.begin(pgx.TxOptions{})
	_, err := holder.Exec(t.Context(), d.store.dialect.qualify(`SELECT 1 FROM rota_jobs WHERE id = $1 FOR UPDATE`), r.job.ID.String())
	must(t, err)
	tx := d.begin(pgx.TxOptions{})
	before := settingsOfCaller(t, tx)
	began := time.Now()
	_, _, err = r.finish(tx, r.completion())
	if took := time.Since(began); rota.CodeOf(err) != rota.Busy || took > 10*time.Second {
		t.Errorf("got %v after %s, want Busy", err, took)
	}
	must(t, holder.Rollback(t.Context()))
	if answer, _, err := r.finish(tx, r.completion()); err != nil || answer.Outcome != rota.OutcomeCompleted {
		t.Errorf("%+v, %v", answer, err)
	}
	if after := settingsOfCaller(t, tx); after != before {
		t.Errorf("settings were %s and are %s", before, after)
	}
	d.order(tx, 1)
	must(t, tx.Commit(t.Context()))
	d.clean()
}

// TestFastCompletionInFixedSnapshot: a conflict reaches the caller, as with its own statements.
func TestFastCompletionInFixedSnapshot(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	r := d.run(rota.NewJob{})
	tx := d.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	d.order(tx, 1) // takes the snapshot
	_, err := d.pool.Exec(context.Background(), d.store.dialect.qualify(`UPDATE rota_jobs SET stale_after = stale_after + 1 WHERE id = $1`), r.job.ID.String())
	must(t, err)
	_, _, err = r.finish(tx, r.completion())
	if stateOf(err) != "40001" {
		t.Errorf("got %v, want a serialization failure", err)
	}
	if err != nil && !strings.Contains(err.Error(), "40001") {
		t.Errorf("the text %q does not have the SQLSTATE", err)
	}
	must(t, tx.Rollback(t.Context()))
	d.clean()
}
