package system

import "github.com/rotajobs/rota"

var runFilters = []string{"state", "type", "template"}

var runWays = []accessPath[run]{
	{key: "job_run_uuid", rows: 1, read: func(q *query, w readRequest) pages[run] {
		return tailOf(q, w.equal["job_run_uuid"].Text(), q.run)
	}},
	{key: "job_uuid", filters: runFilters, rows: someEstimate, read: func(q *query, w readRequest) pages[run] {
		return runsOf(q, w, q.definitionName(w.equal["job_uuid"].Text()))
	}},
	{key: "job_name", filters: runFilters, rows: someEstimate, read: func(q *query, w readRequest) pages[run] {
		return runsOf(q, w, w.equal["job_name"].Text())
	}},
	{key: "group_uuid", filters: runFilters, rows: someEstimate, read: runsOfGroup},
	{countOnly: true, rows: runsEstimate, read: func(q *query, _ readRequest) pages[run] { return countRows[run](q, rota.JobQuery{Tails: true}) }},
	{filters: runFilters, rows: runsEstimate, read: func(q *query, w readRequest) pages[run] { return executionsMatching(q, w, rota.JobQuery{}, q.run) }},
}

func (q *query) run(tail *rota.Job) run { return run{tail} }

func runsOf(q *query, w readRequest, schedule string) pages[run] {
	if schedule == "" {
		return noRows[run]
	}
	return executionsMatching(q, w, rota.JobQuery{Schedule: schedule}, q.run)
}

func runsOfGroup(q *query, w readRequest) pages[run] {
	id, err := rota.ParseID(w.equal["group_uuid"].Text())
	if err != nil {
		return noRows[run]
	}
	return executionsMatching(q, w, rota.JobQuery{GroupID: id}, q.run)
}

// tailOf is one execution, by its id: the last of its attempts.
func tailOf[R any](q *query, id string, row func(*rota.Job) R) pages[R] {
	chain := attemptsOf(q, id)
	return func() ([]R, error) {
		attempts, err := chain()
		if len(attempts) == 0 {
			return nil, err
		}
		return []R{row(attempts[len(attempts)-1])}, nil
	}
}

// attemptsOf are the attempts of one execution, first to last. It
// returns nothing for the id of a later attempt and for internal types.
func attemptsOf(q *query, id string) pages[*rota.Job] {
	parsed, err := rota.ParseID(id)
	if err != nil {
		return noRows[*rota.Job]
	}
	return once(func() ([]*rota.Job, error) {
		view, err := q.store()
		if err != nil {
			return nil, err
		}
		chain, err := view.Execution(q.ctx, parsed)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
			return nil, nil
		case err != nil:
			return nil, err
		case chain[0].ID != parsed || rota.InternalType(chain[0].Type):
			return nil, nil
		}
		return chain, nil
	})
}

// executionsMatching lists executions, the newest attempt first.
func executionsMatching[R any](q *query, w readRequest, ask rota.JobQuery, row func(*rota.Job) R) pages[R] {
	ask.Tails, ask.Lean = true, w.lean
	ask.Template, ask.Type = w.equal["template"].Text(), w.equal["type"].Text()
	if state, is := w.equal["state"]; is && !filterByState(&ask, state.Text()) || rota.InternalType(ask.Type) {
		return noRows[R]
	}
	return paged(q, w, func(v rota.View, limit int, last **rota.Job) ([]*rota.Job, error) {
		ask := ask
		ask.Limit = limit
		if last != nil {
			ask.Before = (*last).ID
		}
		return v.Jobs(q.ctx, ask)
	}, row)
}

// filterByState restricts the query to a state. It reports false if there is no such state.
func filterByState(ask *rota.JobQuery, state string) bool {
	switch state {
	case runPending:
		ask.Status = rota.StatusQueued
	case runRunning:
		ask.State = rota.StateRunning
	case string(rota.OutcomeCompleted):
		ask.State = rota.StateCompleted
	case string(rota.OutcomeFailed):
		ask.State = rota.StateFailed
	case string(rota.OutcomeSkipped):
		ask.State = rota.StateSkipped
	case string(rota.OutcomeCancelled):
		ask.State = rota.StateCancelled
	default:
		return false
	}
	return true
}

// countRows returns as many empty rows as the store counts.
func countRows[R any](q *query, ask rota.JobQuery) pages[R] {
	left, asked := int64(0), false
	blank := make([]R, pageMax)
	return func() ([]R, error) {
		if !asked {
			view, err := q.store()
			if err != nil {
				return nil, err
			}
			if left, err = view.CountJobs(q.ctx, ask); err != nil {
				return nil, err
			}
			asked = true
		} else {
			q.reads-- // this page is no read of the store
		}
		n := min(left, int64(len(blank)))
		left -= n
		q.rows -= n
		return blank[:n], nil
	}
}
