package sys

import "github.com/rotajobs/rota"

var runFilters = []string{"state", "type", "template"}

var runWays = []way[run]{
	{by: "job_run_uuid", rows: 1, read: func(q *query, w want) pages[run] {
		return tailOf(q, w.is["job_run_uuid"].Text(), q.run)
	}},
	{by: "job_uuid", also: runFilters, rows: someGuess, read: func(q *query, w want) pages[run] {
		return runsOf(q, w, q.named(w.is["job_uuid"].Text()))
	}},
	{by: "job_name", also: runFilters, rows: someGuess, read: func(q *query, w want) pages[run] {
		return runsOf(q, w, w.is["job_name"].Text())
	}},
	{by: "group_uuid", also: runFilters, rows: someGuess, read: runsOfGroup},
	{count: true, rows: runsGuess, read: func(q *query, _ want) pages[run] { return counted[run](q, rota.JobQuery{Tails: true}) }},
	{also: runFilters, rows: runsGuess, read: func(q *query, w want) pages[run] { return tailsLike(q, w, rota.JobQuery{}, q.run) }},
}

func (q *query) run(tail *rota.Job) run { return run{tail} }

func runsOf(q *query, w want, schedule string) pages[run] {
	if schedule == "" {
		return nothing[run]
	}
	return tailsLike(q, w, rota.JobQuery{Schedule: schedule}, q.run)
}

func runsOfGroup(q *query, w want) pages[run] {
	id, err := rota.ParseID(w.is["group_uuid"].Text())
	if err != nil {
		return nothing[run]
	}
	return tailsLike(q, w, rota.JobQuery{GroupID: id}, q.run)
}

// tailOf is one execution, by its id: the last of its attempts.
func tailOf[R any](q *query, id string, row func(*rota.Job) R) pages[R] {
	chain := chainOf(q, id)
	return func() ([]R, error) {
		attempts, err := chain()
		if len(attempts) == 0 {
			return nil, err
		}
		return []R{row(attempts[len(attempts)-1])}, nil
	}
}

// chainOf are the attempts of one execution, first to last. The id of a later attempt
// is not that of the execution, and what is Rota's own is not shown.
func chainOf(q *query, id string) pages[*rota.Job] {
	parsed, err := rota.ParseID(id)
	if err != nil {
		return nothing[*rota.Job]
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

// tailsLike lists executions, the newest attempt first.
func tailsLike[R any](q *query, w want, ask rota.JobQuery, row func(*rota.Job) R) pages[R] {
	ask.Tails, ask.Lean = true, w.lean
	ask.Template, ask.Type = w.is["template"].Text(), w.is["type"].Text()
	if state, is := w.is["state"]; is && !pickState(&ask, state.Text()) || rota.InternalType(ask.Type) {
		return nothing[R]
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

// pickState asks for the runs of one state, and reports false if there is none of
// that name.
func pickState(ask *rota.JobQuery, state string) bool {
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

// counted yields as many rows as there are, of which nothing is read.
func counted[R any](q *query, ask rota.JobQuery) pages[R] {
	left, asked := int64(0), false
	blank := make([]R, pageMost)
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
			q.reads-- // nobody was asked
		}
		n := min(left, int64(len(blank)))
		left -= n
		q.rows -= n
		return blank[:n], nil
	}
}
