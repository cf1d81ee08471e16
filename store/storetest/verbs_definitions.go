package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

// Helpers for types, templates, schedules, groups, limits and reservations.

func (y *story) typeCommand(name string, spec rota.TypeSpec) *rota.PutType {
	return &rota.PutType{Meta: y.ids.meta(), Name: name, Spec: spec}
}

func (y *story) declareType(name string, spec rota.TypeSpec) *rota.Type {
	y.Helper()
	return do[*rota.TypePut](y, y.typeCommand(name, spec)).Type
}

func (y *story) pause(name string, paused bool) *rota.TypePut {
	y.Helper()
	return do[*rota.TypePut](y, &rota.SwitchType{Meta: y.ids.meta(), Name: name, Paused: paused})
}

// templateCommand declares a template. The default type is mail.
func (y *story) templateCommand(name string, spec rota.TemplateSpec) *rota.PutTemplate {
	if spec.Type == "" {
		spec.Type = "mail"
	}
	return &rota.PutTemplate{Meta: y.ids.meta(), Name: name, Spec: spec}
}

func (y *story) declareTemplate(name string, spec rota.TemplateSpec) *rota.Template {
	y.Helper()
	return do[*rota.TemplatePut](y, y.templateCommand(name, spec)).Template
}

func (y *story) archive(name string) *rota.TemplatePut {
	y.Helper()
	return do[*rota.TemplatePut](y, &rota.Archive{Meta: y.ids.meta(), Name: name})
}

func (y *story) unarchive(name string) *rota.TemplatePut {
	y.Helper()
	return do[*rota.TemplatePut](y, &rota.Unarchive{Meta: y.ids.meta(), Name: name})
}

// declareCommand returns the command that Declare makes now. By default the schedule is hourly
// and uses the template report.
func (y *story) declareCommand(name string, spec rota.ScheduleSpec) *rota.PutSchedule {
	y.Helper()
	if spec.Template == "" {
		spec.Template = "report"
	}
	if spec.Cron == "" && spec.At.IsZero() && spec.Every == 0 {
		spec.Every = time.Hour
	}
	c, err := rota.Declare(y.ids.meta(), name, spec, y.now)
	if err != nil {
		y.Fatalf("declare %s: %v", name, err)
	}
	return c
}

// declare declares a schedule, and before it its template if that does not exist.
func (y *story) declare(name string, spec rota.ScheduleSpec) *rota.Schedule {
	y.Helper()
	c := y.declareCommand(name, spec)
	if _, err := y.s.Template(y.ctx, c.Spec.Template); rota.CodeOf(err) == rota.NotFound {
		y.declareTemplate(c.Spec.Template, rota.TemplateSpec{})
	}
	return do[*rota.SchedulePut](y, c).Schedule
}

func (y *story) switchCommand(name string, state rota.ScheduleState, next time.Time) *rota.SwitchSchedule {
	return &rota.SwitchSchedule{Meta: y.ids.meta(), Name: name, State: state, Next: next}
}

// switchTo sets the state of a schedule. When enabled, its next fire is the next time after
// now.
func (y *story) switchTo(name string, state rota.ScheduleState) *rota.SchedulePut {
	y.Helper()
	var next time.Time
	if state == rota.ScheduleEnabled {
		var err error
		if next, err = y.schedule(name).NextAfter(y.now); err != nil {
			y.Fatal(err)
		}
	}
	return do[*rota.SchedulePut](y, y.switchCommand(name, state, next))
}

func (y *story) deleteSchedule(name string) *rota.ScheduleDeleted {
	y.Helper()
	return do[*rota.ScheduleDeleted](y, &rota.DeleteSchedule{Meta: y.ids.meta(), Name: name})
}

// fireCommand returns the command that PlanFire makes now. The schedule must be due.
func (y *story) fireCommand(name string) *rota.Fire {
	y.Helper()
	c, err := rota.PlanFire(y.ids.meta(), y.schedule(name), y.now, time.Time{})
	if err != nil || c == nil {
		y.Fatalf("schedule %s is not due at %s: %v", name, y.now, err)
	}
	return c
}

// fire fires what is due of a schedule.
func (y *story) fire(name string) []*rota.Job {
	y.Helper()
	fired := do[*rota.Fired](y, y.fireCommand(name))
	if fired.ScheduleChanged || fired.Disabled != "" {
		y.Fatalf("schedule %s did not fire: moved %v, disabled %q", name, fired.ScheduleChanged, fired.Disabled)
	}
	return fired.Jobs
}

