package worker

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
)

// nowhere is the part of a store that the worker protocol does not reach.
type nowhere struct{}

// beyond refuses what a worker cannot do.
func beyond(act string) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Act: act, Reason: "is more than the worker protocol does", Hint: "use the HTTP API of the server",
	}
}

// Job is not for workers: a claim brings all of a job.
func (nowhere) Job(context.Context, rota.ID) (*rota.Job, error) { return nil, beyond("job") }

// Jobs is not for workers.
func (nowhere) Jobs(context.Context, rota.JobQuery) ([]*rota.Job, error) { return nil, beyond("jobs") }

// CountJobs is not for workers.
func (nowhere) CountJobs(context.Context, rota.JobQuery) (int64, error) { return 0, beyond("count") }

// View is not for workers.
func (nowhere) View(context.Context) (rota.View, error) { return nil, beyond("view") }

// Queue is not for workers.
func (nowhere) Queue(context.Context, rota.ID, int) ([]*rota.Job, error) {
	return nil, beyond("queue")
}

// Execution is not for workers.
func (nowhere) Execution(context.Context, rota.ID) ([]*rota.Job, error) {
	return nil, beyond("execution")
}

// NextDue is not for workers: the server sees to what is due.
func (nowhere) NextDue(context.Context) (rota.Due, error) { return rota.Due{}, beyond("next due") }

// Types is not for workers, which ask for those that they handle.
func (nowhere) Types(context.Context, rota.NameQuery) ([]*rota.Type, error) {
	return nil, beyond("types")
}

// Template is not for workers.
func (nowhere) Template(context.Context, string) (*rota.Template, error) {
	return nil, beyond("template")
}

// Templates is not for workers.
func (nowhere) Templates(context.Context, rota.NameQuery) ([]*rota.Template, error) {
	return nil, beyond("templates")
}

// Schedule is not for workers.
func (nowhere) Schedule(context.Context, string) (*rota.Schedule, error) {
	return nil, beyond("schedule")
}

// Schedules is not for workers.
func (nowhere) Schedules(context.Context, rota.ScheduleQuery) ([]*rota.Schedule, error) {
	return nil, beyond("schedules")
}

// Definition is not for workers.
func (nowhere) Definition(context.Context, rota.ID) (string, error) { return "", beyond("definition") }

// Group is not for workers.
func (nowhere) Group(context.Context, rota.ID) (*rota.Group, error) { return nil, beyond("group") }

// Groups is not for workers.
func (nowhere) Groups(context.Context, rota.ID, int) ([]*rota.Group, error) {
	return nil, beyond("groups")
}

// DueSchedules is not for workers: the server fires.
func (nowhere) DueSchedules(context.Context, int) (rota.DuePage, error) {
	return rota.DuePage{}, beyond("due schedules")
}

// Stats is not for workers.
func (nowhere) Stats(context.Context) (*rota.Stats, error) { return nil, beyond("stats") }

// Webhooks is not for workers: the server delivers.
func (nowhere) Webhooks(context.Context) (*rota.Webhooks, error) { return nil, beyond("webhooks") }

// Reservations is not for workers.
func (nowhere) Reservations(context.Context, rota.ID, int) ([]*rota.Reservation, error) {
	return nil, beyond("reservations")
}

// Explain is not for workers.
func (nowhere) Explain(context.Context, rota.ID) ([]rota.Reason, error) {
	return nil, beyond("explain")
}

// Prunable is not for workers: the server prunes.
func (nowhere) Prunable(context.Context, rota.PruneQuery) (rota.PrunePage, error) {
	return rota.PrunePage{}, beyond("prunable")
}

// Audit is not for workers.
func (nowhere) Audit(context.Context, int64, int) ([]rota.AuditEntry, error) {
	return nil, beyond("audit")
}

// Verify is not for workers.
func (nowhere) Verify(context.Context) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) { yield(rota.Violation{}, beyond("verify")) }
}
