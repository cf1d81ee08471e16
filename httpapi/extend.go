package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func extendLeases(c *call, body *api.ExtendRequest) (reply, error) {
	command := &rota.Extend{Meta: c.meta(), Lease: leaseOf(body.Lease), Items: make([]rota.ExtendItem, len(body.Items))}
	for i := range body.Items {
		item, err := body.Items[i].Item()
		if err != nil {
			return reply{}, problem.AtItem("items", i, err)
		}
		command.Items[i] = item
	}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	extended, err := rota.Do[*rota.Extended](c.ctx, c.Store, command)
	if err != nil {
		return reply{}, err
	}
	answer := api.Extended{Items: make([]api.ExtendedLease, len(extended.Items))}
	for i := range extended.Items {
		c.registry.updateRun(extended.Items[i].RunID, extended.Items[i].StaleAfter)
		answer.Items[i] = api.NewExtendedLease(&extended.Items[i])
	}
	return ok(answer)
}
