package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

// world is a model and the hand that tells it what happens.
type world struct {
	*testing.T
	m   *model.Model
	now time.Time
}

func newWorld(t *testing.T) *world {
	return &world{T: t, m: model.New(time.Now), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func meta() rota.Meta { return rota.NewMeta("ada") }

// do applies a command that must not be refused.
func do[R rota.Reply](w *world, c rota.Command) R {
	w.Helper()
	results, err := w.m.Apply(context.Background(), rota.Batch{Now: w.now, Commands: []rota.Command{c}})
	if err != nil || results[0].Err != nil {
		w.Fatalf("%s: %v %v", c.Verb(), err, results)
	}
	return results[0].Reply.(R)
}

// refused applies a command that must be refused.
func (w *world) refused(code rota.Code, c rota.Command) {
	w.Helper()
	results, _ := w.m.Apply(context.Background(), rota.Batch{Now: w.now, Commands: []rota.Command{c}})
	if err := results[0].Err; err == nil || err.Code != code {
		w.Fatalf("%s: %v, want %s", c.Verb(), err, code)
	}
}

func (w *world) claim(limit int) *rota.Claimed {
	w.Helper()
	return do[*rota.Claimed](w, &rota.Claim{Meta: meta(), Worker: "w", Types: []string{"mail"}, Limit: limit, Lease: time.Minute, Seed: rota.NewToken()})
}

func (w *world) finish(j *rota.Job, outcome rota.Outcome) {
	w.Helper()
	item := rota.FinishItem{LeaseRef: j.Lease(), Outcome: outcome, Permanent: true}
	if a := do[*rota.Finished](w, &rota.Finish{Meta: meta(), Items: []rota.FinishItem{item}}).Items[0]; a.Code != "" {
		w.Fatalf("finish: %s", a.Code)
	}
}

func (w *world) look(id rota.ID) *rota.Job {
	w.Helper()
	j, err := w.m.Job(context.Background(), id)
	if err != nil {
		w.Fatal(err)
	}
	return j
}

func (w *world) wantState(id rota.ID, state rota.State) {
	w.Helper()
	if got := w.look(id).State(); got != state {
		w.Errorf("the job is %s, want %s", got, state)
	}
}

func (w *world) limit(spec rota.ThrottleSpec) {
	w.Helper()
	do[*rota.ThrottlePut](w, &rota.PutThrottle{Meta: meta(), Spec: spec})
}

// declare declares a template and a schedule of one name that fires every
// minute, or at a time.
func (w *world) declare(name string, spec rota.ScheduleSpec) {
	w.Helper()
	do[*rota.TemplatePut](w, &rota.PutTemplate{Meta: meta(), Name: name, Spec: rota.TemplateSpec{Type: "mail"}})
	spec.Template = name
	if spec.At.IsZero() {
		spec.Every = time.Minute
	}
	c, err := rota.Declare(meta(), name, spec, w.now)
	if err != nil {
		w.Fatal(err)
	}
	do[*rota.SchedulePut](w, c)
}

func (w *world) schedule(name string) *rota.Schedule {
	w.Helper()
	d, err := w.m.Schedule(context.Background(), name)
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// fire fires what a schedule owes.
func (w *world) fire(name string) *rota.Fired {
	w.Helper()
	c, err := rota.PlanFire(meta(), w.schedule(name), w.now)
	if err != nil || c == nil {
		w.Fatalf("nothing to fire: %v", err)
	}
	return do[*rota.Fired](w, c)
}

func (w *world) group(c *rota.EnqueueGroup) *rota.GroupEnqueued {
	w.Helper()
	c.Meta = meta()
	return do[*rota.GroupEnqueued](w, c)
}

func jobs(n int) []rota.NewJob {
	list := make([]rota.NewJob, n)
	for i := range list {
		list[i].Type = "mail"
	}
	return list
}
