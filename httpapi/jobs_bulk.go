package httpapi

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

const (
	bulkDefault = 10_000
	bulkMax     = 100_000
	bulkBatch   = 500 // commands in one batch, which bounds how long other writers wait
)

// The states that a cancel and a retry accept.
var (
	cancelStates = []string{"scheduled", "blocked", "queued", "running"}
	retryStates  = []string{"dead", "failed", "cancelled", "skipped"}
)

func (a *server) bulkRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs/cancel", id: "cancel-jobs", scope: writeScope, tag: "Jobs", summary: "Cancel many jobs",
		description: "Waiting jobs are cancelled; running jobs are asked to stop. Jobs that the caller may see and not change count as refused. An empty filter requires all to be true.",
		example:     `{"type": "mail", "state": "queued", "reason": "the campaign is off"}`, response: api.Many{},
	}, func(c *call, body *api.FilterRequest) (reply, error) {
		return bulk(c, body, cancelStates, cancelScans, nil, func(j *rota.Job) rota.Command {
			return &rota.Cancel{Meta: c.metaFor(j.ID), JobID: j.ID, Reason: body.Reason}
		})
	})
	for path, id := range map[string]string{"/jobs/retry": "retry-jobs", "/dead/retry": "retry-dead"} {
		route(a, operation{
			method: "POST", path: path, id: id, scope: writeScope, tag: "Jobs", summary: "Retry many jobs",
			description: "Retries dead letters, or the cancelled or skipped executions that state selects. Jobs that the caller may see and not change count as refused. Changed params apply to each of them; if the type of one refuses them, the status is 422 and none is retried. An empty filter requires all to be true.",
			example:     `{"type": "mail", "params": {"from": "us@example.com"}}`, response: api.Many{},
		}, func(c *call, body *api.RetryManyRequest) (reply, error) {
			if err := rota.CheckParams(body.Params.Raw()); err != nil { // also if no job matches
				return reply{}, err
			}
			return bulk(c, &body.FilterRequest, retryStates, retryScans, c.retryCheck(body), func(j *rota.Job) rota.Command {
				return &rota.Redrive{Meta: c.metaFor(j.ID), JobID: j.ID, Params: body.Params.Raw()}
			})
		})
	}
}

// retryCheck returns the check of changed params for each job of a bulk retry, nil if there is nothing to check.
func (c *call) retryCheck(body *api.RetryManyRequest) func(*rota.Job) error {
	params := body.Params.Raw()
	if params == nil || c.replay {
		return nil
	}
	return func(j *rota.Job) error {
		if rota.InternalType(j.Type) {
			return nil // the store refuses the command
		}
		err := c.checkParams(j.Type, j.Params, params)
		if e, isRotaError := err.(*rota.Error); isRotaError && e.Code == rota.Invalid {
			named := *e
			named.Hint = "job " + j.ID.String() + " of type " + j.Type + " refuses them, so that no job was retried; correct the params, or filter by type"
			return &named
		}
		return err
	}
}

// cancelScans returns the scans for jobs that can be cancelled.
func cancelScans(f filter) []scan {
	if len(f.states) == 0 {
		return tailScans(f, cancelStates)
	}
	return tailScans(f, f.states)
}

// retryScans returns the scans for executions that can be retried: dead letters, or those of the
// states of the filter.
func retryScans(f filter) (scans []scan) {
	isDead := func(state string) bool { return state == "dead" || state == "failed" }
	if len(f.states) == 0 || slices.ContainsFunc(f.states, isDead) {
		q := f.query()
		q.Dead = true
		scans = []scan{{query: q, keep: func(j *rota.Job) bool { return j.Sequel == rota.SequelDead }}}
	}
	return append(scans, tailScans(f, slices.DeleteFunc(slices.Clone(f.states), isDead))...)
}

// tailScans returns a scan for the last attempts in each state.
func tailScans(f filter, states []string) (scans []scan) {
	for _, state := range states {
		q := f.query()
		q.State, q.Tails = rota.State(state), true
		scans = append(scans, scan{query: q})
	}
	return scans
}

// bulk sends a command for each job of a filter, one batch at a time, and counts the results. Each
// command is decided separately: a job whose state has changed meanwhile, or that the user may only see, counts as refused. A check
// that is not nil is made of all jobs before the first is changed; a job that matches only since then
// and fails it counts as refused.
func bulk(c *call, body *api.FilterRequest, states []string, find func(filter) []scan, check func(*rota.Job) error, command func(*rota.Job) rota.Command) (reply, error) {
	f, err := c.newFilter(body, states)
	if err != nil {
		return reply{}, err
	}
	limit := body.Limit
	if limit == 0 {
		limit = bulkDefault
	}
	clearDeadlines(c.w)
	if check != nil {
		if _, err := c.eachBulkPage(find(f), f, limit, func(page []*rota.Job) error { return checkAll(page, check) }); err != nil {
			return reply{}, err
		}
	}
	if err := c.bindKey(); err != nil {
		return reply{}, err
	}
	if c.replay {
		check = nil                                         // the first sending was checked
		if f, err = c.newFilter(body, states); err != nil { // with the times of the first sending
			return reply{}, err
		}
	}
	var done api.Many
	more, err := c.eachBulkPage(find(f), f, limit, func(page []*rota.Job) error {
		checked, err := accepted(page, check)
		if err != nil {
			return err
		}
		done.Matched += len(page) - len(checked)
		done.Refused += len(page) - len(checked)
		return c.sendBulk(&done, checked, command)
	})
	done.More = more
	if err != nil {
		return reply{}, err
	}
	return ok(done)
}

