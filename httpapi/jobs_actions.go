package httpapi

import (
	"encoding/json"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) jobActionRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs/{id}/cancel", version: jobVersion, id: "cancel-job", scope: writeScope, tag: "Jobs", summary: "Cancel a job",
		description: "A waiting job is cancelled immediately; a running job is asked to stop. The id of an earlier attempt selects the last attempt of its execution.",
		example:     `{"reason": "sent by mistake"}`, bodyOptional: true, response: api.JobCancelled{}, errors: []int{404, 409},
	}, cancelJob)
	route(a, operation{
		method: "POST", path: "/jobs/{id}/move", version: jobVersion, id: "move-job", scope: writeScope, tag: "Jobs", summary: "Move a job in the queue",
		description: "The status is 409 if the job has left the queue.", example: `{"to": "top"}`, response: api.Job{}, errors: []int{404, 409},
	}, moveJob)
	route(a, operation{
		method: "PATCH", path: "/jobs/{id}", version: jobVersion, id: "change-job", scope: writeScope, tag: "Jobs", summary: "Change the priority, the params or the start time of a job",
		description: "A ready job whose run_at is in the future is delayed until then. A delayed job whose run_at is not in the future becomes ready, at the end of its priority. The id of an earlier attempt selects the last attempt of its execution. The status is 409 if that one has left the queue.",
		example:     `{"priority": 100, "run_at": "2026-11-15T07:00:00Z"}`, response: api.Job{}, errors: []int{404, 409},
	}, editJob)
	get(a, operation{
		method: "POST", path: "/jobs/{id}/run-now", version: jobVersion, id: "run-job-now", scope: writeScope, tag: "Jobs", summary: "Run a waiting job now",
		description: "Ends the delay of a job or of a waiting retry. The id of an earlier attempt selects the last attempt of its execution. A job that is not delayed stays as it is, also one that a limit of its concurrency key holds back. GET /jobs/{id}/explain says why it waits. The status is 409 if the job waits for its group, a schedule or an earlier execution, runs or has ended.",
		response:    api.Job{}, errors: []int{404, 409},
	}, runJobNow)
	route(a, operation{
		method: "POST", path: "/jobs/{id}/run-again", version: jobVersion, id: "run-job-again", scope: writeScope, tag: "Jobs", summary: "Run an ended job again",
		description: "Runs an execution that has ended again, as a new execution that refers to the old one. A completed execution can be repeated any number of times; another one is retried. The new job gets the unique key of a completed one only if the key is free, and never its plan time. The status is 409 if the execution has not ended or its template is archived.",
		example:     `{"params": {"month": "2026-11"}}`, bodyOptional: true, status: 201, response: api.Job{}, errors: []int{404, 409},
	}, func(c *call, body *api.RepeatRequest) (reply, error) { return c.repeatJob(body, true) })
	route(a, operation{
		method: "POST", path: "/jobs/{id}/retry", version: jobVersion, id: "retry-job", scope: writeScope, tag: "Jobs", summary: "Retry a job",
		description: "Retries an execution that is dead, cancelled or skipped, as a new job with the same params or with changed ones.",
		example:     `{"params": {"to": "ada@example.com"}}`, bodyOptional: true, status: 201, response: api.Job{}, errors: []int{404, 409},
	}, func(c *call, body *api.RepeatRequest) (reply, error) { return c.repeatJob(body, false) })
	get(a, operation{
		method: "GET", path: "/jobs/{id}/explain", id: "explain-job", scope: readScope, tag: "Jobs", summary: "Explain why a job does not run",
		description: "The id of an earlier attempt selects the last attempt of its execution.", response: api.Explanation{}, errors: []int{404},
	}, explainJob)
}

func cancelJob(c *call, body *api.CancelRequest) (reply, error) {
	return show(func(done *rota.CancelledJob) api.JobCancelled {
		return api.JobCancelled{Job: api.NewJob(done.Job), Stopping: done.Stopping}
	})(do[*rota.CancelledJob](c, &rota.Cancel{Meta: c.meta(), JobID: c.id, Reason: body.Reason, Version: c.required}))
}

