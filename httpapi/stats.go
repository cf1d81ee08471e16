package httpapi

import "github.com/rotajobs/rota/api"

func (a *server) statsRoutes() {
	get(a, operation{
		method: "GET", path: "/stats", id: "get-stats", tag: "Server", summary: "Count jobs and runs", response: api.Stats{},
	}, func(c *call) (reply, error) {
		counts, err := c.Store.Stats(c.ctx)
		if err != nil {
			return reply{}, err
		}
		var slots api.Workers
		if c.Engine != nil {
			pool := c.Engine.Snapshot()
			slots = api.Workers{Slots: pool.Workers, Running: pool.Running, Abandoned: pool.Abandoned}
		}
		return ok(api.NewStats(counts, slots))
	})
}
