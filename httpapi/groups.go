package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
)

// GroupRequest submits a group of jobs, atomically.
type GroupRequest struct {
	Name      string       `json:"name,omitempty" doc:"Name for people; not necessarily unique."`
	Mode      string       `json:"mode,omitempty" enum:"parallel,sequential" default:"parallel" doc:"Whether members run at the same time or one after the other."`
	OnFailure string       `json:"on_failure,omitempty" enum:"continue,stop,skip" default:"continue" doc:"Effect of a dead member on members that have not started."`
	Jobs      []JobRequest `json:"jobs" doc:"Jobs of the group in order, 1 to 10,000."`
}

func (a *api) groupRoutes() {
	route(a, operation{
		method: "POST", path: "/groups", id: "create-group", tag: "Groups", summary: "Enqueue a group",
		example: `{"name": "release", "mode": "sequential", "on_failure": "stop", "jobs": [{"type": "build"}, {"type": "deploy"}]}`,
		status:  201, response: GroupDetail{}, errors: []int{409, 413, 415}, bulk: true,
	}, createGroup)
	get(a, operation{
		method: "GET", path: "/groups", id: "list-groups", tag: "Groups", summary: "List groups", description: "Newest first.",
		query: pageParams(), response: List[Group]{},
	}, func(c *call) (reply, error) {
		return listByID(c, cursorGroups, c.Store.Groups, NewGroup, func(g *rota.Group) rota.ID { return g.ID })
	})
	get(a, operation{
		method: "GET", path: "/groups/{id}", id: "get-group", tag: "Groups", summary: "Show a group with its members",
		response: GroupDetail{}, errors: []int{404},
	}, getGroup)
	route(a, operation{
		method: "POST", path: "/groups/{id}/cancel", id: "cancel-group", tag: "Groups", summary: "Cancel a group",
		description: "Members that have not started are cancelled; running members are asked to stop.",
		example:     `{"reason": "called off"}`, bodyOptional: true, response: GroupCancelled{}, errors: []int{404, 409},
	}, cancelGroup)
}

func createGroup(c *call, body *GroupRequest) (answer reply, err error) {
	command := &rota.EnqueueGroup{Meta: c.meta(), Name: body.Name, Mode: rota.GroupMode(body.Mode), OnFailure: rota.OnFailure(body.OnFailure)}
	if word := oneOf(body.Mode, []string{"parallel", "sequential"}); word != "" {
		command.Mode = rota.GroupMode(word)
	}
	if word := oneOf(body.OnFailure, []string{"continue", "stop", "skip"}); word != "" {
		command.OnFailure = rota.OnFailure(word)
	}
	if len(body.Jobs) == 0 {
		return reply{}, command.Validate()
	}
	trace, done := c.startEnqueue(len(body.Jobs))
	defer func() { done(err) }()
	jobs, err := newJobs(c, body.Jobs, trace)
	if err != nil {
		return reply{}, err
	}
	command.Jobs = jobs
	result, err := do[*rota.GroupEnqueued](c, command)
	if err != nil {
		return reply{}, asBodyError(err)
	}
	group, err := c.Store.Group(c.ctx, result.Group.ID) // the reply of the command has no counts
	if err != nil {
		return reply{}, err
	}
	v := GroupDetail{Group: NewGroup(group), Jobs: NewJobs(result.Jobs)}
	return created(v, base+"/groups/"+v.ID.String())
}

func getGroup(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	group, err := c.Store.Group(c.ctx, id)
	if err != nil {
		return reply{}, err
	}
	tails, err := c.Store.Jobs(c.ctx, rota.JobQuery{GroupID: id, Tails: true, Limit: rota.PageMax})
	if err != nil {
		return reply{}, err
	}
	slices.SortFunc(tails, func(a, b *rota.Job) int { return a.GroupPosition - b.GroupPosition })
	return ok(GroupDetail{Group: NewGroup(group), Jobs: NewJobs(tails)})
}

func cancelGroup(c *call, body *CancelRequest) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	done, err := do[*rota.CancelledGroup](c, &rota.CancelGroup{Meta: c.meta(), GroupID: id, Reason: body.Reason})
	if err != nil {
		return reply{}, err
	}
	group, err := c.Store.Group(c.ctx, id)
	if err != nil {
		return reply{}, err
	}
	return ok(GroupCancelled{Group: NewGroup(group), Cancelled: done.Cancelled, Stopping: done.Stopping, More: done.More})
}
