package httpapi

import (
	"context"

	"github.com/rotajobs/rota"
)

func (a *api) executionRoutes() {
	get(a, operation{
		method: "GET", path: "/executions", id: "list-executions", tag: "Executions", summary: "List executions",
		description: "One execution per job and its retries, newest last attempt first. A page may be shorter than its limit; continue while next_cursor is set.",
		query:       pageParams(filterParams(executionStates)...), response: List[Execution]{},
	}, listExecutions)
	get(a, operation{
		method: "GET", path: "/executions/{id}", id: "get-execution", tag: "Executions", summary: "Show an execution with its attempts",
		description: "The id of any of its jobs is accepted.", response: ExecutionDetail{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		id, err := c.id()
		if err != nil {
			return reply{}, err
		}
		attempts, err := c.Store.Execution(c.ctx, id)
		if err != nil {
			return reply{}, err
		}
		return ok(NewExecution(attempts))
	})
}

func listExecutions(c *call) (reply, error) {
	limit, before, err := c.idPage(cursorExecutions)
	if err != nil {
		return reply{}, err
	}
	f, err := c.filter(executionStates)
	if err != nil {
		return reply{}, err
	}
	tails, next, err := c.findJobs(executionScans(f), f, before, limit)
	if err != nil {
		return reply{}, err
	}
	list := List[Execution]{Items: make([]Execution, len(tails)), NextCursor: nextCursor(cursorExecutions, next)}
	for i, tail := range tails {
		if list.Items[i], err = c.execution(tail); err != nil {
			return reply{}, err
		}
	}
	return ok(list)
}

// execution returns an execution by its last attempt. The start time comes from the first attempt, the
// error of a pending retry from the attempt before.
func (c *call) execution(tail *rota.Job) (Execution, error) {
	return executionOf(c.ctx, c.Store, tail)
}

func executionOf(ctx context.Context, store rota.Store, tail *rota.Job) (Execution, error) {
	if tail.Attempt == 1 {
		return newExecution(tail, tail), nil
	}
	first, err := store.Job(ctx, tail.ExecutionID)
	if rota.CodeOf(err) == rota.NotFound { // pruned meanwhile
		return newExecution(tail, tail), nil
	}
	if err != nil {
		return Execution{}, err
	}
	v := newExecution(first, tail)
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
		v.Error, v.ErrorCode = Text(failed.Run.Error), Text(failed.Run.ErrorCode)
	}
	return v, nil
}

// executionScans returns the scans for the last attempts of executions in a state. A timeout that is
// not retried is a dead letter, though its run was cancelled.
func executionScans(f filter) []scan {
	q := f.query()
	q.Tails = true
	in := func(status rota.Status, state rota.State, keep func(*rota.Job) bool) scan {
		s := scan{query: q, keep: keep}
		s.query.Status, s.query.State = status, state
		return s
	}
	inState := func(j *rota.Job) bool { return executionState(j) == f.state }
	switch f.state {
	case "":
		return []scan{in("", "", nil)}
	case ExecutionPending, ExecutionFailed:
		return []scan{in(rota.StatusQueued, "", inState)}
	case ExecutionDead:
		return []scan{in("", rota.StateFailed, nil), in("", rota.StateCancelled, inState)}
	case ExecutionCancelled:
		return []scan{in("", rota.StateCancelled, inState)}
	}
	return []scan{in("", rota.State(f.state), nil)}
}