// fireNext advances to the next fire of a schedule without scopes and fires it.
func (y *story) fireNext(name string) *rota.Job {
	y.Helper()
	y.advanceTo(y.schedule(name).NextFire)
	jobs := y.fire(name)
	if len(jobs) != 1 {
		y.Fatalf("schedule %s fired %d jobs, want 1", name, len(jobs))
	}
	return jobs[0]
}

// advanceTo moves the time of the story forward to a time.
func (y *story) advanceTo(until time.Time) {
	if until.After(y.now) {
		y.now = until
	}
}

func (y *story) trigger(name string) *rota.Job {
	y.Helper()
	jobs := do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: name}).Jobs
	if len(jobs) != 1 {
		y.Fatalf("schedule %s triggered %d jobs, want 1", name, len(jobs))
	}
	return jobs[0]
}

func (y *story) backfillCommand(name string, from, to time.Time) *rota.Backfill {
	y.Helper()
	c, err := rota.PlanBackfill(y.ids.meta(), y.schedule(name), from, to, y.now)
	if err != nil {
		y.Fatalf("backfill %s: %v", name, err)
	}
	return c
}

func (y *story) backfill(name string, from, to time.Time) *rota.Backfilled {
	y.Helper()
	return do[*rota.Backfilled](y, y.backfillCommand(name, from, to))
}

func (y *story) groupCommand(mode rota.GroupMode, on rota.OnFailure, members ...rota.NewJob) *rota.EnqueueGroup {
	c := &rota.EnqueueGroup{Meta: y.ids.meta(), Name: "batch", Mode: mode, OnFailure: on, Jobs: members}
	for i := range members {
		if members[i].Type == "" && members[i].Template == "" {
			members[i].Type = "mail"
		}
	}
	return c
}

func (y *story) enqueueGroup(mode rota.GroupMode, on rota.OnFailure, members ...rota.NewJob) *rota.GroupEnqueued {
	y.Helper()
	return do[*rota.GroupEnqueued](y, y.groupCommand(mode, on, members...))
}

func (y *story) cancelGroup(id rota.ID) *rota.CancelledGroup {
	y.Helper()
	return do[*rota.CancelledGroup](y, &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id, Reason: "not needed"})
}

// throttle puts limits.
func (y *story) throttle(spec rota.ThrottleSpec) *rota.Throttle {
	y.Helper()
	return do[*rota.ThrottlePut](y, &rota.PutThrottle{Meta: y.ids.meta(), Spec: spec}).Throttle
}

func keyLimit(key string, limit int) rota.ThrottleSpec {
	return rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: key, Concurrency: limit}}}
}

func (y *story) reserveCommand() *rota.Reserve {
	return &rota.Reserve{Meta: y.ids.meta(), Node: "w1", Incarnation: incarnationOne}
}

func (y *story) reserve() *rota.Reservation {
	y.Helper()
	return do[*rota.Reserved](y, y.reserveCommand()).Reservation
}

func (y *story) directCommand(r *rota.Reservation, n rota.NewJob) *rota.Direct {
	if n.Type == "" && n.Template == "" {
		n.Type = "mail"
	}
	return &rota.Direct{Meta: y.ids.meta(), ReservationID: r.ID, Job: n, Lease: lease, Seed: y.ids.seed()}
}

func (y *story) direct(r *rota.Reservation, n rota.NewJob) *rota.Job {
	y.Helper()
	return do[*rota.Directed](y, y.directCommand(r, n)).Job
}

func (y *story) release(r *rota.Reservation) *rota.Reservation {
	y.Helper()
	return do[*rota.Released](y, &rota.Release{Meta: y.ids.meta(), ReservationID: r.ID}).Reservation
}

func (y *story) expire() *rota.Expired {
	y.Helper()
	return do[*rota.Expired](y, &rota.Expire{Meta: y.ids.meta()})
}

func (y *story) sweep(limit int) *rota.Swept {
	y.Helper()
	return do[*rota.Swept](y, &rota.Sweep{Meta: y.ids.meta(), Limit: limit})
}

func (y *story) prune(executions ...rota.ID) *rota.Pruned {
	y.Helper()
	return do[*rota.Pruned](y, &rota.Prune{Meta: y.ids.meta(), Executions: executions})
}

func (y *story) redrive(id rota.ID) *rota.Job {
	y.Helper()
	return do[*rota.Redriven](y, &rota.Redrive{Meta: y.ids.meta(), JobID: id}).Job
}
