package system

import "github.com/rotajobs/rota"

var runFilters = []string{"state", "type", "template"}

var runWays = []accessPath[run]{
	{key: "job_run_uuid", rows: 1, read: func(q *query, w readRequest) pages[run] {
		return tailOf(q, w.equal["job_run_uuid"].Text(), q.run)
	}},
	{key: "job_uuid", filters: runFilters, rows: someEstimate, read: func(q *query, w readRequest) pages[run] {
		return runsOfDefinition(q, w, w.equal["job_uuid"].Text())
	}},
	{key: "job_name", filters: runFilters, rows: someEstimate, read: func(q *query, w readRequest) pages[run] {
		return runsOf(q, w, w.equal["job_name"].Text())
	}},
	{key: "group_uuid", filters: runFilters, rows: someEstimate, read: runsOfGroup},
	{countOnly: true, rows: runsEstimate, read: func(q *query, _ readRequest) pages[run] { return countRows[run](q, rota.JobQuery{Tails: true}) }},
	{filters: runFilters, rows: runsEstimate, read: func(q *query, w readRequest) pages[run] { return executionsMatching(q, w, rota.JobQuery{}, q.run) }},
}

func runsOf(q *query, w readRequest, schedule string) pages[run] {
	if schedule == "" {
		return noRows[run]
	}
	return executionsMatching(q, w, rota.JobQuery{Schedule: schedule}, q.run)
}

// runsOfDefinition lists the runs with a job_uuid: those of a definition, or those without a schedule of a template or type.
func runsOfDefinition(q *query, w readRequest, id string) pages[run] {
	if name := q.definitionName(id); name != "" {
		return runsOf(q, w, name)
	}
	parsed, err := rota.ParseID(id)
	if err != nil {
		return noRows[run]
	}
	return filtered(executionsMatching(q, w, q.unscheduled(parsed), q.run), func(r run) bool { return r.jobID() == parsed })
}

// unscheduled returns a query that lists the runs whose job_uuid is an id of a template or type. A type need not be
// declared: the query for an id that is not found lists all runs. An error ends the search.
func (q *query) unscheduled(id rota.ID) rota.JobQuery {
	byTemplate := paged(q, readRequest{}, templatesAfter(q), func(t *rota.Template) rota.JobQuery { return rota.JobQuery{Template: t.Name} })
	byType := paged(q, readRequest{}, typesAfter(q), func(t *rota.Type) rota.JobQuery { return rota.JobQuery{Type: t.Name} })
	for next := concat(byTemplate, byType); ; {
		list, err := next()
		if err != nil {
			_ = q.fail(err)
		}
		if len(list) == 0 || err != nil {
			return rota.JobQuery{}
		}
		for _, one := range list {
			if one.Template != "" && templateUUID(one.Template) == id || one.Template == "" && typeUUID(one.Type) == id {
				return one
			}
		}
	}
}

func typesAfter(q *query) func(rota.View, int, **rota.Type) ([]*rota.Type, error) {
	return func(v rota.View, limit int, last **rota.Type) ([]*rota.Type, error) {
		ask := rota.NameQuery{Limit: limit}
		if last != nil {
			ask.After = (*last).Name
		}
		return v.Types(q.ctx, ask)
	}
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
	if !narrow(&ask.Template, w.equal["template"].Text()) || !narrow(&ask.Type, w.equal["type"].Text()) {
		return noRows[R]
	}
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

// narrow restricts a field of a query to a value, if there is one. It reports false if the field has another value.
func narrow(field *string, to string) bool {
	switch {
	case to == "" || *field == to:
	case *field == "":
		*field = to
	default:
		return false
	}
	return true
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
