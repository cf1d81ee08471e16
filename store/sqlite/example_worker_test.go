package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// worker runs jobs in this process, each in its own goroutine. Only the goroutine of run uses the
// map.
type worker struct {
	store    rota.Store
	name     string // the same at every start, so that Recover finds the runs of an earlier incarnation
	handlers map[string]func(context.Context, *rota.Job) error
	types    []string      // types with a handler
	slots    int           // concurrent jobs
	lease    time.Duration // how long a job stays leased after this process has died
	grace    time.Duration // how long a handler may take to stop

	incarnation rota.ID                // this start of this process
	running     map[rota.ID]runningJob // by the id of the run
	ended       chan rota.FinishItem   // from the handlers, with a buffer for all of them
	base        context.Context        // parent of the contexts of handlers
}

type runningJob struct {
	lease rota.LeaseRef
	stop  context.CancelCauseFunc
}

// Why a handler's context ended.
var (
	errTimeout   = errors.New("the timeout of the job is over")
	errCancelled = errors.New("the job was cancelled")
	errLost      = errors.New("the lease is lost")
	errShutdown  = errors.New("the process is shutting down")
)

// run works until ctx ends, then lets the handlers finish, and cancels them when the grace period
// is over. After an error the next run recovers, as after a crash.
func (w *worker) run(ctx context.Context) error {
	w.incarnation, w.running, w.ended = rota.NewID(), map[rota.ID]runningJob{}, make(chan rota.FinishItem, w.slots)
	base, cut := context.WithCancelCause(context.Background())
	defer cut(errShutdown)
	w.base = base
	for more := true; more; {
		recovered, err := send[*rota.Recovered](w, &rota.Recover{Meta: rota.NewMeta(""), Runner: w.name, Incarnation: w.incarnation})
		if err != nil {
			return err
		}
		more = recovered.More
	}
	wake, unwake := w.store.Wake()
	defer unwake()
	beat := time.NewTicker(w.lease / 3)
	defer beat.Stop()
	for stopping := ctx.Done(); ctx.Err() == nil || len(w.running) > 0; {
		due, err := w.take(ctx)
		if err != nil {
			return err
		}
		select { // after every event, take runs again
		case <-wake:
		case <-due:
		case <-beat.C:
			err = w.beat()
		case first := <-w.ended:
			err = w.finish(first)
		case <-stopping:
			stopping = nil
			time.AfterFunc(w.grace, func() { cut(errShutdown) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take makes due jobs ready, claims as many jobs as there are free slots, and returns when the next
// job is due.
func (w *worker) take(ctx context.Context) (due <-chan time.Time, err error) {
	if _, err := send[*rota.Readied](w, &rota.Ready{Meta: rota.NewMeta("")}); err != nil {
		return nil, err
	}
	if free := w.slots - len(w.running); free > 0 && ctx.Err() == nil {
		claimed, err := send[*rota.Claimed](w, &rota.Claim{
			Meta: rota.NewMeta(""), Worker: w.name, Incarnation: w.incarnation, Seed: rota.NewToken(),
			Types: w.types, Limit: free, Lease: w.lease,
		})
		if err != nil {
			return nil, err
		}
		for _, job := range claimed.Jobs {
			w.start(job)
		}
	}
	next, err := w.store.NextDue(context.Background())
	if err != nil || next.Ready.IsZero() {
		return nil, err
	}
	return time.After(time.Until(next.Ready)), nil
}

// start runs the handler. The worker enforces the timeout of the job, not the store.
func (w *worker) start(job *rota.Job) {
	ctx, stop := context.WithCancelCause(w.base)
	w.running[job.Run.ID] = runningJob{job.Lease(), stop}
	ended, returned := w.ended, make(chan error, 1)
	go func() { returned <- w.handlers[job.Type](ctx, job) }()
	go func() {
		defer stop(nil)
		if job.Policy.Timeout > 0 {
			defer time.AfterFunc(job.Policy.Timeout, func() { stop(errTimeout) }).Stop()
		}
		select {
		case err := <-returned:
			ended <- outcome(ctx, job, err)
			return
		case <-ctx.Done():
		}
		select {
		case err := <-returned:
			ended <- outcome(ctx, job, err)
		case <-time.After(w.grace): // the handler hangs; only this process can end its run
			ended <- outcome(ctx, job, context.Cause(ctx))
		}
	}()
}

// outcome translates the error of a handler. A handler that completed although it was cancelled has
// completed.
func outcome(ctx context.Context, job *rota.Job, err error) rota.FinishItem {
	item := rota.FinishItem{LeaseRef: job.Lease(), Outcome: rota.OutcomeCompleted}
	if err == nil {
		return item
	}
	item.Outcome = rota.OutcomeFailed
	item.Error = strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "?"), "\x00", "?") // the store refuses other text
	switch context.Cause(ctx) {
	case errTimeout: // retried like a failure
		item.Outcome, item.ErrorCode = rota.OutcomeCancelled, rota.CodeTimeout
	case errCancelled: // never retried
		item.Outcome = rota.OutcomeCancelled
	case errShutdown: // retried at once
		item.ErrorCode = rota.CodeShutdown
	}
	return item
}

// beat extends all leases in one command and cancels the handlers of lost or cancelled runs. Then
// it reaps stale runs, which are never its own.
func (w *worker) beat() error {
	extend := &rota.Extend{Meta: rota.NewMeta(""), Lease: w.lease}
	for _, job := range w.running {
		extend.Items = append(extend.Items, rota.ExtendItem{LeaseRef: job.lease})
	}
	if len(extend.Items) > 0 {
		extended, err := send[*rota.Extended](w, extend)
		if err != nil {
			return err
		}
		for _, answer := range extended.Items {
			switch {
			case answer.Code == rota.LeaseLost:
				w.running[answer.RunID].stop(errLost)
			case answer.Cancel:
				w.running[answer.RunID].stop(errCancelled)
			}
		}
	}
	_, err := send[*rota.Reaped](w, &rota.Reap{Meta: rota.NewMeta(""), Incarnation: w.incarnation})
	return err
}

// finish reports all ended runs in one command.
func (w *worker) finish(first rota.FinishItem) error {
	finish := &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{first}}
	for len(w.ended) > 0 {
		finish.Items = append(finish.Items, <-w.ended)
	}
	finished, err := send[*rota.Finished](w, finish)
	if err != nil {
		return err
	}
	for _, answer := range finished.Items { // a lost lease was not finished; another attempt replaces it
		delete(w.running, answer.RunID)
	}
	return nil
}

// send sends a command until the store answers: a command that is sent again is applied once. It
// ignores the contexts of callers, because a claim without an answer would be lost.
func send[R rota.Reply](w *worker, command rota.Command) (R, error) {
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	for {
		reply, err := rota.Do[R](ctx, w.store, command)
		if code := rota.CodeOf(err); ctx.Err() != nil || code != rota.Busy && code != rota.Unavailable {
			return reply, err
		}
		time.Sleep(time.Second)
	}
}

// A complete worker: it recovers, claims, extends leases, enforces timeouts and stops cleanly.
func Example_worker() {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, err := sqlite.Open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	store := wrap.Coalesce(file)

	seen := make(chan string)
	waitForCancel := func(ctx context.Context, job *rota.Job) error {
		seen <- job.Name
		<-ctx.Done()
		return context.Cause(ctx)
	}
	w := &worker{
		store: store, name: "mailer", types: []string{"mail", "report"}, slots: 4, lease: time.Second, grace: 10 * time.Second,
		handlers: map[string]func(context.Context, *rota.Job) error{
			"mail":   func(_ context.Context, job *rota.Job) error { seen <- job.Name; return nil },
			"report": waitForCancel,
		},
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- w.run(ctx) }()

	enqueued, err := rota.Do[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{
		{Type: "report", Name: "slow", Timeout: new(10 * time.Millisecond), MaxRetries: new(0)},
		{Type: "report", Name: "unwanted"},
		{Type: "mail", Name: "later", Delay: 50 * time.Millisecond},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for range enqueued.Jobs {
		if name := <-seen; name == "unwanted" {
			_, err := rota.Do[*rota.CancelledJob](ctx, store, &rota.Cancel{
				Meta: rota.NewMeta("ada"), JobID: enqueued.Jobs[1].Job.ID, Reason: "not today",
			})
			if err != nil {
				log.Fatal(err)
			}
		}
	}
	stop() // the worker claims no more and waits for its handlers
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}

	for _, one := range enqueued.Jobs {
		job, err := store.Job(context.Background(), one.Job.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job.Name, job.State(), job.Run.ErrorCode)
	}
	// Output:
	// slow failed timeout
	// unwanted cancelled cancelled
	// later completed
}
