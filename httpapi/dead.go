package httpapi

import "github.com/rotajobs/rota/api"

func (a *server) deadRoutes() {
	get(a, operation{
		method: "GET", path: "/dead", id: "list-dead", tag: "Jobs", summary: "List dead letters",
		description: "The last attempts of executions that failed permanently and were not retried, newest first.",
		query:       pageParams(filterParams(nil)[1:]...), response: api.List[api.Job]{},
	}, func(c *call) (reply, error) {
		f := c.filter()
		scans, err := retryScans(f)
		if err != nil {
			return reply{}, err
		}
		return c.jobPage(cursorDead, scans, f)
	})
}

// jobPage responds with a page of jobs.
func (c *call) jobPage(kind cursorKind, scans []scan, f filter) (reply, error) {
	rows, next, err := c.findPage(kind, scans, f)
	if err != nil {
		return reply{}, err
	}
	return ok(api.List[api.Job]{Items: api.NewJobs(rows), NextCursor: next})
}
