package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// codePayload is the error code of a job whose params do not match its type. The engine uses the same
// code.
const codePayload = "payload"

// dropInvalid removes the jobs whose params do not match the current schema of their type, and those whose user may not run
// programs, and records them as failed without a retry: a retry cannot succeed.
func (c *call) dropInvalid(jobs []*rota.Job) ([]*rota.Job, error) {
	types := map[string]*rota.Type{}
	var valid []*rota.Job
	var invalid []rota.FinishItem
	for _, job := range jobs {
		if refusal := c.checkExternal(job); refusal != nil {
			invalid = append(invalid, *refusal)
			continue
		}
		err := c.checkClaimed(job, types)
		if err == nil {
			valid = append(valid, job)
			continue
		}
		invalid = append(invalid, rota.FinishItem{
			LeaseRef: job.Lease(), Outcome: rota.OutcomeFailed, Permanent: true, ErrorCode: codePayload,
			Error: "the params do not fit the type: " + err.Error(),
		})
	}
	if len(invalid) == 0 {
		return valid, nil
	}
	err := c.finishUndelivered(invalid)
	if err != nil && len(valid) > 0 {
		c.Logger.Error("could not fail claimed jobs with invalid params; their leases will expire", slog.Int("jobs", len(invalid)), slog.Any("error", err))
		return valid, nil
	}
	return valid, err
}

// codeDenied is the error code of a job whose user lacks a right. The handlers of the server use the same code.
const codeDenied = "denied"

// checkExternal returns how a job ends that may not run a program: a worker cannot check the rights of its user. Rights that cannot be
// read now may be readable at the next attempt.
func (c *call) checkExternal(job *rota.Job) *rota.FinishItem {
	if job.Type != execType || c.Access == nil {
		return nil
	}
	refused := rota.FinishItem{LeaseRef: job.Lease(), Outcome: rota.OutcomeFailed, ErrorCode: codeDenied}
	ctx, done := c.detached()
	defer done()
	rights, err := c.Access.RunRights(ctx, job)
	switch {
	case err != nil:
		refused.Error, refused.Permanent = err.Error(), rota.CodeOf(err) == rota.Denied
		return &refused
	case rights.Admin || rights.External:
		return nil
	}
	denied := &rota.Error{
		Code: rota.Denied, Act: execType, Reason: "user " + rights.User + " has no right EXECUTE EXTERNAL JOB",
		Hint: "an administrator can change that: GRANT EXECUTE EXTERNAL JOB TO " + rights.User,
	}
	c.Access.RunDenied(job, denied)
	refused.Error, refused.Permanent = denied.Error(), true
	return &refused
}

// checkClaimed checks the params of a job against its type. If the type cannot be read, or its schema
// cannot be used or evaluated, the job passes: that is not an error of the job.
func (c *call) checkClaimed(job *rota.Job, types map[string]*rota.Type) error {
	t, known := types[job.Type]
	if !known {
		ctx, done := c.detached()
		defer done()
		t, _ = c.server.Store.Type(ctx, job.Type)
		types[job.Type] = t
	}
	if t == nil {
		return nil
	}
	err := c.Schemas.Check(t, job.Params)
	if e := (*rota.Error)(nil); errors.As(err, &e) && e.Code == rota.Invalid && e.Field != "type" {
		return err
	}
	return nil
}

// finishUndelivered finishes runs that no worker received.
func (c *call) finishUndelivered(items []rota.FinishItem) error {
	ctx, done := c.detached()
	defer done()
	_, err := rota.Do[*rota.Finished](ctx, c.server.Store, &rota.Finish{Meta: rota.NewMeta(""), Items: items})
	return err
}

// sendClaimed responds with claimed jobs. If the request has no key and the response cannot be
// delivered, no client will ever know the lease tokens, so the jobs are released. With a key, the jobs
// wait for the repeated request.
//
// A released job has used an attempt, as it would have if its lease had expired; it is only retried
// sooner.
func (c *call) sendClaimed(jobs []*rota.Job) (reply, error) {
	if c.key == "" && c.ctx.Err() != nil {
		c.releaseJobs(jobs)
		jobs = nil
	}
	jobs, secrets, withheld, err := c.withSecrets(jobs)
	if err != nil {
		return reply{}, err
	}
	answer := api.Claimed{Items: make([]api.ClaimedJob, len(jobs)), Withheld: withheld}
	for i, job := range jobs {
		answer.Items[i] = api.NewClaimedJob(job)
		answer.Items[i].ClaimedSecrets = secrets[job.ID]
	}
	body, err := encode(answer)
	if err != nil {
		return reply{}, err
	}
	if err := c.deliver(body); err != nil && c.key == "" {
		c.releaseJobs(jobs)
	}
	return reply{written: true}, nil
}

func encode(answer api.Claimed) (*bytes.Buffer, error) {
	body := &bytes.Buffer{}
	e := json.NewEncoder(body)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil { // a stored row holds invalid JSON
		return nil, rota.Errorf(rota.Internal, "claim", "%w", err)
	}
	return body, nil
}

// deliver writes a response, and returns the first error that is visible on this side of the
// connection.
func (c *call) deliver(body *bytes.Buffer) error {
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	c.w.WriteHeader(http.StatusOK)
	if _, err := copyBody(c.w, body); err != nil {
		return err
	}
	err := http.NewResponseController(c.w).Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// releaseJobs finishes the runs of undelivered jobs, so that they are retried immediately.
func (c *call) releaseJobs(jobs []*rota.Job) {
	if len(jobs) == 0 {
		return
	}
	items := make([]rota.FinishItem, len(jobs))
	for i, job := range jobs {
		c.registry.updateRun(job.Run.ID, time.Time{})
		items[i] = rota.FinishItem{
			LeaseRef: job.Lease(), Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown,
			Error: "the connection of worker " + job.Run.Runner + " closed before the job was delivered",
		}
	}
	if err := c.finishUndelivered(items); err != nil {
		c.Logger.Error("could not release undelivered jobs; their leases will expire", slog.Int("jobs", len(jobs)), slog.Any("error", err))
	}
}
