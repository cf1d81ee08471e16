package httpapi

import "github.com/rotajobs/rota/api"

func (a *server) deadRoutes() {
	get(a, operation{
		method: "GET", path: "/dead", id: "list-dead", tag: "Jobs", summary: "List dead letters",
		description: "The last attempts of executions that failed permanently and were not retried, newest first.",
		query:       pageParams(filterParams(nil)[1:]...), response: api.List[api.Job]{},
	}, func(c *call) (reply, error) {
		limit, before, err := c.idPage(cursorDead)
		if err != nil {
			return reply{}, err
		}
		f, err := c.filter(nil)
		if err != nil {
			return reply{}, err
		}
		scans, err := retryScans(f)
		if err != nil {
			return reply{}, err
		}
		rows, next, err := c.findJobs(scans, f, before, limit)
		if err != nil {
			return reply{}, err
		}
		return ok(api.List[api.Job]{Items: api.NewJobs(rows), NextCursor: nextCursor(cursorDead, next)})
	})
}
