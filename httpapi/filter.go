package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// filter selects jobs and executions.
type filter struct {
	state     string
	typ       string
	template  string
	schedule  string
	group     rota.ID
	execution rota.ID
	ids       idRange
}

func filterParams(states []string) []param {
	return []param{
		{name: "state", form: formText, doc: "State.", enum: states},
		{name: "type", form: formName, doc: "Type.", example: "mail"},
		{name: "template", form: formName, doc: "Template they were created from."},
		{name: "schedule", form: formName, doc: "Schedule that fired them."},
		{name: "group", form: formID, doc: "Id of the group."},
		{name: "execution", form: formID, doc: "Id of the execution, or of any of its jobs."},
	}
}

// filter reads the filter parameters of the query.
func (c *call) filter() filter {
	return filter{
		state: c.word("state"), typ: c.query.Get("type"), template: c.query.Get("template"), schedule: c.query.Get("schedule"),
		group: c.queryID("group"), execution: c.queryID("execution"), ids: c.idRange(),
	}
}

// query returns the filter for the store without the state, whose values differ.
func (f *filter) query() rota.JobQuery {
	return rota.JobQuery{Type: f.typ, Template: f.template, Schedule: f.schedule, GroupID: f.group, After: f.ids.after}
}

// match applies the filter to a job that was found without it.
func (f *filter) match(j *rota.Job) bool {
	return (f.typ == "" || j.Type == f.typ) && (f.template == "" || j.Template == f.template) &&
		(f.schedule == "" || j.Schedule == f.schedule) && (f.group.IsZero() || j.GroupID == f.group)
}

// scan is one search for jobs: the query of the store, and a predicate that is evaluated here.
type scan struct {
	query rota.JobQuery
	keep  func(*rota.Job) bool
}

// scanMax is the highest number of rows that one request reads. If a page would need more, it is
// shorter than its limit, and its cursor continues from there.
const scanMax = 20_000

// findPage returns the page of jobs that the cursor of the request selects, and the cursor of the next page.
func (c *call) findPage(kind cursorKind, scans []scan, f filter) ([]*rota.Job, api.Text, error) {
	position, err := c.position(kind)
	if err != nil {
		return nil, "", err
	}
	jobs, next, err := c.findJobs(scans, f, idAt(position), c.limit())
	if err != nil || next.IsZero() {
		return jobs, "", err
	}
	return jobs, cursorOf(kind, next[:]), nil
}

// findJobs returns a page of jobs, newest first, and the start of the next page; zero: there is none.
func (c *call) findJobs(scans []scan, f filter, before rota.ID, limit int) (jobs []*rota.Job, next rota.ID, err error) {
	if !f.execution.IsZero() {
		return c.findInExecution(scans, f, before, limit)
	}
	before = f.ids.startAt(before)
	lowerBound := rota.ID{} // a scan that stopped early has read nothing below this id
	for _, s := range scans {
		found, last, err := c.scan(s, before, limit+1)
		if err != nil {
			return nil, next, err
		}
		if last.Compare(lowerBound) > 0 {
			lowerBound = last
		}
		jobs = append(jobs, found...)
	}
	return c.cutPage(jobs, lowerBound, limit)
}

// cutPage sorts jobs and cuts them to a page.
func (c *call) cutPage(jobs []*rota.Job, lowerBound rota.ID, limit int) ([]*rota.Job, rota.ID, error) {
	slices.SortFunc(jobs, func(a, b *rota.Job) int { return b.ID.Compare(a.ID) })
	jobs = slices.DeleteFunc(jobs, func(j *rota.Job) bool { return j.ID.Compare(lowerBound) < 0 })
	budget := c.pageBytes
	for i, j := range jobs {
		if i == limit || budget <= 0 {
			return jobs[:i], jobs[i-1].ID, nil
		}
		budget -= jobSize(j)
	}
	return jobs, lowerBound, nil
}

// scan finds up to want jobs, or as many as fill a page. last is the row where it stopped early, zero
// if it read all rows or found enough.
func (c *call) scan(s scan, before rota.ID, want int) (found []*rota.Job, last rota.ID, err error) {
	for seen, budget := 0, c.pageBytes; seen < scanMax && budget > 0; {
		q := s.query
		q.Before, q.Limit = before, min(want-len(found), readRows)
		if s.keep != nil && seen > 0 {
			q.Limit = readRows // few rows match
		}
		rows, err := c.Store.Jobs(c.ctx, q)
		if err != nil {
			return nil, last, asMalformed(err)
		}
		for _, j := range rows {
			if s.keep == nil || s.keep(j) {
				found = append(found, j)
				budget -= jobSize(j)
			}
		}
		if len(rows) < q.Limit || len(found) >= want {
			return found, rota.ID{}, nil
		}
		seen += len(rows)
		before = rows[len(rows)-1].ID
	}
	return found, before, nil
}

// findInExecution filters the attempts of one execution.
func (c *call) findInExecution(scans []scan, f filter, before rota.ID, limit int) (jobs []*rota.Job, next rota.ID, err error) {
	attempts, err := c.Store.Execution(c.ctx, f.execution)
	if rota.CodeOf(err) == rota.NotFound {
		return []*rota.Job{}, next, nil
	}
	if err != nil {
		return nil, next, err
	}
	tail := attempts[len(attempts)-1]
	for _, j := range attempts {
		picked := slices.ContainsFunc(scans, func(s scan) bool {
			return (!s.query.Tails || j == tail) && (s.query.Status == "" || s.query.Status == j.Status) &&
				(s.query.State == "" || s.query.State == j.State()) && (s.keep == nil || s.keep(j))
		})
		if picked && f.match(j) && f.ids.contains(j.ID) && (before.IsZero() || j.ID.Compare(before) < 0) {
			jobs = append(jobs, j)
		}
	}
	return c.cutPage(jobs, rota.ID{}, limit)
}
