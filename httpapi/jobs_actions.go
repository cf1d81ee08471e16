package httpapi

import (
	"github.com/rotajobs/rota"
)

// CancelRequest says why something is cancelled.
type CancelRequest struct {
	Reason string `json:"reason,omitempty" doc:"Why, for the audit and for whoever is asked to stop."`
}

// MoveRequest says where a job goes. Exactly one of its fields is given.
type MoveRequest struct {
	Before ID     `json:"before,omitzero" doc:"In front of this job, whose priority it adopts."`
	After  ID     `json:"after,omitzero" doc:"Behind this job, whose priority it adopts."`
	To     string `json:"to,omitempty" enum:"top,bottom" doc:"To an end of its own priority."`
}

// EditRequest changes what may still change of a job in the queue.
type EditRequest struct {
	Priority *int     `json:"priority,omitempty" doc:"It goes to the end of that priority."`
	Params   Document `json:"params,omitempty" doc:"In place of those it has."`
}

func (a *api) jobActionRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs/{id}/cancel", id: "cancel-job", tag: "Jobs", summary: "Cancel a job",
		description: "One that waits is cancelled at once, one that runs is asked to stop. The id of an old attempt stands for the last of its execution.",
		example:     `{"reason": "sent by mistake"}`, bodyOptional: true, response: JobCancelled{}, errors: []int{404, 409},
	}, cancelJob)
	route(a, operation{
		method: "POST", path: "/jobs/{id}/move", id: "move-job", tag: "Jobs", summary: "Move a job in the queue",
		description: "Refused with 409 once it has left the queue.", example: `{"to": "top"}`, response: Job{}, errors: []int{404, 409},
	}, moveJob)
	route(a, operation{
		method: "PATCH", path: "/jobs/{id}", id: "change-job", tag: "Jobs", summary: "Change priority or params of a job",
		description: "Refused with 409 once it has left the queue.", example: `{"priority": 100}`, response: Job{}, errors: []int{404, 409},
	}, editJob)
	get(a, operation{
		method: "POST", path: "/jobs/{id}/retry", id: "retry-job", tag: "Jobs", summary: "Try an execution anew",
		description: "One that died, was cancelled or was skipped is tried anew, as a fresh job with the same params.",
		status:      201, response: Job{}, errors: []int{404, 409},
	}, retryJob)
	get(a, operation{
		method: "GET", path: "/jobs/{id}/explain", id: "explain-job", tag: "Jobs", summary: "Say why a job does not run",
		description: "The id of an old attempt stands for the last of its execution.", response: Explanation{}, errors: []int{404},
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
			err = recode(err, rota.NotFound, rota.Invalid, field) // the job is there; its neighbour is not
		}
		return reply{}, err
	}
	return ok(NewJob(moved.Job))
}

// setPlace fills in where to, and says which field does.
func (r *MoveRequest) setPlace(command *rota.Move) (field string, err error) {
	given := 0
	for name, is := range map[string]bool{"before": !r.Before.IsZero(), "after": !r.After.IsZero(), "to": r.To != ""} {
		if is {
			field, given = name, given+1
		}
	}
	if given != 1 {
		return "", rota.Invalidf("to", "%d of before, after and to are given; give one", given)
	}
	switch field {
	case "before":
		command.Place, command.Anchor = rota.PlaceBefore, r.Before.ID
	case "after":
		command.Place, command.Anchor = rota.PlaceAfter, r.After.ID
	default:
		to := oneOf(r.To, []string{"top", "bottom"})
		if to == "" {
			return "", rota.Invalidf("to", "is neither top nor bottom")
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

// checkEdit holds new params to the schema of the job's type. A type that is no
// longer declared has none.
func (c *call) checkEdit(id rota.ID, params Document) error {
	job, err := c.Store.Job(c.ctx, id)
	if err != nil {
		return err
	}
	if job.Status != rota.StatusQueued {
		return nil // the store refuses it, and says why
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
