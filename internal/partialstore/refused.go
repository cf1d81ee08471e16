// Package partialstore helps to implement a part of rota.Store, for a store that is a server on another machine.
package partialstore

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
)

// Refused refuses every read of a rota.Store. A store that supports some reads embeds it and implements these.
type Refused struct {
	// Refuse returns the error of a call.
	Refuse func(act string) *rota.Error
}

// Job is refused.
func (r Refused) Job(context.Context, rota.ID) (*rota.Job, error) {
	return nil, r.Refuse("job")
}

// Jobs is refused.
func (r Refused) Jobs(context.Context, rota.JobQuery) ([]*rota.Job, error) {
	return nil, r.Refuse("jobs")
}

// LastAttempt is refused.
func (r Refused) LastAttempt(context.Context, rota.ID) (*rota.Job, error) {
	return nil, r.Refuse("last attempt")
}

// FindJobs is refused.
func (r Refused) FindJobs(context.Context, rota.JobQuery) (rota.JobPage, error) {
	return rota.JobPage{}, r.Refuse("find jobs")
}

// CountJobs is refused.
func (r Refused) CountJobs(context.Context, rota.JobQuery) (int64, error) {
	return 0, r.Refuse("count")
}

// View is refused.
func (r Refused) View(context.Context) (rota.View, error) { return nil, r.Refuse("view") }

// Queue is refused.
func (r Refused) Queue(context.Context, rota.ID, int) ([]*rota.Job, error) {
	return nil, r.Refuse("queue")
}

// Execution is refused.
func (r Refused) Execution(context.Context, rota.ID) ([]*rota.Job, error) {
	return nil, r.Refuse("execution")
}

// NextDue is refused.
func (r Refused) NextDue(context.Context) (rota.Due, error) {
	return rota.Due{}, r.Refuse("next due")
}

// Types is refused.
func (r Refused) Types(context.Context, rota.NameQuery) ([]*rota.Type, error) {
	return nil, r.Refuse("types")
}

// Template is refused.
func (r Refused) Template(context.Context, string) (*rota.Template, error) {
	return nil, r.Refuse("template")
}

// Templates is refused.
func (r Refused) Templates(context.Context, rota.NameQuery) ([]*rota.Template, error) {
	return nil, r.Refuse("templates")
}

// Schedule is refused.
func (r Refused) Schedule(context.Context, string) (*rota.Schedule, error) {
	return nil, r.Refuse("schedule")
}

// Schedules is refused.
func (r Refused) Schedules(context.Context, rota.ScheduleQuery) ([]*rota.Schedule, error) {
	return nil, r.Refuse("schedules")
}

// Definition is refused.
func (r Refused) Definition(context.Context, rota.ID) (string, error) {
	return "", r.Refuse("definition")
}

// Group is refused.
func (r Refused) Group(context.Context, rota.ID) (*rota.Group, error) {
	return nil, r.Refuse("group")
}

// Groups is refused.
func (r Refused) Groups(context.Context, rota.ID, int) ([]*rota.Group, error) {
	return nil, r.Refuse("groups")
}

// DueSchedules is refused.
func (r Refused) DueSchedules(context.Context, int) (rota.DuePage, error) {
	return rota.DuePage{}, r.Refuse("due schedules")
}

// Stats is refused.
func (r Refused) Stats(context.Context) (*rota.Stats, error) {
	return nil, r.Refuse("stats")
}

// Webhooks is refused.
func (r Refused) Webhooks(context.Context) (*rota.Webhooks, error) {
	return nil, r.Refuse("webhooks")
}

// Principal is refused.
func (r Refused) Principal(context.Context, string) (*rota.Principal, error) {
	return nil, r.Refuse("principal")
}

// Principals is refused.
func (r Refused) Principals(context.Context, rota.NameQuery) ([]*rota.Principal, error) {
	return nil, r.Refuse("principals")
}

// AccessToken is refused.
func (r Refused) AccessToken(context.Context, string) (*rota.AccessToken, error) {
	return nil, r.Refuse("token")
}

// AccessTokens is refused.
func (r Refused) AccessTokens(context.Context, rota.TokenQuery) ([]*rota.AccessToken, error) {
	return nil, r.Refuse("tokens")
}

// AccessState is refused.
func (r Refused) AccessState(context.Context) (rota.AccessState, error) {
	return rota.AccessState{}, r.Refuse("access state")
}

// Secret is refused.
func (r Refused) Secret(context.Context, rota.SecretName) (*rota.Secret, error) {
	return nil, r.Refuse("secret")
}

// Secrets is refused.
func (r Refused) Secrets(context.Context, rota.SecretQuery) ([]*rota.Secret, error) {
	return nil, r.Refuse("secrets")
}

// SecretState is refused.
func (r Refused) SecretState(context.Context) (rota.SecretState, error) {
	return rota.SecretState{}, r.Refuse("secret state")
}

// Reservations is refused.
func (r Refused) Reservations(context.Context, rota.ID, int) ([]*rota.Reservation, error) {
	return nil, r.Refuse("reservations")
}

// Explain is refused.
func (r Refused) Explain(context.Context, rota.ID) ([]rota.Reason, error) {
	return nil, r.Refuse("explain")
}

// Prunable is refused.
func (r Refused) Prunable(context.Context, rota.PruneQuery) (rota.PrunePage, error) {
	return rota.PrunePage{}, r.Refuse("prunable")
}

// Audit is refused.
func (r Refused) Audit(context.Context, rota.AuditQuery) (rota.AuditPage, error) {
	return rota.AuditPage{}, r.Refuse("audit")
}

// Verify is refused.
func (r Refused) Verify(context.Context) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) { yield(rota.Violation{}, r.Refuse("verify")) }
}

// Type is refused.
func (r Refused) Type(context.Context, string) (*rota.Type, error) { return nil, r.Refuse("type") }

// Throttle is refused.
func (r Refused) Throttle(context.Context) (*rota.Throttle, error) {
	return nil, r.Refuse("limits")
}

// Wake never wakes.
func (Refused) Wake() (<-chan struct{}, func()) { return nil, func() {} }

// Watch delivers no events.
func (Refused) Watch(func([]rota.Event)) (stop func()) { return func() {} }
