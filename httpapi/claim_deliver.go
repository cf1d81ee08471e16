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
)

// codePayload is the error code of a job whose params do not fit its type, the
// same as the engine's.
const codePayload = "payload"

// dropInvalid leaves out the jobs whose params do not fit the schema of their type,
// as it is now, and records them as failed: no retry mends that.
func (c *call) dropInvalid(jobs []*rota.Job) ([]*rota.Job, error) {
	types := map[string]*rota.Type{}
	var valid []*rota.Job
	var invalid []rota.FinishItem
	for _, job := range jobs {
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
		c.Logger.Error("jobs whose params do not fit were not failed; their leases run out", slog.Int("jobs", len(invalid)), slog.Any("err", err))
		return valid, nil
	}
	return valid, err
}

// checkClaimed holds a job to its type. Where the type cannot be read, or its schema
// not be used or not be checked, that is not the job's fault.
func (c *call) checkClaimed(job *rota.Job, types map[string]*rota.Type) error {
	t, known := types[job.Type]
	if !known {
		ctx, done := c.detached()
		defer done()
		t, _ = c.Store.Type(ctx, job.Type)
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

// finishUndelivered ends runs that no worker was told of.
func (c *call) finishUndelivered(items []rota.FinishItem) error {
	ctx, done := c.detached()
	defer done()
	_, err := rota.Do[*rota.Finished](ctx, c.Store, &rota.Finish{Meta: rota.NewMeta(""), Items: items})
	return err
}

// sendClaimed answers with jobs. Those of a claim that has a key wait for who sends it
// again. Of one that has none nobody will ever know the tokens: if the answer
// cannot be delivered they are given back.
//
// What is given back has used up an attempt, as it would have if its lease had
// run out, which is all that could be waited for; it is only tried again sooner.
func (c *call) sendClaimed(jobs []*rota.Job) (reply, error) {
	if c.key == "" && c.ctx.Err() != nil {
		c.releaseJobs(jobs)
		jobs = nil
	}
	answer := Claimed{Items: make([]ClaimedJob, len(jobs))}
	for i, job := range jobs {
		answer.Items[i] = newClaimedJob(job)
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

func encode(answer Claimed) (*bytes.Buffer, error) {
	body := &bytes.Buffer{}
	e := json.NewEncoder(body)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil { // a row holds JSON that is none
		return nil, rota.Errorf(rota.Internal, "claim", "%w", err)
	}
	return body, nil
}

func newClaimedJob(job *rota.Job) ClaimedJob {
	v := ClaimedJob{
		Job: NewJob(job), RunID: ID{job.Run.ID}, LeaseToken: job.Run.Token.Reveal(), StaleAfter: Time{job.Run.StaleAfter},
	}
	if timeout := job.Policy.Timeout; timeout > 0 {
		v.Deadline = Time{job.Run.StartedAt.Add(timeout)}
	}
	return v
}

// deliver writes an answer to a client that takes it, and says whether that went
// wrong as far as can be seen from here.
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

// releaseJobs ends the runs of jobs that reached nobody, so that they are tried
// again at once.
func (c *call) releaseJobs(jobs []*rota.Job) {
	if len(jobs) == 0 {
		return
	}
	items := make([]rota.FinishItem, len(jobs))
	for i, job := range jobs {
		c.registry.updateRun(job.Run.ID, time.Time{})
		items[i] = rota.FinishItem{
			LeaseRef: job.Lease(), Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown,
			Error: "the connection of worker " + job.Run.Runner + " was gone before the job could be handed to it",
		}
	}
	if err := c.finishUndelivered(items); err != nil {
		c.Logger.Error("jobs that reached no worker were not given back; their leases run out", slog.Int("jobs", len(jobs)), slog.Any("err", err))
	}
}
