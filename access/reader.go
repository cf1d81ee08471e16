package access

import (
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// reader filters the reads of a store or of a view to what an identity may see.
type reader struct {
	*authority
	from    rota.Reader
	objects *objects
}

// allow refuses a read that the scope of the token excludes.
func (r *reader) allow(method string) error {
	if err := r.inScope(readNeeds[method]); err != nil {
		return err
	}
	return nil
}

// sees reports whether a job is visible.
func (r *reader) seesJob(ctx context.Context, j *rota.Job) (bool, error) {
	return r.mayJob(ctx, rota.ViewJobHistory, r.objects, j)
}

// visible returns the jobs that the identity may see.
func (r *reader) visible(ctx context.Context, jobs []*rota.Job) (seen []*rota.Job, err error) {
	for _, j := range jobs {
		sees, err := r.seesJob(ctx, j)
		if err != nil {
			return nil, err
		}
		if sees {
			seen = append(seen, j)
		}
	}
	return seen, nil
}

// one returns a job if it is visible, else NotFound.
func (r *reader) one(ctx context.Context, method string, id rota.ID, read func(context.Context, rota.ID) (*rota.Job, error)) (*rota.Job, error) {
	if err := r.allow(method); err != nil {
		return nil, err
	}
	j, err := read(ctx, id)
	if err != nil || r.viewsAll() {
		return j, err
	}
	sees, err := r.seesJob(ctx, j)
	if err != nil || !sees {
		return nil, orNotFound(err, kindJob, id.String())
	}
	return j, nil
}

func (r *reader) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	return r.one(ctx, "Job", id, r.from.Job)
}

func (r *reader) LastAttempt(ctx context.Context, id rota.ID) (*rota.Job, error) {
	return r.one(ctx, "LastAttempt", id, r.from.LastAttempt)
}

// Execution hides an execution by its first attempt: all attempts have the same owner and definition.
func (r *reader) Execution(ctx context.Context, id rota.ID) ([]*rota.Job, error) {
	if err := r.allow("Execution"); err != nil {
		return nil, err
	}
	attempts, err := r.from.Execution(ctx, id)
	if err != nil || r.viewsAll() || len(attempts) == 0 {
		return attempts, err
	}
	sees, err := r.seesJob(ctx, attempts[0])
	if err != nil || !sees {
		return nil, orNotFound(err, kindJob, id.String())
	}
	return attempts, nil
}

// limitOf returns the limit of a query.
func limitOf(limit int) int {
	if limit == 0 {
		return 100
	}
	return limit
}

// Jobs reads pages of the store until the page of the identity is full.
func (r *reader) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	if err := r.allow("Jobs"); err != nil {
		return nil, err
	}
	if r.viewsAll() || q.Limit < 0 { // the store refuses it
		return r.from.Jobs(ctx, q)
	}
	var all []*rota.Job
	err := r.eachPage(ctx, q, func(seen []*rota.Job) bool {
		all = append(all, seen...)
		return len(all) < limitOf(q.Limit)
	})
	return all[:min(len(all), limitOf(q.Limit))], err
}

// eachPage passes on the visible jobs of each page, until more returns false. A page of the store has at least as many
// rows as the query wants, so that few pages are read.
func (r *reader) eachPage(ctx context.Context, q rota.JobQuery, more func([]*rota.Job) bool) error {
	q.Limit = limitOf(q.Limit)
	for {
		page, err := r.from.Jobs(ctx, q)
		if err != nil {
			return err
		}
		seen, err := r.visible(ctx, page)
		if err != nil || !more(seen) || len(page) < q.Limit {
			return err
		}
		last := page[len(page)-1].ID
		if q.Oldest {
			q.After = last
		} else {
			q.Before = last
		}
		q.Limit = min(2*q.Limit, rota.PageMax)
	}
}

// CountJobs counts the visible jobs by reading them.
func (r *reader) CountJobs(ctx context.Context, q rota.JobQuery) (n int64, err error) {
	if err := r.allow("CountJobs"); err != nil {
		return 0, err
	}
	if r.viewsAll() {
		return r.from.CountJobs(ctx, q)
	}
	q.Lean, q.Limit = true, rota.PageMax
	err = r.eachPage(ctx, q, func(seen []*rota.Job) bool {
		n += int64(len(seen))
		return true
	})
	return n, err
}

// A page stops after so many rows that are not visible. It is then short, and its cursor continues from there. The bound of
// a search is high, because such a cursor shows that hidden rows match the search.
const (
	hiddenMax       = 2_000
	hiddenSearchMax = 100_000
)

// hiddenMaxOf returns the bound for a query.
func hiddenMaxOf(searches bool) int {
	if searches {
		return hiddenSearchMax
	}
	return hiddenMax
}

// searchesJobs reports whether a query compares values of jobs that a user could guess.
func searchesJobs(q rota.JobQuery) bool {
	return q.Type != "" || q.Template != "" || q.Schedule != "" || q.Name != "" || q.UniqueKey != "" ||
		q.ScopeKind != "" || q.ScopeID != "" || q.ErrorCode != "" || q.Text != ""
}

