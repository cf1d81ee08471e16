package httpapi

import "github.com/rotajobs/rota/engine"

func (a *api) statsRoutes() {
	get(a, operation{
		method: "GET", path: "/stats", id: "get-stats", tag: "Server", summary: "Count jobs and runs", response: Stats{},
	}, func(c *call) (reply, error) {
		counts, err := c.Store.Stats(c.ctx)
		if err != nil {
			return reply{}, err
		}
		var snapshot engine.Snapshot
		if c.Engine != nil {
			snapshot = c.Engine.Snapshot()
		}
		return ok(NewStats(counts, snapshot))
	})
}
