package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

// fixture is a model and the time of its next command.
type fixture struct {
	*testing.T
	m   *model.Model
	now time.Time
}

func newFixture(t *testing.T) *fixture {
	return &fixture{T: t, m: model.New(time.Now), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func meta() rota.Meta { return rota.NewMeta("ada") }

// do applies a command that must not be refused.
func do[R rota.Reply](f *fixture, c rota.Command) R {
	f.Helper()
	results, err := f.m.Apply(context.Background(), rota.Batch{Now: f.now, Commands: []rota.Command{c}})
	if err != nil || results[0].Err != nil {
		f.Fatalf("%s: %v %v", c.Verb(), err, results)
	}
	return results[0].Reply.(R)
}

// refused applies a command that must be refused.
func (f *fixture) refused(code rota.Code, c rota.Command) {
	f.Helper()
	results, _ := f.m.Apply(context.Background(), rota.Batch{Now: f.now, Commands: []rota.Command{c}})
	if err := results[0].Err; err == nil || err.Code != code {
		f.Fatalf("%s: %v, want %s", c.Verb(), err, code)
	}
}

func (f *fixture) claim(limit int) *rota.Claimed {
	f.Helper()
	return do[*rota.Claimed](f, &rota.Claim{Meta: meta(), Worker: "w", Types: []string{"mail"}, Limit: limit, Lease: time.Minute, Seed: rota.NewToken()})
}

func (f *fixture) finish(j *rota.Job, outcome rota.Outcome) {
	f.Helper()
	item := rota.FinishItem{LeaseRef: j.Lease(), Outcome: outcome, Permanent: true}
	if a := do[*rota.Finished](f, &rota.Finish{Meta: meta(), Items: []rota.FinishItem{item}}).Items[0]; a.Code != "" {
		f.Fatalf("finish: %s", a.Code)
	}
}

func (f *fixture) job(id rota.ID) *rota.Job {
	f.Helper()
	j, err := f.m.Job(context.Background(), id)
	if err != nil {
		f.Fatal(err)
	}
	return j
}

func (f *fixture) wantState(id rota.ID, state rota.State) {
	f.Helper()
	if got := f.job(id).State(); got != state {
		f.Errorf("the job is %s, want %s", got, state)
	}
}

func (f *fixture) limit(spec rota.ThrottleSpec) {
	f.Helper()
	do[*rota.ThrottlePut](f, &rota.PutThrottle{Meta: meta(), Spec: spec})
}

// declare declares a template and a schedule of one name. It fires every minute, or once.
func (f *fixture) declare(name string, spec rota.ScheduleSpec) {
	f.Helper()
	do[*rota.TemplatePut](f, &rota.PutTemplate{Meta: meta(), Name: name, Spec: rota.TemplateSpec{Type: "mail"}})
	spec.Template = name
	if spec.At.IsZero() {
		spec.Every = time.Minute
	}
	c, err := rota.Declare(meta(), name, spec, f.now)
	if err != nil {
		f.Fatal(err)
	}
	do[*rota.SchedulePut](f, c)
}

func (f *fixture) schedule(name string) *rota.Schedule {
	f.Helper()
	d, err := f.m.Schedule(context.Background(), name)
	if err != nil {
		f.Fatal(err)
	}
	return d
}

// fire fires what is due of a schedule.
func (f *fixture) fire(name string) *rota.Fired {
	f.Helper()
	c, err := rota.PlanFire(meta(), f.schedule(name), f.now, time.Time{})
	if err != nil || c == nil {
		f.Fatalf("nothing to fire: %v", err)
	}
	return do[*rota.Fired](f, c)
}

func (f *fixture) group(c *rota.EnqueueGroup) *rota.GroupEnqueued {
	f.Helper()
	c.Meta = meta()
	return do[*rota.GroupEnqueued](f, c)
}

func jobs(n int) []rota.NewJob {
	list := make([]rota.NewJob, n)
	for i := range list {
		list[i].Type = "mail"
	}
	return list
}