func (r *reader) FindJobs(ctx context.Context, q rota.JobQuery) (rota.JobPage, error) {
	if err := r.allow("FindJobs"); err != nil {
		return rota.JobPage{}, err
	}
	if r.viewsAll() {
		return r.from.FindJobs(ctx, q)
	}
	limit := limitOf(q.Limit)
	var found rota.JobPage
	for hidden, most := 0, hiddenMaxOf(searchesJobs(q)); hidden < most; {
		page, err := r.from.FindJobs(ctx, q)
		if err != nil {
			return rota.JobPage{}, err
		}
		seen, err := r.visible(ctx, page.Jobs)
		if err != nil {
			return rota.JobPage{}, err
		}
		hidden += len(page.Jobs) - len(seen)
		found.Jobs, found.Next, found.More = append(found.Jobs, seen...), page.Next, page.More
		if len(found.Jobs) > limit { // continue after the last one that is returned
			found.Jobs, found.More = found.Jobs[:limit], true
			found.Next = found.Jobs[limit-1].ID
		}
		if !page.More || len(found.Jobs) >= limit {
			break
		}
		if q.Oldest {
			q.After = page.Next
		} else {
			q.Before = page.Next
		}
		q.Limit = min(2*limitOf(q.Limit), rota.PageMax)
	}
	return found, nil
}

// queueTries is how often the queue is read again because the job at which a page ended has left it.
const queueTries = 3

func (r *reader) Queue(ctx context.Context, after rota.ID, limit int) (all []*rota.Job, err error) {
	if err := r.allow("Queue"); err != nil {
		return nil, err
	}
	if r.viewsAll() || limit < 0 { // the store refuses it
		return r.from.Queue(ctx, after, limit)
	}
	if !after.IsZero() { // the place of a job that is not visible is not shown either
		if _, err := r.one(ctx, "Queue", after, r.from.Job); err != nil {
			return nil, err
		}
	}
	for range queueTries {
		var moved bool
		if all, moved, err = r.queueFrom(ctx, after, limitOf(limit)); !moved {
			return all, err
		}
	}
	return nil, rota.Errorf(rota.Busy, "queue", "it kept changing while it was read; read it again")
}

// queueFrom reads pages of the queue. It reports whether a job at which a page ended has left the queue.
func (r *reader) queueFrom(ctx context.Context, after rota.ID, limit int) (all []*rota.Job, moved bool, err error) {
	from := after
	for {
		page, err := r.from.Queue(ctx, from, rota.PageMax)
		if err != nil {
			return nil, from != after && rota.CodeOf(err) == rota.NotFound, err
		}
		seen, err := r.visible(ctx, page)
		if err != nil {
			return nil, false, err
		}
		all = append(all, seen...)
		if len(all) >= limit || len(page) < rota.PageMax {
			return all[:min(len(all), limit)], false, nil
		}
		from = page[len(page)-1].ID
	}
}

// Explain hides the ids and names of jobs that the identity may not see.
func (r *reader) Explain(ctx context.Context, id rota.ID) ([]rota.Reason, error) {
	if err := r.allow("Explain"); err != nil {
		return nil, err
	}
	if r.viewsAll() {
		return r.from.Explain(ctx, id)
	}
	if _, err := r.one(ctx, "Explain", id, r.from.Job); err != nil {
		return nil, err
	}
	reasons, err := r.from.Explain(ctx, id)
	if err != nil {
		return nil, err
	}
	for i := range reasons {
		if reasons[i], err = r.redactReason(ctx, reasons[i]); err != nil {
			return nil, err
		}
	}
	return reasons, nil
}

// ownReasons are reasons that are about the job itself, its type or its own attempts. Their texts name nothing else.
var ownReasons = []rota.ReasonCode{
	rota.ReasonEnded, rota.ReasonRunning, rota.ReasonEnding, rota.ReasonPaused, rota.ReasonDelay, rota.ReasonRetry, rota.ReasonTypeLimit, rota.ReasonRate,
}

// plainReasons are the texts of reasons that would name jobs, schedules or nodes of others.
var plainReasons = map[rota.ReasonCode]string{
	rota.ReasonDependency:  "it waits for a job that it depends on",
	rota.ReasonGroup:       "it waits for other members of its group",
	rota.ReasonOverlap:     "an earlier execution of its schedule has not ended",
	rota.ReasonKeyLimit:    "the limit of its concurrency key is reached",
	rota.ReasonGlobalLimit: "the global limit is reached",
	rota.ReasonReservation: "a node is reserved for a direct run",
	rota.ReasonOrder:       "other jobs are first, or no worker has claimed it yet",
}

func (r *reader) redactReason(ctx context.Context, reason rota.Reason) (rota.Reason, error) {
	if slices.Contains(ownReasons, reason.Code) && len(reason.Jobs) == 0 {
		return reason, nil
	}
	var jobs []rota.ID
	for _, id := range reason.Jobs {
		j, err := r.from.Job(ctx, id)
		if rota.CodeOf(err) == rota.NotFound {
			continue
		}
		if err != nil {
			return reason, err
		}
		sees, err := r.seesJob(ctx, j)
		if err != nil {
			return reason, err
		}
		if sees {
			jobs = append(jobs, id)
		}
	}
	if len(jobs) == len(reason.Jobs) && len(jobs) > 0 {
		return reason, nil
	}
	reason.Jobs, reason.Remedy = jobs, "ask an administrator, who sees the other jobs"
	if text, is := plainReasons[reason.Code]; is {
		reason.Text = text
	}
	return reason, nil
}
