package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) jobActionRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs/{id}/cancel", id: "cancel-job", tag: "Jobs", summary: "Cancel a job",
		description: "A waiting job is cancelled immediately; a running job is asked to stop. The id of an earlier attempt selects the last attempt of its execution.",
		example:     `{"reason": "sent by mistake"}`, bodyOptional: true, response: api.JobCancelled{}, errors: []int{404, 409},
	}, cancelJob)
	route(a, operation{
		method: "POST", path: "/jobs/{id}/move", id: "move-job", tag: "Jobs", summary: "Move a job in the queue",
		description: "The status is 409 if the job has left the queue.", example: `{"to": "top"}`, response: api.Job{}, errors: []int{404, 409},
	}, moveJob)
	route(a, operation{
		method: "PATCH", path: "/jobs/{id}", id: "change-job", tag: "Jobs", summary: "Change the priority or params of a job",
		description: "The status is 409 if the job has left the queue.", example: `{"priority": 100}`, response: api.Job{}, errors: []int{404, 409},
	}, editJob)
	get(a, operation{
		method: "POST", path: "/jobs/{id}/retry", id: "retry-job", tag: "Jobs", summary: "Retry a job",
		description: "Retries an execution that is dead, cancelled or skipped, as a new job with the same params.",
		status:      201, response: api.Job{}, errors: []int{404, 409},
	}, retryJob)
	get(a, operation{
		method: "GET", path: "/jobs/{id}/explain", id: "explain-job", tag: "Jobs", summary: "Explain why a job does not run",
		description: "The id of an earlier attempt selects the last attempt of its execution.", response: api.Explanation{}, errors: []int{404},
	}, explainJob)
}

func cancelJob(c *call, body *api.CancelRequest) (reply, error) {
	return show(func(done *rota.CancelledJob) api.JobCancelled {
		return api.JobCancelled{Job: api.NewJob(done.Job), Stopping: done.Stopping}
	})(do[*rota.CancelledJob](c, &rota.Cancel{Meta: c.meta(), JobID: c.id, Reason: body.Reason}))
}

func moveJob(c *call, body *api.MoveRequest) (reply, error) {
	command := &rota.Move{Meta: c.meta(), JobID: c.id}
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
	command := &rota.Edit{Meta: c.meta(), JobID: c.id, Priority: body.Priority, Params: body.Params.Raw()}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	if command.Params != nil && !c.replay {
		if err := c.checkEdit(c.id, body.Params); err != nil {
			return reply{}, err
		}
	}
	return show(func(edited *rota.Edited) api.Job { return api.NewJob(edited.Job) })(do[*rota.Edited](c, command))
}

// checkEdit checks new params against the schema of the type of the job. A type that is no longer
// declared has none.
func (c *call) checkEdit(id rota.ID, params api.Document) error {
	job, err := c.Store.Job(c.ctx, id)
	if err != nil {
		return err
	}
	if job.Status != rota.StatusQueued {
		return nil // the store refuses the command with the reason
	}
	t, err := c.Store.Type(c.ctx, job.Type)
	if rota.CodeOf(err) == rota.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return c.lookup().CheckParams(t, params.Raw())
}

func retryJob(c *call) (reply, error) {
	return then(func(redriven *rota.Redriven) (reply, error) {
		return created(api.NewJob(redriven.Job), base+"/jobs/"+redriven.Job.ID.String())
	})(do[*rota.Redriven](c, &rota.Redrive{Meta: c.meta(), JobID: c.id}))
}
