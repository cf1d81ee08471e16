package httpapi

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// scan is one search for jobs: the query of the store, and a predicate that is evaluated here.
type scan struct {
	query rota.JobQuery
	keep  func(*rota.Job) bool
}

// If a page needs more rows than these, it is shorter than its limit, and its cursor continues from
// there.
const (
	scanMax   = 20_000 // rows that one request reads
	searchMax = 5      // searches of one request that end early, each after the rows that the store examines at a time
)

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
	if scans, err = c.scansByName(scans, f.name); err != nil {
		return nil, next, err
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
	for seen, short, budget := 0, 0, c.pageBytes; seen < scanMax && short < searchMax && budget > 0; {
		q := s.query
		q.Before, q.Limit = before, min(want-len(found), readRows)
		if s.keep != nil && seen > 0 {
			q.Limit = readRows // few rows match
		}
		page, err := c.Store.FindJobs(c.ctx, q)
		if err != nil {
			return nil, last, asMalformed(err)
		}
		for _, j := range page.Jobs {
			if s.keep == nil || s.keep(j) {
				found = append(found, j)
				budget -= jobSize(j)
			}
		}
		if !page.More || len(found) >= want {
			return found, rota.ID{}, nil
		}
		if len(page.Jobs) < q.Limit {
			short++
		}
		seen += len(page.Jobs)
		before = page.Next
	}
	return found, before, nil
}

// scansByName returns the scans for the jobs of a name. A job without a name of its own has that of its
// type.
func (c *call) scansByName(scans []scan, name string) (all []scan, err error) {
	if name == "" {
		return scans, nil
	}
	_, err = c.Store.Type(c.ctx, name)
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		return nil, err
	}
	isType := err == nil && !rota.InternalType(name)
	for _, s := range scans {
		named, unnamed := s, s
		named.query.Name = name
		all = append(all, named)
		if typ := s.query.Type; typ == name || typ == "" && isType {
			unnamed.query.Type, unnamed.query.Unnamed = name, true
			all = append(all, unnamed)
		}
	}
	return all, nil
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
		if picked && f.match(j, attempts, scans[0].query.OfExecution) && f.ids.contains(j.ID) && (before.IsZero() || j.ID.Compare(before) < 0) {
			jobs = append(jobs, j)
		}
	}
	return c.cutPage(jobs, rota.ID{}, limit)
}
