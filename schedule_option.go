package rota

import (
	"encoding/json"
	"fmt"
	"time"
)

// template is what the options of a Schedule say about the jobs that it makes.
func (r *request) template(typ string, params json.RawMessage) TemplateSpec {
	spec := TemplateSpec{Type: typ, Params: params, Priority: r.job.Priority, Policy: r.job.Patch()}
	if r.job.ConcurrencyKey != nil {
		spec.ConcurrencyKey = *r.job.ConcurrencyKey
	}
	return spec
}

// Cron fires a schedule at the times of a cron expression, read in a time zone
// such as Europe/Berlin; an empty zone is UTC.
func Cron(expression, zone string) Option {
	var empty *Error
	if expression == "" {
		empty = Invalidf("cron", `is empty; write it like "0 7 * * *"`)
	}
	return option{name: "Cron", field: "cron", fits: forSchedule, check: empty, give: func(r *request) {
		r.spec.Cron, r.spec.Zone = expression, zone
	}}
}

// Every fires a schedule again and again after an interval, counted from when it
// was first declared, or from Starts.
func Every(d time.Duration) Option {
	var empty *Error
	if d == 0 {
		empty = Invalidf("every", "is 0; an interval is longer")
	}
	return option{name: "Every", field: "every", fits: forSchedule, check: empty, give: func(r *request) { r.spec.Every = d }}
}

// Starts is when a schedule begins to fire.
func Starts(t time.Time) Option {
	return option{name: "Starts", field: "starts_at", fits: forSchedule, check: checkGiven("starts_at", t), give: func(r *request) {
		r.spec.StartsAt = t
	}}
}

// Ends is when a schedule fires no more.
func Ends(t time.Time) Option {
	return option{name: "Ends", field: "ends_at", fits: forSchedule, check: checkGiven("ends_at", t), give: func(r *request) {
		r.spec.EndsAt = t
	}}
}

// Scopes makes a schedule fire one execution for each of these. It may be given
// once for each kind.
func Scopes(kind string, ids ...string) Option {
	var none *Error
	if len(ids) == 0 {
		none = Invalidf("scopes", "has no %s; without any scope a schedule fires once for all, which is what you get by leaving the option Scopes out", quote(kind))
	}
	return option{name: fmt.Sprintf("Scopes(%q)", kind), field: "scopes", fits: forSchedule, check: none, give: func(r *request) {
		for _, id := range ids {
			r.spec.Scopes = append(r.spec.Scopes, Scope{kind, id})
		}
	}}
}

// DependsOn makes the executions of a schedule wait for those of others.
func DependsOn(schedules ...string) Option {
	return option{name: "DependsOn", field: "depends_on", fits: forSchedule, give: func(r *request) { r.spec.DependsOn = schedules }}
}

// A CatchUp is an option of Schedule.
func (c CatchUp) set(r *request) {
	option{name: "CatchUp", field: "catch_up", fits: forSchedule, give: func(r *request) { r.spec.CatchUp = c }}.set(r)
}

// An Overlap is an option of Schedule.
func (o Overlap) set(r *request) {
	option{name: "Overlap", field: "overlap", fits: forSchedule, give: func(r *request) { r.spec.Overlap = o }}.set(r)
}

// An OnCompletion is an option of Schedule.
func (o OnCompletion) set(r *request) {
	option{name: "OnCompletion", field: "on_completion", fits: forSchedule, give: func(r *request) { r.spec.OnCompletion = o }}.set(r)
}
