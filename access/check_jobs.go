package access

import (
	"encoding/json"
	"slices"

	"github.com/rotajobs/rota"
)

func (k *check) jobs(jobs []rota.NewJob) error {
	for i := range jobs {
		if err := k.newJob(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// newJob checks a request for a job: EXECUTE JOB on its template, else CREATE JOB.
func (k *check) newJob(j *rota.NewJob) error {
	if j.Template == "" {
		if err := k.create(""); err != nil {
			return err
		}
		return k.runs(j.Type, j.Params, nil)
	}
	t, err := k.object(kindTemplate, j.Template)
	if err != nil {
		return err
	}
	if err := k.onObject(t, rota.ExecuteJob); err != nil {
		return err
	}
	return k.overrides(t, j.Params, t.params)
}

// trigger checks a trigger and its params. The template decides what runs, so its owner decides who may change that.
func (k *check) trigger(c *rota.Trigger) error {
	s, err := k.object(kindSchedule, c.Schedule)
	if err != nil {
		return err
	}
	if err := k.onObject(s, rota.ExecuteJob); err != nil || len(c.Params) == 0 || !s.exists {
		return err
	}
	t, err := k.object(kindTemplate, s.template)
	if err != nil {
		return err
	}
	return k.overrides(t, c.Params, t.params, s.params)
}

// alterJob requires ALTER JOB on a job. The id may be that of any attempt.
func (k *check) alterJob(id rota.ID) error {
	_, err := k.onJob(id, rota.AlterJob)
	return err
}

// onJob requires a privilege on a job, and returns the job.
func (k *check) onJob(id rota.ID, p rota.Privilege) (*rota.Job, error) {
	if k.onAll(p) && k.reaches("") {
		return nil, nil
	}
	j, err := k.store.Job(k.ctx, id)
	if err != nil {
		return nil, err
	}
	d, err := k.definitionOf(j)
	if err != nil {
		return nil, err
	}
	may, err := k.mayJob(k.ctx, p, k.objects, j)
	if may || err != nil {
		return j, err
	}
	if sees, err := k.mayJob(k.ctx, rota.ViewJobHistory, k.objects, j); err != nil || !sees {
		if err == nil && d != nil && k.seesObject(d) {
			return nil, k.missing(p, d)
		}
		return nil, orNotFound(err, kindJob, id.String())
	}
	if d == nil {
		return nil, k.missingOnAll(p)
	}
	return nil, k.missing(p, d)
}

// definitionOf returns the definition of a job, and notes that the decision depends on it.
func (k *check) definitionOf(j *rota.Job) (*object, error) {
	d, err := k.objects.ofJob(k.ctx, j)
	if err == nil && d != nil && !slices.Contains(k.relied, d) {
		k.relied = append(k.relied, d)
		k.jobOf[d] = true
	}
	return d, err
}

func orNotFound(err error, kind, name string) error {
	if err != nil {
		return err
	}
	return notFound(kind, name)
}

// edit requires ALTER JOB, and the right to decide what the job runs if new params change that.
func (k *check) edit(c *rota.Edit) error {
	if err := k.alterJob(c.JobID); err != nil || k.admin || len(c.Params)+len(c.MergeParams) == 0 {
		return err
	}
	return k.changesParams(c.JobID, func(was json.RawMessage) json.RawMessage {
		if c.Params != nil {
			was = c.Params
		}
		return rota.MergeParams(was, c.MergeParams)
	})
}

// redrive requires the same for the params of the new job.
func (k *check) redrive(c *rota.Redrive) error {
	if err := k.alterJob(c.JobID); err != nil || k.admin || len(c.Params) == 0 {
		return err
	}
	return k.changesParams(c.JobID, func(was json.RawMessage) json.RawMessage { return rota.MergeParams(was, c.Params) })
}

// move requires ALTER JOB on the job, and that the anchor is visible.
func (k *check) move(c *rota.Move) error {
	if err := k.alterJob(c.JobID); err != nil || c.Anchor.IsZero() || k.viewsAll() {
		return err
	}
	anchor, err := k.store.Job(k.ctx, c.Anchor)
	sees := false
	if err == nil {
		sees, err = k.mayJob(k.ctx, rota.ViewJobHistory, k.objects, anchor)
	}
	if sees || err != nil && rota.CodeOf(err) != rota.NotFound {
		return err
	}
	refusal := notFound(kindJob, c.Anchor.String())
	refusal.Field = "anchor"
	return refusal
}

// cancelGroup requires ALTER JOB on all jobs, or that the user created the group.
func (k *check) cancelGroup(c *rota.CancelGroup) error {
	if k.onAll(rota.AlterJob) && k.reaches("") {
		return nil
	}
	g, err := k.store.Group(k.ctx, c.GroupID)
	if err != nil {
		return err
	}
	switch {
	case k.ownsGroup(g):
		return nil
	case k.viewsAll():
		return k.missingOnAll(rota.AlterJob)
	}
	return notFound(kindGroup, c.GroupID.String())
}

// ownsGroup reports whether the user created a group.
func (a *authority) ownsGroup(g *rota.Group) bool {
	return a.reaches("") && g.CreatedBy == a.user && !g.CreatedAt.Before(a.since)
}
