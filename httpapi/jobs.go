package httpapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// JobRequest asks for a job. Exactly one of template and type names what it
// runs.
type JobRequest struct {
	Template       string   `json:"template,omitempty" doc:"The template that it is made from."`
	Type           string   `json:"type,omitempty" doc:"Its type, if it is made from no template." example:"mail"`
	Name           string   `json:"name,omitempty" doc:"The name that its execution goes by; left out: its type."`
	Params         Document `json:"params,omitempty" doc:"What the handler is given: a JSON object."`
	Priority       *int     `json:"priority,omitempty" doc:"Higher ones go first; 0 if nobody says."`
	RunAt          Time     `json:"run_at,omitzero" doc:"It does not start before this. At most one of run_at and delay."`
	Delay          Duration `json:"delay,omitempty" doc:"It does not start before so long from now."`
	UniqueKey      string   `json:"unique_key,omitempty" doc:"While it is held, a second job of this type and key is answered with the first."`
	UniqueFor      Duration `json:"unique_for,omitempty" doc:"How long the key is held at least; left out: as long as the execution is kept."`
	ScopeKind      string   `json:"scope_kind,omitempty" doc:"What the execution is for: both, or neither."`
	ScopeID        string   `json:"scope_id,omitempty" doc:"See scope_kind."`
	PlanTime       Time     `json:"plan_time,omitzero" doc:"With name and scope it is unique: the same plan is not made twice."`
	ConcurrencyKey *string  `json:"concurrency_key,omitempty" doc:"How many of one key run at once is limited by PUT /limits."`
	PolicyRequest
	Class     anyValue `json:"class,omitzero" doc:"Not supported yet."`
	Partition anyValue `json:"partition,omitzero" doc:"Not supported yet."`
	Webhooks  anyValue `json:"webhooks,omitzero" doc:"Not supported yet."`
}

// newJob is the job for the library.
func (r *JobRequest) newJob() (rota.NewJob, error) {
	if err := refuseUnsupported("class", r.Class); err != nil {
		return rota.NewJob{}, err
	}
	if err := refuseUnsupported("partition", r.Partition); err != nil {
		return rota.NewJob{}, err
	}
	if err := refuseUnsupported("webhooks", r.Webhooks); err != nil {
		return rota.NewJob{}, err
	}
	var p rota.PolicyPatch
	r.apply(&p)
	return rota.NewJob{
		Type: r.Type, Name: r.Name, Template: r.Template, Params: r.Params.raw(), Priority: r.Priority,
		RunAt: r.RunAt.Time, Delay: time.Duration(r.Delay), UniqueKey: r.UniqueKey, UniqueFor: time.Duration(r.UniqueFor),
		ScopeKind: r.ScopeKind, ScopeID: r.ScopeID, PlanTime: r.PlanTime.Time, ConcurrencyKey: r.ConcurrencyKey,
		MaxRetries: p.MaxRetries, Backoff: p.Backoff, BackoffMax: p.BackoffMax, Jitter: p.Jitter, Timeout: p.Timeout,
	}, nil
}

// BatchRequest asks for jobs, all of them or none.
type BatchRequest struct {
	Jobs []JobRequest `json:"jobs" doc:"1 to 10,000, in the order in which they are to run."`
}

// Batch is what came of a BatchRequest, one for each job in its order.
type Batch struct {
	Items []Job `json:"items" nullable:"false" doc:"The jobs, in the order in which they were asked for."`
}

func (a *api) jobRoutes() {
	route(a, operation{
		method: "POST", path: "/jobs", id: "create-job", tag: "Jobs", summary: "Enqueue a job",
		description: "If its unique key or its plan is taken, the job that holds it is answered, with duplicate true and the status 200. A header traceparent, of W3C Trace Context, is kept with the job: its run goes on from there.",
		example:     `{"type": "mail", "params": {"to": "ada@example.com"}, "priority": 10, "delay": "5m", "unique_key": "welcome:7"}`,
		status:      201, response: Job{}, otherStatuses: map[int]string{200: "Its key is taken: the job that holds it."}, errors: []int{409, 413, 415},
	}, createJob)
	route(a, operation{
		method: "POST", path: "/jobs/batch", id: "create-jobs", tag: "Jobs", summary: "Enqueue many jobs, all or none",
		example: `{"jobs": [{"type": "mail", "params": {"to": "ada@example.com"}}, {"type": "mail", "params": {"to": "bob@example.com"}}]}`,
		status:  201, response: Batch{}, errors: []int{409, 413, 415}, bulk: true,
	}, createJobs)
	get(a, operation{
		method: "GET", path: "/jobs", id: "list-jobs", tag: "Jobs", summary: "List jobs", description: "Newest first, every attempt by itself.",
		query: pageParams(append(filterParams(jobStates), param{
			name: "status", form: formText, doc: "What is stored: RUNNING stays RUNNING after the end; use state.", enum: []string{"QUEUED", "RUNNING", "CANCELLED"},
		})...), response: List[Job]{},
	}, listJobs)
	get(a, operation{
		method: "GET", path: "/jobs/{id}", id: "get-job", tag: "Jobs", summary: "Show a job", response: Job{}, errors: []int{404},
	}, func(c *call) (reply, error) {
		id, err := c.id()
		if err != nil {
			return reply{}, err
		}
		job, err := c.Store.Job(c.ctx, id)
		if err != nil {
			return reply{}, err
		}
		return ok(NewJob(job))
	})
}

