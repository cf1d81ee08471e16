package rota

import (
	"encoding/json"
	"fmt"
	"time"
)

// template returns the template that the options of Schedule describe.
func (r *request) template(typ string, params json.RawMessage) TemplateSpec {
	spec := TemplateSpec{Type: typ, Params: params, Priority: r.job.Priority, Policy: r.job.Patch()}
	if r.job.ConcurrencyKey != nil {
		spec.ConcurrencyKey = *r.job.ConcurrencyKey
	}
	return spec
}

// Cron makes a schedule fire at the times of a cron expression in a time zone, such as
// Europe/Berlin. An empty zone means UTC.
func Cron(expression, zone string) Option {
	var empty *Error
	if expression == "" {
		empty = Invalidf("cron", `is empty; write it like "0 7 * * *"`)
	}
	return option{name: "Cron", field: "cron", fits: forSchedule, check: empty, give: func(r *request) {
		r.spec.Cron, r.spec.Zone = expression, zone
	}}
}

// Every makes a schedule fire at an interval, counted from its first declaration, or
// from Starts.
func Every(d time.Duration) Option {
	var empty *Error
	if d == 0 {
		empty = Invalidf("every", "is 0; give a longer interval")
	}
	return option{name: "Every", field: "every", fits: forSchedule, check: empty, give: func(r *request) { r.spec.Every = d }}
}

// Starts sets the earliest fire time of a schedule.
func Starts(t time.Time) Option {
	return option{name: "Starts", field: "starts_at", fits: forSchedule, check: checkGiven("starts_at", t), give: func(r *request) {
		r.spec.StartsAt = t
	}}
}

// Ends sets the latest fire time of a schedule.
func Ends(t time.Time) Option {
	return option{name: "Ends", field: "ends_at", fits: forSchedule, check: checkGiven("ends_at", t), give: func(r *request) {
		r.spec.EndsAt = t
	}}
}

// Scopes makes a schedule fire one execution per scope. It may be given once for each
// kind.
func Scopes(kind string, ids ...string) Option {
	var none *Error
	if len(ids) == 0 {
		none = Invalidf("scopes", "has no %s; omit the option Scopes for a schedule without scopes", quote(kind))
	}
	return option{name: fmt.Sprintf("Scopes(%q)", kind), field: "scopes", fits: forSchedule, check: none, give: func(r *request) {
		for _, id := range ids {
			r.spec.Scopes = append(r.spec.Scopes, Scope{kind, id})
		}
	}}
}

// DependsOn makes the executions of a schedule wait for those of other schedules.
func DependsOn(schedules ...string) Option {
	return option{name: "DependsOn", field: "depends_on", fits: forSchedule, give: func(r *request) { r.spec.DependsOn = schedules }}
}

// set makes a CatchUp an option of Schedule.
func (c CatchUp) set(r *request) {
	option{name: "CatchUp", field: "catch_up", fits: forSchedule, give: func(r *request) { r.spec.CatchUp = c }}.set(r)
}

// set makes an Overlap an option of Schedule.
func (o Overlap) set(r *request) {
	option{name: "Overlap", field: "overlap", fits: forSchedule, give: func(r *request) { r.spec.Overlap = o }}.set(r)
}

// set makes an OnCompletion an option of Schedule.
func (o OnCompletion) set(r *request) {
	option{name: "OnCompletion", field: "on_completion", fits: forSchedule, give: func(r *request) { r.spec.OnCompletion = o }}.set(r)
}