// accepted returns the jobs that pass a check; nil: all. An error other than a refusal ends it.
func accepted(jobs []*rota.Job, check func(*rota.Job) error) (passed []*rota.Job, err error) {
	if check == nil {
		return jobs, nil
	}
	for _, j := range jobs {
		switch err := check(j); {
		case err == nil:
			passed = append(passed, j)
		case rota.CodeOf(err) != rota.Invalid:
			return nil, err
		}
	}
	return passed, nil
}

func checkAll(jobs []*rota.Job, check func(*rota.Job) error) error {
	for _, j := range jobs {
		if err := check(j); err != nil {
			return err
		}
	}
	return nil
}

// eachBulkPage visits the jobs of a filter, up to limit, and reports whether there are more.
func (c *call) eachBulkPage(scans []scan, f filter, limit int, visit func([]*rota.Job) error) (more bool, err error) {
	seen := 0
	for before := c.scanStart(); ; {
		page, next, err := c.findJobs(scans, f, before, min(bulkBatch, max(1, limit-seen)))
		if err != nil {
			return false, err
		}
		if len(page) > 0 && seen >= limit {
			return true, nil
		}
		seen += len(page)
		if err := visit(page); err != nil || next.IsZero() {
			return false, err
		}
		before = next
	}
}

// scanStart is the id where a bulk request starts, zero for the newest job. A replayed request ignores
// jobs created after its first sending. Derived ids share the millisecond of their command, so the
// scan includes that whole millisecond.
func (c *call) scanStart() (end rota.ID) {
	if !c.replay {
		return end
	}
	var moment [8]byte
	copy(moment[2:], c.commandID[:6])
	binary.BigEndian.PutUint64(moment[:], binary.BigEndian.Uint64(moment[:])+1)
	copy(end[:6], moment[2:])
	return end
}

// newFilter reads the filter of a body, whose states are among those of the action. It refuses a
// filter that selects everything without all.
func (c *call) newFilter(r *api.FilterRequest, states []string) (filter, error) {
	f := filter{typ: r.Type, template: r.Template, schedule: r.Schedule, group: r.Group.ID, execution: r.Execution.ID}
	if r.Limit < 0 || r.Limit > bulkMax {
		return f, rota.Invalidf("limit", "is %d; allowed are 1 to %d", r.Limit, bulkMax)
	}
	if r.State != "" {
		p := param{name: "state", list: true, enum: states}
		if p.check(r.State) != nil {
			return f, rota.Invalidf("state", "is %s; it must be one or more of %s for this action", quoted(r.State), strings.Join(states, ", "))
		}
		f.states = wordsOf(r.State, states)
	}
	if err := c.readDetails(&f, r.Detail); err != nil {
		return f, err
	}
	if f.empty() != r.All {
		if r.All {
			return f, rota.Invalidf("all", "is set together with a filter; set only one of them")
		}
		return f, &rota.Error{Code: rota.Invalid, Field: "all", Reason: "the filter is empty and would select every job", Hint: `to select every job, send {"all": true}`}
	}
	return f, nil
}

func (c *call) sendBulk(m *api.Many, page []*rota.Job, command func(*rota.Job) rota.Command) error {
	if len(page) == 0 {
		return nil
	}
	commands := make([]rota.Command, len(page))
	for i, j := range page {
		commands[i] = command(j)
		if err := commands[i].Validate(); err != nil {
			return err
		}
	}
	results, err := c.Store.Apply(c.ctx, rota.Batch{Commands: commands})
	if err != nil {
		return err
	}
	for _, result := range results {
		countResult(m, result)
	}
	if i := slices.IndexFunc(results, func(r rota.Result) bool {
		return r.Err != nil && r.Err.Code != rota.Conflict && r.Err.Code != rota.NotFound && r.Err.Code != rota.Denied
	}); i >= 0 {
		return results[i].Err
	}
	return nil
}

func countResult(m *api.Many, result rota.Result) {
	m.Matched++
	switch r := result.Reply.(type) {
	case *rota.CancelledJob:
		m.Changed++
		if r.Stopping {
			m.Stopping++
		} else {
			m.Cancelled++
		}
	case *rota.Redriven:
		m.Changed++
		m.Retried++
	default:
		m.Refused++
	}
}

func (a *server) deadRoutes() {
	get(a, operation{
		method: "GET", path: "/dead", id: "list-dead", scope: readScope, tag: "Jobs", summary: "List dead letters",
		description: "The last attempts of executions that failed permanently and were not retried, newest first.",
		query:       pageParams(filterParams(nil)[1:]...), response: api.List[api.Job]{},
	}, func(c *call) (reply, error) {
		f, err := c.jobFilter()
		if err != nil {
			return reply{}, err
		}
		return c.jobPage(cursorDead, retryScans(f), f)
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