func createJob(c *call, body *JobRequest) (answer reply, err error) {
	trace, done := c.startEnqueue(1)
	defer func() { done(err) }()
	job, err := body.newJob()
	if err != nil {
		return reply{}, err
	}
	job.Trace = trace
	command := &rota.Enqueue{Meta: c.meta(), Jobs: []rota.NewJob{job}}
	if err := command.Validate(); err != nil {
		return reply{}, renameFields(err, "jobs[0]", "")
	}
	if err := c.checkJob(&job); err != nil {
		return reply{}, err
	}
	enqueued, err := do[*rota.Enqueued](c, command)
	if err != nil {
		return reply{}, asBodyError(renameFields(err, "jobs[0]", ""))
	}
	return enqueueReply(enqueued.Jobs[0])
}

// checkJob is definitions.check for one job, which needs no books.
func (c *call) checkJob(job *rota.NewJob) error {
	d := definitionCache{c: c, types: map[string]*rota.Type{}, templates: map[string]*rota.Template{}}
	return d.check(job)
}

func enqueueReply(s rota.Submitted) (reply, error) {
	if s.Job == nil {
		return reply{}, &rota.Error{
			Code: rota.Conflict, Field: "unique_key", Reason: "was taken when this was sent first, by a job that is no longer kept",
			Hint: "send it under another Idempotency-Key",
		}
	}
	v := NewJob(s.Job)
	v.Duplicate = s.Duplicate
	if s.Duplicate {
		return ok(v)
	}
	return created(v, base+"/jobs/"+v.ID.String())
}

func createJobs(c *call, body *BatchRequest) (answer reply, err error) {
	trace, done := c.startEnqueue(len(body.Jobs))
	defer func() { done(err) }()
	jobs, err := newJobs(c, body.Jobs, trace)
	if err != nil {
		return reply{}, err
	}
	enqueued, err := do[*rota.Enqueued](c, &rota.Enqueue{Meta: c.meta(), Jobs: jobs})
	if err != nil {
		return reply{}, asBodyError(err)
	}
	batch := Batch{Items: make([]Job, len(enqueued.Jobs))}
	for i, s := range enqueued.Jobs {
		if s.Job != nil {
			batch.Items[i] = NewJob(s.Job)
		}
		batch.Items[i].Duplicate = s.Duplicate
	}
	return created(batch, "")
}

// newJobs are the jobs of a request for many, each held to its definitions.
func newJobs(c *call, requests []JobRequest, trace string) ([]rota.NewJob, error) {
	jobs := make([]rota.NewJob, len(requests))
	for i := range requests {
		job, err := requests[i].newJob()
		if err != nil {
			return nil, atItem("jobs", i, err)
		}
		job.Trace = trace
		jobs[i] = job
	}
	if err := (&rota.Enqueue{Jobs: jobs}).Validate(); err != nil {
		return nil, err
	}
	d := c.newDefinitionCache()
	for i := range jobs {
		if err := d.check(&jobs[i]); err != nil {
			return nil, atItem("jobs", i, err)
		}
	}
	return jobs, nil
}

// atItem puts the place of an item in front of the fields that an error names.
func atItem(list string, i int, err error) error {
	e, isRotaError := err.(*rota.Error)
	if !isRotaError || e.Field == "" {
		return err
	}
	first, _, _ := strings.Cut(e.Field, ".")
	first, _, _ = strings.Cut(first, "[")
	return renameFields(err, first, fmt.Sprintf("%s[%d].%s", list, i, first))
}

func listJobs(c *call) (reply, error) {
	limit, before, err := c.idPage(cursorJobs)
	if err != nil {
		return reply{}, err
	}
	f, err := c.filter(jobStates)
	if err != nil {
		return reply{}, err
	}
	status, err := c.enumParam("status", "QUEUED", "RUNNING", "CANCELLED")
	if err != nil {
		return reply{}, err
	}
	q := f.query()
	q.State, q.Status = rota.State(f.state), rota.Status(status)
	rows, next, err := c.findJobs([]scan{{query: q}}, f, before, limit)
	if err != nil {
		return reply{}, err
	}
	return ok(List[Job]{Items: NewJobs(rows), NextCursor: nextCursor(cursorJobs, next)})
}

func nextCursor(kind cursorKind, next rota.ID) Text {
	if next.IsZero() {
		return ""
	}
	return idCursor(kind, next)
}
