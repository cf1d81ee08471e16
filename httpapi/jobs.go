package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

func (a *server) jobRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs", id: "create-job", scope: writeScope, tag: "Jobs", summary: "Enqueue a job",
		description: "If its unique key or its plan is taken, the response is the job that holds it, with duplicate true and status 200. A header traceparent (W3C Trace Context) is stored with the job, and its run continues that trace.",
		example:     `{"type": "mail", "params": {"to": "ada@example.com"}, "priority": 10, "delay": "5m", "unique_key": "welcome:7"}`,
		status:      201, response: api.Job{}, otherStatuses: map[int]string{200: "The key is taken; the response is the job that holds it."}, errors: []int{409, 413, 415},
	}, createJob)
	route(a, operation{
		method: "POST", path: "/jobs/batch", id: "create-jobs", scope: writeScope, tag: "Jobs", summary: "Enqueue many jobs atomically",
		example: `{"jobs": [{"type": "mail", "params": {"to": "ada@example.com"}}, {"type": "mail", "params": {"to": "bob@example.com"}}]}`,
		status:  201, response: api.Batch{}, errors: []int{409, 413, 415}, bulk: true,
	}, createJobs)
	get(a, operation{
		method: "GET", path: "/jobs", id: "list-jobs", scope: readScope, tag: "Jobs", summary: "List jobs", description: "Newest first, each attempt separately.",
		query: pageParams(append(filterParams(api.JobStates), idPrefixParam, param{
			name: "status", form: formText, doc: "Stored status. It stays RUNNING after the run ends; use state instead.", enum: []string{"QUEUED", "RUNNING", "CANCELLED"},
		})...), response: api.List[api.Job]{},
	}, listJobs)
	get(a, operation{
		method: "GET", path: "/jobs/{id}", id: "get-job", scope: readScope, tag: "Jobs", summary: "Show a job", response: api.Job{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		return show(api.NewJob)(c.Store.Job(c.ctx, c.id))
	})
}

func createJob(c *call, body *api.JobRequest) (answer reply, err error) {
	trace, done := c.startEnqueue(1)
	defer func() { done(err) }()
	job, err := body.NewJob()
	if err != nil {
		return reply{}, err
	}
	job.Trace = trace
	command := &rota.Enqueue{Meta: c.meta(), Jobs: []rota.NewJob{job}}
	if err := command.Validate(); err != nil {
		return reply{}, problem.Rename(err, "jobs[0]", "")
	}
	if err := c.checkJob(&job); err != nil {
		return reply{}, err
	}
	enqueued, err := do[*rota.Enqueued](c, command)
	if err != nil {
		return reply{}, problem.InBody(problem.Rename(err, "jobs[0]", ""))
	}
	return enqueueReply(enqueued.Jobs[0])
}

// checkJob checks a job against its definitions. A replayed request is not checked again: it was valid when it was first sent.
func (c *call) checkJob(job *rota.NewJob) error {
	if c.replay {
		return nil
	}
	return c.lookup().CheckJob(job)
}

func enqueueReply(s rota.Submitted) (reply, error) {
	if s.Job == nil {
		return reply{}, problem.New(rota.Conflict, "unique_key", "send the request with another Idempotency-Key",
			"was taken when the request was first sent, by a job that no longer exists")
	}
	v := api.NewJob(s.Job)
	v.Duplicate = s.Duplicate
	if s.Duplicate {
		return ok(v)
	}
	return created(v, base+"/jobs/"+v.ID.String())
}

func createJobs(c *call, body *api.BatchRequest) (answer reply, err error) {
	trace, done := c.startEnqueue(len(body.Jobs))
	defer func() { done(err) }()
	jobs, err := newJobs(c, body.Jobs, trace)
	if err != nil {
		return reply{}, err
	}
	enqueued, err := do[*rota.Enqueued](c, &rota.Enqueue{Meta: c.meta(), Jobs: jobs})
	if err != nil {
		return reply{}, problem.InBody(err)
	}
	batch := api.Batch{Items: make([]api.Job, len(enqueued.Jobs))}
	for i, s := range enqueued.Jobs {
		if s.Job != nil {
			batch.Items[i] = api.NewJob(s.Job)
		}
		batch.Items[i].Duplicate = s.Duplicate
	}
	return created(batch, "")
}

// newJobs converts the jobs of a bulk request, and checks each against its definitions.
func newJobs(c *call, requests []api.JobRequest, trace string) ([]rota.NewJob, error) {
	jobs := make([]rota.NewJob, len(requests))
	for i := range requests {
		job, err := requests[i].NewJob()
		if err != nil {
			return nil, problem.AtItem("jobs", i, err)
		}
		job.Trace = trace
		jobs[i] = job
	}
	if err := (&rota.Enqueue{Jobs: jobs}).Validate(); err != nil {
		return nil, err
	}
	for i := range jobs {
		if err := c.checkJob(&jobs[i]); err != nil {
			return nil, problem.AtItem("jobs", i, err)
		}
	}
	return jobs, nil
}

func listJobs(c *call) (reply, error) {
	f, err := c.jobFilter()
	if err != nil {
		return reply{}, err
	}
	q := f.query()
	q.Status = rota.Status(c.word("status"))
	scans := scansOf(q, f.states)
	if f.ids != (idRange{}) && f.typ == "" { // an id selects a job of an internal type too
		q.Type = rota.TypeWebhook
		scans = append(scans, scansOf(q, f.states)...)
	}
	return c.jobPage(cursorJobs, scans, f)
}

// scansOf returns a scan for each state; none: one for all.
func scansOf(q rota.JobQuery, states []string) (scans []scan) {
	if len(states) == 0 {
		return []scan{{query: q}}
	}
	for _, state := range states {
		q.State = rota.State(state)
		scans = append(scans, scan{query: q})
	}
	return scans
}
