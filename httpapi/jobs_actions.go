package httpapi

import (
	"github.com/rotajobs/rota"
)

// CancelRequest has the reason of a cancellation.
type CancelRequest struct {
	Reason string `json:"reason,omitempty" doc:"Reason, recorded in the audit and sent to the worker."`
}

// MoveRequest names the new position of a job. Exactly one of its fields is set.
type MoveRequest struct {
	Before ID     `json:"before,omitzero" doc:"Job to move in front of; the moved job takes its priority."`
	After  ID     `json:"after,omitzero" doc:"Job to move behind; the moved job takes its priority."`
	To     string `json:"to,omitempty" enum:"top,bottom" doc:"End of its own priority to move to."`
}

// EditRequest changes a queued job.
type EditRequest struct {
	Priority *int     `json:"priority,omitempty" doc:"New priority; the job moves to the end of that priority."`
	Params   Document `json:"params,omitempty" doc:"New params, which replace the old ones."`
}

func (a *api) jobActionRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs/{id}/cancel", id: "cancel-job", tag: "Jobs", summary: "Cancel a job",
		description: "A waiting job is cancelled immediately; a running job is asked to stop. The id of an earlier attempt selects the last attempt of its execution.",
		example:     `{"reason": "sent by mistake"}`, bodyOptional: true, response: JobCancelled{}, errors: []int{404, 409},
	}, cancelJob)
	route(a, operation{
		method: "POST", path: "/jobs/{id}/move", id: "move-job", tag: "Jobs", summary: "Move a job in the queue",
		description: "The status is 409 if the job has left the queue.", example: `{"to": "top"}`, response: Job{}, errors: []int{404, 409},
	}, moveJob)
	route(a, operation{
		method: "PATCH", path: "/jobs/{id}", id: "change-job", tag: "Jobs", summary: "Change the priority or params of a job",
		description: "The status is 409 if the job has left the queue.", example: `{"priority": 100}`, response: Job{}, errors: []int{404, 409},
	}, editJob)
	get(a, operation{
		method: "POST", path: "/jobs/{id}/retry", id: "retry-job", tag: "Jobs", summary: "Retry a job",
		description: "Retries an execution that is dead, cancelled or skipped, as a new job with the same params.",
		status:      201, response: Job{}, errors: []int{404, 409},
	}, retryJob)
	get(a, operation{
		method: "GET", path: "/jobs/{id}/explain", id: "explain-job", tag: "Jobs", summary: "Explain why a job does not run",
		description: "The id of an earlier attempt selects the last attempt of its execution.", response: Explanation{}, errors: []int{404},
	}, explainJob)
}

func cancelJob(c *call, body *CancelRequest) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	done, err := do[*rota.CancelledJob](c, &rota.Cancel{Meta: c.meta(), JobID: id, Reason: body.Reason})
	if err != nil {
		return reply{}, err
	}
	return ok(JobCancelled{Job: NewJob(done.Job), Stopping: done.Stopping})
}

func moveJob(c *call, body *MoveRequest) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	command := &rota.Move{Meta: c.meta(), JobID: id}
	field, err := body.setPlace(command)
	if err != nil {
		return reply{}, err
	}
	moved, err := do[*rota.Moved](c, command)
	if err != nil {
		err = renameFields(err, "anchor", field, "place", "to")
		if e, isRotaError := err.(*rota.Error); isRotaError && e.Code == rota.NotFound && e.Field == field {
			err = recode(err, rota.NotFound, rota.Invalid, field) // the job itself exists; the job in the field does not
		}
		return reply{}, err
	}
	return ok(NewJob(moved.Job))
}

// setPlace sets the position in the command, and returns the field that names it.
func (r *MoveRequest) setPlace(command *rota.Move) (field string, err error) {
	given := 0
	for name, is := range map[string]bool{"before": !r.Before.IsZero(), "after": !r.After.IsZero(), "to": r.To != ""} {
		if is {
			field, given = name, given+1
		}
	}
	if given != 1 {
		return "", rota.Invalidf("to", "%d of before, after and to are set; set exactly one", given)
	}
	switch field {
	case "before":
		command.Place, command.Anchor = rota.PlaceBefore, r.Before.ID
	case "after":
		command.Place, command.Anchor = rota.PlaceAfter, r.After.ID
	default:
		to := oneOf(r.To, []string{"top", "bottom"})
		if to == "" {
			return "", rota.Invalidf("to", "must be top or bottom")
		}
		command.Place = rota.Place(to)
	}
	return field, nil
}

func editJob(c *call, body *EditRequest) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	command := &rota.Edit{Meta: c.meta(), JobID: id, Priority: body.Priority, Params: body.Params.raw()}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	if command.Params != nil && !c.replay {
		if err := c.checkEdit(id, body.Params); err != nil {
			return reply{}, err
		}
	}
	edited, err := do[*rota.Edited](c, command)
	if err != nil {
		return reply{}, err
	}
	return ok(NewJob(edited.Job))
}

// checkEdit checks new params against the schema of the type of the job. A type that is no longer
// declared has none.
func (c *call) checkEdit(id rota.ID, params Document) error {
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
	return c.checkParams(t, params.raw())
}

func retryJob(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	redriven, err := do[*rota.Redriven](c, &rota.Redrive{Meta: c.meta(), JobID: id})
	if err != nil {
		return reply{}, err
	}
	v := NewJob(redriven.Job)
	return created(v, base+"/jobs/"+v.ID.String())
}
