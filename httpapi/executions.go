package httpapi

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (a *server) executionRoutes() {
	get(a, operation{
		method: "GET", path: "/executions", id: "list-executions", scope: readScope, tag: "Executions", summary: "List executions",
		description: "One execution per job and its retries, newest last attempt first. A page may be shorter than its limit; continue while next_cursor is set.",
		query:       pageParams(filterParams(api.ExecutionStates)...), response: api.List[api.Execution]{},
	}, listExecutions)
	get(a, operation{
		method: "GET", path: "/executions/{id}", id: "get-execution", scope: readScope, tag: "Executions", summary: "Show an execution with its attempts",
		description: "The id of any of its jobs is accepted.", response: api.ExecutionDetail{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return show(api.NewExecutionDetail)(c.Store.Execution(c.ctx, c.id))
	})
}

func listExecutions(c *call) (reply, error) {
	f, err := c.jobFilter()
	if err != nil {
		return reply{}, err
	}
	tails, next, err := c.findPage(cursorExecutions, executionScans(f), f)
	if err != nil {
		return reply{}, err
	}
	list := api.List[api.Execution]{Items: make([]api.Execution, len(tails)), NextCursor: next}
	for i, tail := range tails {
		if list.Items[i], err = executionOf(c.ctx, c.Store, tail); err != nil {
			return reply{}, err
		}
	}
	return ok(list)
}

// executionOf returns an execution by its last attempt. The start time comes from the first attempt, the
// error of a pending retry from the attempt before.
func executionOf(ctx context.Context, store rota.Store, tail *rota.Job) (api.Execution, error) {
	if tail.Attempt == 1 {
		return api.NewExecution(tail, tail), nil
	}
	first, err := store.Job(ctx, tail.ExecutionID)
	if rota.CodeOf(err) == rota.NotFound { // pruned meanwhile
		return api.NewExecution(tail, tail), nil
	}
	if err != nil {
		return api.Execution{}, err
	}
	v := api.NewExecution(first, tail)
	if tail.Run != nil {
		return v, nil
	}
	failed := first
	if tail.RetryOf != first.ID {
		if failed, err = store.Job(ctx, tail.RetryOf); err != nil {
			return v, nil
		}
	}
	if failed.Run != nil {
		v.Error, v.ErrorCode = api.Text(failed.Run.Error), api.Text(failed.Run.ErrorCode)
	}
	return v, nil
}

// executionScans returns the scans for the last attempts of executions in the states of a filter.
func executionScans(f filter) (scans []scan) {
	q := f.query()
	q.Tails, q.OfExecution = true, true
	if len(f.states) == 0 && f.errorCode == "" {
		return []scan{{query: q}}
	}
	if len(f.states) == 0 { // most states have an index of errors
		return scansOf(q, api.JobStates)
	}
	for _, state := range f.states {
		scans = append(scans, scansOfExecutions(q, state)...)
	}
	return scans
}

func scansOfExecutions(q rota.JobQuery, state string) []scan {
	switch state {
	case api.ExecutionPending, api.ExecutionFailed:
		waiting := scansOf(q, []string{"scheduled", "blocked", "queued"})
		for i := range waiting {
			waiting[i].keep = func(j *rota.Job) bool { return api.ExecutionState(j) == state }
		}
		return waiting
	case api.ExecutionDead:
		return scansOf(q, []string{"failed"})
	}
	return scansOf(q, []string{state})
}
