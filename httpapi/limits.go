package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/definitions"
)

func (a *server) limitRoutes() {
	get(a, operation{
		method: "GET", path: "/limits", id: "get-limits", scope: readScope, tag: "Limits", summary: "Show the limits", response: api.Throttle{},
	}, func(c *call) (reply, error) {
		return show(api.NewThrottle)(c.Store.Throttle(c.ctx))
	})
	route(a, operation{
		method: "PUT", path: "/limits", version: limitsVersion, id: "put-limits", scope: writeScope, tag: "Limits", summary: "Set all limits",
		description: "Limits that are not named are removed. The limit of a concurrency key is that in keys, else that of its longest prefix in each_key, else that of the type of the job in each_key_of_type. An undeclared type is refused unless it already has a limit. The change takes effect immediately; running jobs continue.",
		example:     `{"global": 100, "types": {"mail": {"concurrency": 5, "rate": "100/1m"}}, "keys": {"tenant:7": 5}, "each_key": {"tenant:*": 2}, "each_key_of_type": {"mail": 1}}`, response: api.Throttle{}, errors: []int{409},
	}, putLimits)
}

func putLimits(c *call, body *api.ThrottleRequest) (reply, error) {
	spec, err := body.Spec()
	if err != nil {
		return reply{}, err
	}
	command := &rota.PutThrottle{Meta: c.meta(), Version: c.required, Spec: spec}
	if body.Version.Set {
		var read api.ID
		body.Version.SetValue(&read)
		command.Version = &read.ID
	}
	if err := command.Validate(); err != nil {
		return reply{}, problem.OfLimits(err, &spec)
	}
	if !c.replay {
		if err := c.lookup().CheckLimits(definitions.LimitedTypes(&spec)); err != nil {
			return reply{}, err
		}
	}
	put, err := do[*rota.ThrottlePut](c, command)
	if err != nil {
		return reply{}, problem.OfLimits(err, &spec)
	}
	return ok(api.NewThrottle(put.Throttle))
}
