package access

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// The kinds of definitions, as expectations name them.
const (
	kindTemplate = "template"
	kindSchedule = "schedule"
)

// object is what the Guard knows of a template or schedule.
type object struct {
	kind     string
	name     string
	exists   bool
	owner    string // empty: the template of a dropped definition
	since    time.Time
	params   json.RawMessage
	template string         // of a schedule
	typ      string         // of a template
	webhooks []rota.Webhook // of a template
	archived bool           // a template
	version  rota.ID
}

type objectKey struct{ kind, name string }

// objects reads templates, schedules and first attempts once each.
type objects struct {
	from    rota.Reader
	read    map[objectKey]*object
	firsts  map[rota.ID]*rota.Job // by execution
	recent  *object               // that the same request has read before; nil: none
	guessed bool                  // one of them may have changed since it was read, or was not read at all
}

func newObjects(from rota.Reader) *objects {
	return &objects{from: from, read: map[objectKey]*object{}}
}

// first returns the first attempt of the execution of a job. A retry is as old as its execution: a user or a definition that
// was created between the attempts has nothing to do with it.
func (o *objects) first(ctx context.Context, j *rota.Job) (*rota.Job, error) {
	if j.Attempt <= 1 {
		return j, nil
	}
	if known := o.firsts[j.ExecutionID]; known != nil {
		return known, nil
	}
	first, err := o.from.Job(ctx, j.ExecutionID)
	if err != nil {
		return nil, err
	}
	if o.firsts == nil {
		o.firsts = map[rota.ID]*rota.Job{}
	}
	o.firsts[j.ExecutionID] = first
	return first, nil
}

// isBefore reports whether the work of a job was requested before a user or a definition was created. A retry began with its
// first attempt, and a redrive with the execution that it redrives, unless that was pruned.
func (o *objects) isBefore(ctx context.Context, j *rota.Job, since time.Time) (bool, error) {
	for {
		first, err := o.first(ctx, j)
		switch {
		case err != nil:
			return false, err
		case first.CreatedAt.Before(since):
			return true, nil
		case first.RedriveOf.IsZero():
			return false, nil
		}
		if j, err = o.from.Job(ctx, first.RedriveOf); err != nil {
			return false, notFoundIsNil(err)
		}
	}
}

func (o *objects) get(ctx context.Context, kind, name string) (*object, error) {
	key := objectKey{kind, name}
	if known := o.read[key]; known != nil {
		return known, nil
	}
	if r := o.recent; r != nil && r.kind == kind && r.name == name {
		o.read[key], o.guessed = r, true
		return r, nil
	}
	found := &object{kind: kind, name: name}
	var err error
	if kind == kindTemplate {
		var t *rota.Template
		if t, err = o.from.Template(ctx, name); err == nil {
			found = templateObject(t)
		}
	} else {
		var s *rota.Schedule
		if s, err = o.from.Schedule(ctx, name); err == nil {
			found = scheduleObject(s)
		}
	}
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		return nil, err
	}
	o.read[key] = found
	return found, nil
}

// keep adds definitions that exist and need not be read again.
func (o *objects) keep(known []*object) {
	for _, one := range known {
		if one.exists {
			o.read[objectKey{one.kind, one.name}] = one
		}
	}
}

func templateObject(t *rota.Template) *object {
	return &object{
		kind: kindTemplate, name: t.Name, exists: true, owner: t.Owner, since: t.Since, params: t.Spec.Params,
		typ: t.Spec.Type, webhooks: t.Spec.Webhooks, archived: t.State == rota.TemplateArchived, version: t.Version,
	}
}

func scheduleObject(s *rota.Schedule) *object {
	return &object{
		kind: kindSchedule, name: s.Name, exists: true, owner: s.Owner, since: s.Since, params: s.Spec.Params,
		template: s.Spec.Template, version: s.Version,
	}
}

// ofJob returns the definition to which a job belongs, or nil: an ad-hoc job has none, and a definition that was dropped
// and created again is not that of an older job.
func (o *objects) ofJob(ctx context.Context, j *rota.Job) (*object, error) {
	kind, name := kindSchedule, j.Schedule
	if name == "" {
		kind, name = kindTemplate, j.Template
	}
	if name == "" {
		return nil, nil
	}
	found, err := o.get(ctx, kind, name)
	if err != nil || !found.exists {
		return nil, err
	}
	if before, err := o.isBefore(ctx, j, found.since); err != nil || before {
		return nil, err
	}
	return found, nil
}

// jobName is the name of the definition of a job for the scope of a token.
func jobName(j *rota.Job) string {
	if j.Schedule != "" {
		return j.Schedule
	}
	return j.Template
}

// mayJob reports whether the identity has a privilege on a job. A job without a definition belongs to the user whose
// rights it runs with.
func (a *authority) mayJob(ctx context.Context, p rota.Privilege, o *objects, j *rota.Job) (bool, error) {
	if !a.reaches(jobName(j)) {
		return false, nil
	}
	if a.onAll(p) {
		return true, nil
	}
	d, err := o.ofJob(ctx, j)
	if err != nil {
		return false, err
	}
	if d == nil {
		if j.RunsFor() != a.user {
			return false, nil
		}
		before, err := o.isBefore(ctx, j, a.since)
		return err == nil && !before, err
	}
	if !a.may(p, d) || p != rota.ViewJobHistory || d.kind != kindSchedule {
		return a.may(p, d), nil
	}
	return a.viewsResultsOf(ctx, o, d, j)
}

// viewsResultsOf reports whether the identity, which may see the history of a schedule, may see one of its jobs. The job has
// run with the rights of the owner of its template: an identity that may only execute the template of another owner must not
// see the results through a schedule of its own.
func (a *authority) viewsResultsOf(ctx context.Context, o *objects, s *object, j *rota.Job) (bool, error) {
	switch j.RunsFor() {
	case a.user:
		before, err := o.isBefore(ctx, j, a.since)
		return err == nil && !before, err
	case s.owner:
		return true, nil
	}
	t, err := o.get(ctx, kindTemplate, j.Template)
	if err != nil || !t.exists || !a.may(rota.ViewJobHistory, t) {
		return false, err
	}
	before, err := o.isBefore(ctx, j, t.since)
	return err == nil && !before, err
}
