package worker

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
)

// unsupportedStore has the methods of a store that the worker protocol does not support.
type unsupportedStore struct{}

// errUnsupported refuses a call that the worker protocol does not support.
func errUnsupported(act string) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Act: act, Reason: "is not part of the worker protocol", Hint: "use the HTTP API of the server",
	}
}

// Job is not supported: a claim has the whole job.
func (unsupportedStore) Job(context.Context, rota.ID) (*rota.Job, error) {
	return nil, errUnsupported("job")
}

// Jobs is not supported.
func (unsupportedStore) Jobs(context.Context, rota.JobQuery) ([]*rota.Job, error) {
	return nil, errUnsupported("jobs")
}

// CountJobs is not supported.
func (unsupportedStore) CountJobs(context.Context, rota.JobQuery) (int64, error) {
	return 0, errUnsupported("count")
}

// View is not supported.
func (unsupportedStore) View(context.Context) (rota.View, error) { return nil, errUnsupported("view") }

// Queue is not supported.
func (unsupportedStore) Queue(context.Context, rota.ID, int) ([]*rota.Job, error) {
	return nil, errUnsupported("queue")
}

// Execution is not supported.
func (unsupportedStore) Execution(context.Context, rota.ID) ([]*rota.Job, error) {
	return nil, errUnsupported("execution")
}

// NextDue is not supported: the server handles what is due.
func (unsupportedStore) NextDue(context.Context) (rota.Due, error) {
	return rota.Due{}, errUnsupported("next due")
}

// Types is not supported: a worker reads only the types that it handles.
func (unsupportedStore) Types(context.Context, rota.NameQuery) ([]*rota.Type, error) {
	return nil, errUnsupported("types")
}

// Template is not supported.
func (unsupportedStore) Template(context.Context, string) (*rota.Template, error) {
	return nil, errUnsupported("template")
}

// Templates is not supported.
func (unsupportedStore) Templates(context.Context, rota.NameQuery) ([]*rota.Template, error) {
	return nil, errUnsupported("templates")
}

// Schedule is not supported.
func (unsupportedStore) Schedule(context.Context, string) (*rota.Schedule, error) {
	return nil, errUnsupported("schedule")
}

// Schedules is not supported.
func (unsupportedStore) Schedules(context.Context, rota.ScheduleQuery) ([]*rota.Schedule, error) {
	return nil, errUnsupported("schedules")
}

// Definition is not supported.
func (unsupportedStore) Definition(context.Context, rota.ID) (string, error) {
	return "", errUnsupported("definition")
}

// Group is not supported.
func (unsupportedStore) Group(context.Context, rota.ID) (*rota.Group, error) {
	return nil, errUnsupported("group")
}

// Groups is not supported.
func (unsupportedStore) Groups(context.Context, rota.ID, int) ([]*rota.Group, error) {
	return nil, errUnsupported("groups")
}

// DueSchedules is not supported: the server fires.
func (unsupportedStore) DueSchedules(context.Context, int) (rota.DuePage, error) {
	return rota.DuePage{}, errUnsupported("due schedules")
}

// Stats is not supported.
func (unsupportedStore) Stats(context.Context) (*rota.Stats, error) {
	return nil, errUnsupported("stats")
}

// Webhooks is not supported: the server delivers.
func (unsupportedStore) Webhooks(context.Context) (*rota.Webhooks, error) {
	return nil, errUnsupported("webhooks")
}

// Reservations is not supported.
func (unsupportedStore) Reservations(context.Context, rota.ID, int) ([]*rota.Reservation, error) {
	return nil, errUnsupported("reservations")
}

// Explain is not supported.
func (unsupportedStore) Explain(context.Context, rota.ID) ([]rota.Reason, error) {
	return nil, errUnsupported("explain")
}

// Prunable is not supported: the server prunes.
func (unsupportedStore) Prunable(context.Context, rota.PruneQuery) (rota.PrunePage, error) {
	return rota.PrunePage{}, errUnsupported("prunable")
}

// Audit is not supported.
func (unsupportedStore) Audit(context.Context, rota.AuditQuery) (rota.AuditPage, error) {
	return rota.AuditPage{}, errUnsupported("audit")
}

// Verify is not supported.
func (unsupportedStore) Verify(context.Context) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) { yield(rota.Violation{}, errUnsupported("verify")) }
}
