package rota

import (
	"context"
	"fmt"
	"time"
)

// Client is the way for a Go program to submit jobs and to declare schedules. It
// is safe for concurrent use.
type Client struct {
	store    Store
	actor    string
	checker  Checker
	trace    func(context.Context) string
	declared declaredTypes
}

// ClientOption changes how a client works.
type ClientOption func(*Client)

// WithActor names on whose behalf the client acts; it stands in the audit.
func WithActor(name string) ClientOption { return func(c *Client) { c.actor = name } }

// WithChecker holds every payload to the schema of its Go type before it is
// accepted, and declares the type with that schema. Package payload has one:
//
//	rota.New(store, rota.WithChecker(payload.NewChecker()))
func WithChecker(checker Checker) ClientOption { return func(c *Client) { c.checker = checker } }

// WithTrace lets each job that the client enqueues go on from the trace of
// whoever enqueues it: the function answers with a traceparent of W3C Trace
// Context. Where it knows none, or something else, the job has no trace. Package
// telemetry has one:
//
//	rota.New(store, rota.WithTrace(telemetry.Traceparent))
func WithTrace(trace func(context.Context) string) ClientOption {
	return func(c *Client) { c.trace = trace }
}

// New makes a client of a store.
func New(store Store, options ...ClientOption) *Client {
	c := &Client{store: store}
	for _, option := range options {
		option(c)
	}
	return c
}

// Store is where the client's commands go.
func (c *Client) Store() Store { return c.store }

// Actor is on whose behalf the client acts.
func (c *Client) Actor() string { return c.actor }

// Enqueue puts a job into the queue. If its unique or plan key is taken, it
// answers with the job that holds it; Submit tells the two apart.
//
// A payload that is wrong is Invalid, and the field says where, such as
// params.to. After Unavailable the job may have been enqueued or not; with
// Unique, trying again is harmless.
func (c *Client) Enqueue(ctx context.Context, p Payload, options ...Option) (*Job, error) {
	submitted, err := c.Submit(ctx, p, options...)
	return submitted.Job, err
}

// Submit puts a job into the queue, and says whether it was there already.
func (c *Client) Submit(ctx context.Context, p Payload, options ...Option) (Submitted, error) {
	job, err := c.newJob(p, options)
	if err != nil {
		return Submitted{}, about("enqueue", err)
	}
	jobs, err := c.enqueue(ctx, []Payload{p}, []NewJob{job})
	if err != nil {
		return Submitted{}, about("enqueue", withoutIndex(err))
	}
	return jobs[0], nil
}

// EnqueueMany puts jobs into the queue, all of them or none, in their order. The
// options are for each of them. Of no payloads it makes nothing. What is wrong
// with one is told by its place, such as jobs[2].params.to.
func (c *Client) EnqueueMany(ctx context.Context, payloads []Payload, options ...Option) ([]Submitted, error) {
	if len(payloads) == 0 {
		return nil, nil
	}
	jobs := make([]NewJob, len(payloads))
	for i, p := range payloads {
		job, err := c.newJob(p, options)
		if err != nil {
			return nil, about("enqueue", within(fmt.Sprintf("jobs[%d]", i), err))
		}
		jobs[i] = job
	}
	if err := checkDistinct(jobs); err != nil {
		return nil, about("enqueue", err)
	}
	submitted, err := c.enqueue(ctx, payloads, jobs)
	return submitted, about("enqueue", err)
}

// newJob is the job that a payload and its options ask for.
func (c *Client) newJob(p Payload, options []Option) (NewJob, error) {
	params, err := c.params(p)
	if err != nil {
		return NewJob{}, err
	}
	r := request{call: callEnqueue}
	if err := r.take(options); err != nil {
		return NewJob{}, err
	}
	r.job.Type, r.job.Params = p.JobType(), params
	return r.job, nil
}

// checkDistinct refuses one key for many jobs: all but the first would be taken
// for that one sent again, and be lost.
func checkDistinct(jobs []NewJob) error {
	seen := map[string]int{}
	for i, job := range jobs {
		first, again := seen[job.Type]
		switch {
		case again && job.UniqueKey != "":
			return Invalidf(fmt.Sprintf("jobs[%d].unique_key", i), "is the key of jobs[%d] too, which has the same type; enqueue them one by one, each with its own", first)
		case again && !job.PlanTime.IsZero():
			return Invalidf(fmt.Sprintf("jobs[%d].plan_time", i), "is the time of jobs[%d] too, which has the same name; enqueue them one by one, each with its own", first)
		}
		seen[job.Type] = i
	}
	return nil
}

func (c *Client) enqueue(ctx context.Context, payloads []Payload, jobs []NewJob) ([]Submitted, error) {
	c.traced(ctx, jobs)
	command := &Enqueue{Meta: NewMeta(c.actor), Jobs: jobs}
	if err := CheckCommand(command); err != nil {
		return nil, err
	}
	for _, p := range payloads {
		if err := c.declare(ctx, p); err != nil {
			return nil, err
		}
	}
	enqueued, err := settle[*Enqueued](ctx, c.store, command)
	if err != nil {
		return nil, err
	}
	return enqueued.Jobs, nil
}

// traced lets jobs go on from the trace of their caller. A trace is no reason to
// refuse a job.
func (c *Client) traced(ctx context.Context, jobs []NewJob) {
	if c.trace == nil {
		return
	}
	trace := c.trace(ctx)
	if !ValidTrace(trace) {
		return
	}
	for i := range jobs {
		jobs[i].Trace = trace
	}
}

// Cancel stops a job: one that waits at once, one that runs by asking. An
// attempt that has been retried stands for the last of its execution.
func (c *Client) Cancel(ctx context.Context, id ID, reason string) (*CancelledJob, error) {
	return settle[*CancelledJob](ctx, c.store, &Cancel{Meta: NewMeta(c.actor), JobID: id, Reason: reason})
}

// Retry tries an execution anew that died, was cancelled or was skipped, as a
// fresh job with the same params. The id is that of any attempt.
func (c *Client) Retry(ctx context.Context, id ID) (*Job, error) {
	redriven, err := settle[*Redriven](ctx, c.store, &Redrive{Meta: NewMeta(c.actor), JobID: id})
	if err != nil {
		return nil, err
	}
	return redriven.Job, nil
}

// Job returns a job with its run, or NotFound.
func (c *Client) Job(ctx context.Context, id ID) (*Job, error) { return c.store.Job(ctx, id) }

// settlePauses are how long settle waits before it sends a command again.
var settlePauses = []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond}

// settle applies a command, and sends it again a few times while the store is
// not there: it is the same command, so that it is not done twice. A caller who
// began anew would make another.
func settle[R Reply](ctx context.Context, s Store, command Command) (R, error) {
	for _, pause := range settlePauses {
		reply, err := Do[R](ctx, s, command)
		if CodeOf(err) != Unavailable || ctx.Err() != nil {
			return reply, err
		}
		select {
		case <-ctx.Done():
			return reply, err
		case <-time.After(pause):
		}
	}
	return Do[R](ctx, s, command)
}

// about says what was being done, unless the error says so itself.
func about(act string, err error) error {
	e, is := err.(*Error)
	if !is || e.Act != "" {
		return err
	}
	named := *e
	named.Act = act
	return &named
}
