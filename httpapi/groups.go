package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) groupRoutes() {
	route(a, operation{
		method: "POST", path: "/groups", id: "create-group", scope: writeScope, tag: "Groups", summary: "Enqueue a group",
		example: `{"name": "release", "mode": "sequential", "on_failure": "stop", "jobs": [{"type": "build"}, {"type": "deploy"}]}`,
		status:  201, response: api.GroupDetail{}, errors: []int{409, 413, 415}, bulk: true,
	}, createGroup)
	get(a, operation{
		method: "GET", path: "/groups", id: "list-groups", scope: readScope, tag: "Groups", summary: "List groups", description: "Newest first.",
		query: pageParams(idPrefixParam), response: api.List[api.Group]{},
	}, func(c *call) (reply, error) {
		return idList(c, cursorGroups, c.Store.Groups, api.NewGroup, func(g *rota.Group) rota.ID { return g.ID })
	})
	get(a, operation{
		method: "GET", path: "/groups/{id}", id: "get-group", scope: readScope, tag: "Groups", summary: "Show a group with its members",
		response: api.GroupDetail{}, errors: []int{404},
	}, getGroup)
	route(a, operation{
		method: "POST", path: "/groups/{id}/cancel", id: "cancel-group", scope: writeScope, tag: "Groups", summary: "Cancel a group",
		description: "Members that have not started are cancelled; running members are asked to stop.",
		example:     `{"reason": "called off"}`, bodyOptional: true, response: api.GroupCancelled{}, errors: []int{404, 409},
	}, cancelGroup)
}

func createGroup(c *call, body *api.GroupRequest) (answer reply, err error) {
	command := &rota.EnqueueGroup{Meta: c.meta(), Name: body.Name, Mode: rota.GroupMode(body.Mode), OnFailure: rota.OnFailure(body.OnFailure)}
	if word := api.OneOf(body.Mode, []string{"parallel", "sequential"}); word != "" {
		command.Mode = rota.GroupMode(word)
	}
	if word := api.OneOf(body.OnFailure, []string{"continue", "stop", "skip"}); word != "" {
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
		return reply{}, problem.InBody(err)
	}
	// The reply of the command has no counts. The caller has created the group, so it may see it here, even with a token for
	// one job, which shows no groups.
	group, err := c.server.Store.Group(c.ctx, result.Group.ID)
	if err != nil {
		return reply{}, err
	}
	v := api.GroupDetail{Group: api.NewGroup(group), Jobs: api.NewJobs(result.Jobs)}
	return created(v, base+"/groups/"+v.ID.String())
}

func getGroup(c *call) (reply, error) {
	group, err := c.Store.Group(c.ctx, c.id)
	if err != nil {
		return reply{}, err
	}
	tails, err := c.Store.Jobs(c.ctx, rota.JobQuery{GroupID: c.id, Tails: true, Limit: rota.PageMax})
	if err != nil {
		return reply{}, err
	}
	slices.SortFunc(tails, func(a, b *rota.Job) int { return a.GroupPosition - b.GroupPosition })
	return ok(api.GroupDetail{Group: api.NewGroup(group), Jobs: api.NewJobs(tails)})
}

func cancelGroup(c *call, body *api.CancelRequest) (reply, error) {
	done, err := do[*rota.CancelledGroup](c, &rota.CancelGroup{Meta: c.meta(), GroupID: c.id, Reason: body.Reason})
	if err != nil {
		return reply{}, err
	}
	group, err := c.server.Store.Group(c.ctx, c.id)
	if err != nil {
		return reply{}, err
	}
	if group, err = c.Store.RedactGroup(c.ctx, group); err != nil {
		return reply{}, err
	}
	return ok(api.GroupCancelled{Group: api.NewGroup(group), Cancelled: done.Cancelled, Stopping: done.Stopping, More: done.More})
}
