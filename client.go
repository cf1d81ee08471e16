package rota

import (
	"context"
	"fmt"
	"time"
)

// Client submits jobs and declares schedules for a Go program. New returns one for a
// store in the same process, Dial of package client returns one for a server. It is safe
// for concurrent use.
type Client struct {
	store    Store
	actor    string
	checker  Checker
	lenient  bool // a Go type without a schema is accepted
	trace    func(context.Context) string
	retryFor time.Duration // how long a call is repeated while the store is unavailable
	declared declaredTypes
	payloads payloadTypes
}

// ClientOption configures a client.
type ClientOption func(*Client)

// WithActor names the user or program on whose behalf the client acts. The audit
// records it.
func WithActor(name string) ClientOption { return func(c *Client) { c.actor = name } }

// WithChecker replaces the checker of package payload, which clients use by default:
// it validates every payload against the schema of its Go type before the client
// accepts it, and declares the type with that schema. A checker that is given here
// refuses a Go type that has no schema. With nil the client checks no schemas and
// declares types without one.
func WithChecker(checker Checker) ClientOption {
	return func(c *Client) { c.checker, c.lenient = checker, false }
}

// WithTrace links each job that the client enqueues to the trace of its caller.
// The function returns a traceparent of W3C Trace Context for the context. If the
// function returns an invalid value or none, the job has no trace. Package
// telemetry provides such a function:
//
//	rota.New(store, rota.WithTrace(telemetry.Traceparent))
func WithTrace(trace func(context.Context) string) ClientOption {
	return func(c *Client) { c.trace = trace }
}

// New returns a client for a store. The client checks each payload against the schema
// of its Go type, and calls its Validate; see Payload and WithChecker. For a Go type
// that has no schema, such as one with a MarshalJSON of its own, it only calls Validate.
func New(store Store, options ...ClientOption) *Client {
	c := &Client{store: store, checker: defaultChecker, lenient: true, retryFor: DefaultRetryFor}
	for _, option := range options {
		option(c)
	}
	return c
}

// Store returns the store that the client sends its commands to. That of a server supports
// only what the methods of the client need.
func (c *Client) Store() Store { return c.store }

// Actor returns the name that WithActor set. It is empty for a server, which knows the
// actor by the token.
func (c *Client) Actor() string { return c.actor }

// Enqueue adds a job to the queue. If the unique key or plan key is taken, it
// returns the job that holds the key; Submit distinguishes the two cases.
//
// A wrong payload gives an Invalid error that names the field, such as params.to.
// After Unavailable the job may or may not have been enqueued. With Unique it is
// safe to try again.
func (c *Client) Enqueue(ctx context.Context, p Payload, options ...Option) (*Job, error) {
	submitted, err := c.Submit(ctx, p, options...)
	return submitted.Job, err
}

// Submit adds a job to the queue and reports whether it was a duplicate.
func (c *Client) Submit(ctx context.Context, p Payload, options ...Option) (Submitted, error) {
	return c.submit(ctx, c.inStore, p, options)
}

func (c *Client) submit(ctx context.Context, send sender, p Payload, options []Option) (Submitted, error) {
	job, err := c.newJob(p, options)
	if err != nil {
		return Submitted{}, withAct("enqueue", err)
	}
	jobs, err := c.enqueue(ctx, send, []Payload{p}, []NewJob{job})
	if err != nil {
		return Submitted{}, withAct("enqueue", withoutPrefix(err, "jobs[0]."))
	}
	return jobs[0], nil
}

// EnqueueMany adds all jobs to the queue in their order, or none. The options apply
// to each job. Without payloads it does nothing. An error names the index and the
// field, such as jobs[2].params.to.
func (c *Client) EnqueueMany(ctx context.Context, payloads []Payload, options ...Option) ([]Submitted, error) {
	return c.submitMany(ctx, c.inStore, payloads, options)
}

func (c *Client) submitMany(ctx context.Context, send sender, payloads []Payload, options []Option) ([]Submitted, error) {
	if len(payloads) == 0 {
		return nil, nil
	}
	jobs := make([]NewJob, len(payloads))
	for i, p := range payloads {
		job, err := c.newJob(p, options)
		if err != nil {
			return nil, withAct("enqueue", within(fmt.Sprintf("jobs[%d]", i), err))
		}
		jobs[i] = job
	}
	if err := checkDistinct(jobs); err != nil {
		return nil, withAct("enqueue", err)
	}
	submitted, err := c.enqueue(ctx, send, payloads, jobs)
	return submitted, withAct("enqueue", err)
}

// newJob returns the job that a payload and its options describe.
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

// checkDistinct refuses one key for several jobs: the store would treat all but the
// first as duplicates.
func checkDistinct(jobs []NewJob) error {
	seen := map[string]int{}
	for i, job := range jobs {
		first, again := seen[job.Type]
		switch {
		case again && job.UniqueKey != "":
			return Invalidf(fmt.Sprintf("jobs[%d].unique_key", i), "is also the key of jobs[%d], which has the same type; enqueue each job on its own with its own key", first)
		case again && !job.PlanTime.IsZero():
			return Invalidf(fmt.Sprintf("jobs[%d].plan_time", i), "is also the time of jobs[%d], which has the same name; enqueue each job on its own with its own time", first)
		}
		seen[job.Type] = i
	}
	return nil
}

func (c *Client) enqueue(ctx context.Context, send sender, payloads []Payload, jobs []NewJob) ([]Submitted, error) {
	c.traced(ctx, jobs)
	command := &Enqueue{Meta: NewMeta(c.actor), Jobs: jobs}
	if err := CheckCommand(command); err != nil {
		return nil, err
	}
	result, err := send(ctx, payloads, command)
	if err != nil {
		return nil, err
	}
	enqueued, err := replyOf[*Enqueued](command, result)
	if err != nil {
		return nil, err
	}
	return enqueued.Jobs, nil
}

// sender declares the types of payloads and sends a command: to the store, or in a
// transaction of the caller.
type sender func(ctx context.Context, payloads []Payload, command Command) (Result, error)

// inStore is the sender of calls that take effect at once.
func (c *Client) inStore(ctx context.Context, payloads []Payload, command Command) (Result, error) {
	for _, p := range payloads {
		if err := c.declare(ctx, p); err != nil {
			return Result{}, err
		}
	}
	reply, err := apply[Reply](ctx, c, command)
	return Result{Reply: reply}, err
}

// traced sets the trace of the caller on the jobs. An invalid trace is ignored: it
// is no reason to refuse a job.
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

// Cancel cancels a job that waits, and asks a running job to stop. The id of an
// earlier attempt selects the last attempt of its execution.
func (c *Client) Cancel(ctx context.Context, id ID, reason string) (*CancelledJob, error) {
	return apply[*CancelledJob](ctx, c, &Cancel{Meta: NewMeta(c.actor), JobID: id, Reason: reason})
}

// withAct sets the act of an error that has none.
func withAct(act string, err error) error {
	e, is := err.(*Error)
	if !is || e.Act != "" {
		return err
	}
	named := *e
	named.Act = act
	return &named
}
