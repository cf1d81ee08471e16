package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	driver "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const (
	jobType    = "bench"
	worker     = "bench-worker"
	paramBytes = 200
)

// paramsText is a JSON object of paramBytes bytes.
func paramsText() string { return `{"text":"` + innerText() + `"}` }

func innerText() string { return strings.Repeat("x", paramBytes-len(`{"text":""}`)) }

func repeatParams(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = paramsText()
	}
	return all
}

func newJobs(n int) []rota.NewJob {
	jobs := make([]rota.NewJob, n)
	for i, p := range repeatParams(n) {
		jobs[i] = rota.NewJob{Type: jobType, Params: []byte(p)}
	}
	return jobs
}

// apply sends one command and returns its reply.
func apply[R rota.Reply](ctx context.Context, store rota.Store, c rota.Command) (reply R, err error) {
	results, err := store.Apply(ctx, rota.Batch{Commands: []rota.Command{c}})
	if err != nil {
		return reply, err
	}
	if results[0].Err != nil {
		return reply, results[0].Err
	}
	return results[0].Reply.(R), nil
}

func enqueue(ctx context.Context, store rota.Store, jobs []rota.NewJob) error {
	reply, err := apply[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
	if err == nil && len(reply.Jobs) != len(jobs) {
		err = fmt.Errorf("enqueued %d of %d jobs", len(reply.Jobs), len(jobs))
	}
	return err
}

// enqueueAll enqueues n jobs in large batches.
func enqueueAll(ctx context.Context, store rota.Store, n int) error {
	for n > 0 {
		some := min(n, rota.JobsMax/2)
		if err := enqueue(ctx, store, newJobs(some)); err != nil {
			return err
		}
		n -= some
	}
	return nil
}

// incarnation is that of this process, for its claims.
var incarnation = rota.NewID()

func newClaim(n int) *rota.Claim {
	c := &rota.Claim{
		Meta: rota.NewMeta(""), Worker: worker, Incarnation: incarnation, Types: []string{jobType}, Limit: n, Lease: rota.DefaultLease,
	}
	_, _ = rand.Read(c.Seed[:]) // never fails
	return c
}

func claim(ctx context.Context, store rota.Store, n int) ([]*rota.Job, error) {
	reply, err := apply[*rota.Claimed](ctx, store, newClaim(n))
	if err != nil {
		return nil, err
	}
	if len(reply.Jobs) != n {
		return nil, fmt.Errorf("claimed %d of %d jobs", len(reply.Jobs), n)
	}
	return reply.Jobs, nil
}

func finish(ctx context.Context, store rota.Store, jobs []*rota.Job) error {
	c := &rota.Finish{Meta: rota.NewMeta(""), Items: make([]rota.FinishItem, len(jobs))}
	for i, j := range jobs {
		ref := rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
		c.Items[i] = rota.FinishItem{LeaseRef: ref, Outcome: rota.OutcomeCompleted}
	}
	reply, err := apply[*rota.Finished](ctx, store, c)
	if err != nil {
		return err
	}
	for _, answer := range reply.Items {
		if answer.Outcome != rota.OutcomeCompleted {
			return fmt.Errorf("run %s was answered %q", answer.RunID, answer.Code)
		}
	}
	return nil
}

// withStore opens a store, uses it and closes it.
func withStore(path string, use func(*sqlite.Store) error) error {
	store, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	err = use(store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	return err
}

// create creates an empty store, or opens an existing one and closes it.
func create(path string) error {
	return withStore(path, func(*sqlite.Store) error { return nil })
}

// counts holds numbers of rows of a file.
type counts struct {
	queued, running, completed int

	blocked   int // queued members of groups that wait for an earlier member
	schedules int
}

func (c counts) plus(o counts) counts {
	return counts{
		c.queued + o.queued, c.running + o.running, c.completed + o.completed, c.blocked + o.blocked, c.schedules + o.schedules,
	}
}

// audit fails if a file does not hold the expected rows, or if a row violates an invariant. So a subject that skips
// work gets no figure.
func audit(ctx context.Context, path string, want counts) error {
	got, err := count(path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the file holds %+v, not %+v", got, want)
	}
	return verify(ctx, path)
}

func verify(ctx context.Context, path string) error {
	return withStore(path, func(store *sqlite.Store) error {
		for violation, err := range store.Verify(ctx) {
			if err != nil {
				return err
			}
			return fmt.Errorf("verify: %+v", violation)
		}
		return nil
	})
}

const sqlCount = `
SELECT count(*) FILTER (WHERE status = 'QUEUED'),
  count(*) FILTER (WHERE status = 'RUNNING' AND sequel IS NULL),
  count(*) FILTER (WHERE status = 'RUNNING' AND sequel = 'none' AND outcome = 'COMPLETED'),
  count(*) FILTER (WHERE status = 'QUEUED' AND hold & 2),
  (SELECT count(*) FROM rota_schedules)
FROM rota_jobs`

func count(path string) (c counts, err error) {
	conn, err := driver.OpenConn(path, driver.OpenReadWrite)
	if err != nil {
		return c, err
	}
	defer conn.Close()
	err = sqlitex.ExecuteTransient(conn, sqlCount, &sqlitex.ExecOptions{ResultFunc: func(s *driver.Stmt) error {
		c = counts{s.ColumnInt(0), s.ColumnInt(1), s.ColumnInt(2), s.ColumnInt(3), s.ColumnInt(4)}
		return nil
	}})
	return c, err
}
