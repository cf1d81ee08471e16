package client

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/internal/apiclient"
)

func jobPath(id rota.ID, action string) string { return "/jobs/" + id.String() + action }

// newRequest returns the request of a command. Its id is the idempotency key.
func newRequest(method, path string, command rota.Command, body any) apiclient.Request {
	return apiclient.Request{Method: method, Path: path, Key: command.Head().ID.String(), Body: body}
}

// requiring returns the request of a command that requires a version of its job; nil: any. The server compares it with the
// tag of If-Match.
func requiring(version *rota.ID, r apiclient.Request) apiclient.Request {
	if version != nil {
		r.Header = http.Header{"If-Match": {api.ETag(*version)}}
	}
	return r
}

// readJob sends a request that is answered with a job.
func (s *store) readJob(ctx context.Context, act string, r apiclient.Request) (*rota.Job, error) {
	var v api.Job
	if err := s.call(ctx, act, r, &v); err != nil {
		return nil, err
	}
	if v.ID.IsZero() {
		return nil, apiclient.Unreadable(act, rota.Invalidf("id", "is empty"))
	}
	return v.Entity(), nil
}

func (s *store) enqueue(ctx context.Context, c *rota.Enqueue) (rota.Reply, error) {
	body := api.BatchRequest{Jobs: make([]api.JobRequest, len(c.Jobs))}
	r := newRequest(http.MethodPost, "/jobs/batch", c, &body)
	for i := range c.Jobs {
		if !c.Jobs[i].ID.IsZero() {
			return nil, errUnsupported("enqueue with the id of a job")
		}
		body.Jobs[i] = api.NewJobRequest(&c.Jobs[i])
		if trace := c.Jobs[i].Trace; trace != "" { // the same for all jobs of a client
			r.Header = http.Header{"Traceparent": {trace}}
		}
	}
	var batch api.Batch
	if err := s.call(ctx, string(c.Verb()), r, &batch); err != nil {
		return nil, err
	}
	if len(batch.Items) != len(c.Jobs) {
		return nil, rota.Errorf(rota.Internal, string(c.Verb()), "the request has %d jobs, but the answer has %d", len(c.Jobs), len(batch.Items))
	}
	enqueued := &rota.Enqueued{Jobs: make([]rota.Submitted, len(batch.Items))}
	for i := range batch.Items {
		v := &batch.Items[i]
		enqueued.Jobs[i].Duplicate = v.Duplicate
		if !v.ID.IsZero() { // zero: the job that held the key no longer exists
			enqueued.Jobs[i].Job = v.Entity()
		}
	}
	return enqueued, nil
}

func (s *store) cancel(ctx context.Context, c *rota.Cancel) (rota.Reply, error) {
	var v api.JobCancelled
	err := s.call(ctx, string(c.Verb()), requiring(c.Version, newRequest(http.MethodPost, jobPath(c.JobID, "/cancel"), c, api.CancelRequest{Reason: c.Reason})), &v)
	if err != nil {
		return nil, withJobField(err, rota.NotFound)
	}
	return &rota.CancelledJob{Job: v.Entity(), Stopping: v.Stopping}, nil
}

func (s *store) edit(ctx context.Context, c *rota.Edit) (rota.Reply, error) {
	r := newRequest(http.MethodPatch, jobPath(c.JobID, ""), c, api.EditRequest{
		Priority: c.Priority, Params: api.Document(c.Params), MergeParams: api.Document(c.MergeParams), RunAt: api.Time{Time: c.RunAt}, Delay: (*api.Duration)(c.Delay),
	})
	if c.RunNow {
		r = newRequest(http.MethodPost, jobPath(c.JobID, "/run-now"), c, nil)
	}
	job, err := s.readJob(ctx, string(c.Verb()), requiring(c.Version, r))
	if err != nil {
		return nil, withJobField(problem.Rename(err, "merge_params", "params"), rota.NotFound, rota.Conflict) // as rota.Client names the params of SetParams
	}
	return &rota.Edited{Job: job}, nil
}

func (s *store) redrive(ctx context.Context, c *rota.Redrive) (rota.Reply, error) {
	action := "/retry"
	if c.Again {
		action = "/run-again"
	}
	r := newRequest(http.MethodPost, jobPath(c.JobID, action), c, api.RepeatRequest{Params: api.Document(c.Params)})
	job, err := s.readJob(ctx, string(c.Verb()), requiring(c.Version, r))
	if err != nil {
		return nil, withJobField(err, rota.NotFound, rota.Conflict)
	}
	return &rota.Redriven{Job: job}, nil
}

// withJobField sets the field of an error about the job of a command, for the codes with which the store names it. The API
// names none, because the job is in the path.
func withJobField(err error, codes ...rota.Code) error {
	e, is := err.(*rota.Error)
	if !is || e.Field != "" || !slices.Contains(codes, e.Code) {
		return err
	}
	named := *e
	named.Field = "job_id"
	return &named
}

// cutPath removes the path of a definition from the field of an error. It reports whether the error is about that definition.
func cutPath(err error, path string) (*rota.Error, bool) {
	e, is := err.(*rota.Error)
	if !is {
		return nil, false
	}
	rest, found := strings.CutPrefix(e.Field, path)
	if !found {
		return nil, false
	}
	cut := *e
	cut.Field = strings.TrimPrefix(rest, ".")
	return &cut, true
}