func moveJob(c *call, body *api.MoveRequest) (reply, error) {
	command := &rota.Move{Meta: c.meta(), JobID: c.id, Version: c.required}
	field, err := body.SetPlace(command)
	if err != nil {
		return reply{}, err
	}
	moved, err := do[*rota.Moved](c, command)
	if err != nil {
		err = problem.Rename(err, "anchor", field, "place", "to")
		if e, isRotaError := err.(*rota.Error); isRotaError && e.Code == rota.NotFound && e.Field == field {
			err = problem.Recode(err, rota.NotFound, rota.Invalid, field) // the job itself exists; the job in the field does not
		}
		return reply{}, err
	}
	return ok(api.NewJob(moved.Job))
}

func editJob(c *call, body *api.EditRequest) (reply, error) {
	command := body.Edit(c.meta(), c.id)
	command.Version = c.required
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	if (command.Params != nil || command.MergeParams != nil) && !c.replay {
		if err := c.checkEdit(command); err != nil {
			return reply{}, err
		}
	}
	return show(api.NewJob)(editedJob(do[*rota.Edited](c, command)))
}

func editedJob(edited *rota.Edited, err error) (*rota.Job, error) {
	if err != nil {
		return nil, err
	}
	return edited.Job, nil
}

// jobToChange returns the last attempt of a job that the caller may change, whether or not it may see its history.
func (c *call) jobToChange(command rota.Command, id rota.ID) (*rota.Job, error) {
	if err := c.Store.Authorize(c.ctx, command); err != nil {
		return nil, err
	}
	return c.server.Store.LastAttempt(c.ctx, id)
}

// checkEdit checks new params of the last attempt against the schema of the type of the job.
func (c *call) checkEdit(command *rota.Edit) error {
	job, err := c.jobToChange(command, command.JobID)
	if err != nil {
		return err
	}
	if job.Status != rota.StatusQueued {
		return nil // the store refuses the command with the reason
	}
	if command.MergeParams != nil {
		return problem.Rename(c.checkParams(job.Type, job.Params, command.MergeParams), "params", "merge_params")
	}
	return c.checkParams(job.Type, command.Params)
}

// checkParams checks merged params against the schema of a type. A type that is no longer declared has
// none.
func (c *call) checkParams(typ string, layers ...json.RawMessage) error {
	t, err := c.Store.Type(c.ctx, typ)
	if rota.CodeOf(err) == rota.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return c.lookup().CheckParams(t, layers...)
}

func runJobNow(c *call) (reply, error) {
	return show(api.NewJob)(editedJob(do[*rota.Edited](c, &rota.Edit{Meta: c.meta(), JobID: c.id, Version: c.required, RunNow: true})))
}

// repeatJob runs an ended execution again, with again also a completed one.
func (c *call) repeatJob(body *api.RepeatRequest, again bool) (reply, error) {
	command := &rota.Redrive{Meta: c.meta(), JobID: c.id, Params: body.Params.Raw(), Again: again, Version: c.required}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	if command.Params != nil && !c.replay {
		if err := c.checkRepeat(command); err != nil {
			return reply{}, err
		}
	}
	return then(func(redriven *rota.Redriven) (reply, error) {
		return created(api.NewJob(redriven.Job), base+"/jobs/"+redriven.Job.ID.String())
	})(do[*rota.Redriven](c, command))
}

// checkRepeat checks changed params, merged into those of the last attempt, against the schema of the
// type.
func (c *call) checkRepeat(command *rota.Redrive) error {
	last, err := c.jobToChange(command, command.JobID)
	if err != nil {
		return err
	}
	if !last.Ended() || rota.InternalType(last.Type) {
		return nil // the store refuses the command with the reason
	}
	return c.checkParams(last.Type, last.Params, command.Params)
}
