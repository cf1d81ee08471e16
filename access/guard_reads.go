package access

import (
	"context"
	"iter"
	"time"

	"github.com/rotajobs/rota"
)

// reader returns what the identity may read now. An administrator reads the store itself, except for credentials.
func (g *Guard) reader(ctx context.Context) (*reader, error) {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil {
		return nil, err
	}
	return &reader{authority: a, from: g.store, objects: newObjects(g.store)}, nil
}

// recentFor is how long the Guard relies on a definition that it has read: long enough for the request that has read it.
const recentFor = 100 * time.Millisecond

// recentObject is the definition that was read last, and when by the monotonic clock.
type recentObject struct {
	*object
	at time.Duration
}

// remember keeps a definition for the command that most likely follows: a request reads the template of a job to check its
// params, and then creates the job.
func (g *Guard) remember(o *object) { g.recent.Store(&recentObject{o, time.Since(started)}) }

// recalled returns the definition that was read last, or nil if that was too long ago.
func (g *Guard) recalled() *object {
	if r := g.recent.Load(); r != nil && time.Since(started)-r.at < recentFor {
		return r.object
	}
	return nil
}

// read calls a method of the reader.
func read[T any](ctx context.Context, g *Guard, method func(*reader) (T, error)) (none T, err error) {
	r, err := g.reader(ctx)
	if err != nil {
		return none, err
	}
	result, err := method(r)
	if e, is := err.(*rota.Error); is && e.Code == rota.Denied {
		g.directory.recorder.denied(g.id.User, e)
	}
	return result, err
}

func (g *Guard) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	return read(ctx, g, func(r *reader) (*rota.Job, error) { return r.Job(ctx, id) })
}

func (g *Guard) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Job, error) { return r.Jobs(ctx, q) })
}

func (g *Guard) FindJobs(ctx context.Context, q rota.JobQuery) (rota.JobPage, error) {
	return read(ctx, g, func(r *reader) (rota.JobPage, error) { return r.FindJobs(ctx, q) })
}

func (g *Guard) CountJobs(ctx context.Context, q rota.JobQuery) (int64, error) {
	return read(ctx, g, func(r *reader) (int64, error) { return r.CountJobs(ctx, q) })
}

func (g *Guard) Queue(ctx context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Job, error) { return r.Queue(ctx, after, limit) })
}

func (g *Guard) Execution(ctx context.Context, id rota.ID) ([]*rota.Job, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Job, error) { return r.Execution(ctx, id) })
}

func (g *Guard) LastAttempt(ctx context.Context, id rota.ID) (*rota.Job, error) {
	return read(ctx, g, func(r *reader) (*rota.Job, error) { return r.LastAttempt(ctx, id) })
}

func (g *Guard) Type(ctx context.Context, name string) (*rota.Type, error) {
	return read(ctx, g, func(r *reader) (*rota.Type, error) { return r.Type(ctx, name) })
}

func (g *Guard) Types(ctx context.Context, q rota.NameQuery) ([]*rota.Type, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Type, error) { return r.Types(ctx, q) })
}

func (g *Guard) Template(ctx context.Context, name string) (*rota.Template, error) {
	return read(ctx, g, func(r *reader) (*rota.Template, error) {
		t, err := r.visibleTemplate(ctx, name)
		if err != nil {
			return nil, err
		}
		g.remember(templateObject(t)) // with what is not shown
		return r.shownTemplate(t), nil
	})
}

func (g *Guard) Templates(ctx context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Template, error) { return r.Templates(ctx, q) })
}

func (g *Guard) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	s, err := read(ctx, g, func(r *reader) (*rota.Schedule, error) { return r.Schedule(ctx, name) })
	if err == nil {
		g.remember(scheduleObject(s))
	}
	return s, err
}

func (g *Guard) Schedules(ctx context.Context, q rota.ScheduleQuery) ([]*rota.Schedule, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Schedule, error) { return r.Schedules(ctx, q) })
}

func (g *Guard) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	return read(ctx, g, func(r *reader) (*rota.Group, error) { return r.Group(ctx, id) })
}

func (g *Guard) Groups(ctx context.Context, before rota.ID, limit int) ([]*rota.Group, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Group, error) { return r.Groups(ctx, before, limit) })
}

func (g *Guard) Definition(ctx context.Context, id rota.ID) (string, error) {
	return read(ctx, g, func(r *reader) (string, error) { return r.Definition(ctx, id) })
}

func (g *Guard) Stats(ctx context.Context) (*rota.Stats, error) {
	return read(ctx, g, func(r *reader) (*rota.Stats, error) { return r.Stats(ctx) })
}

func (g *Guard) Throttle(ctx context.Context) (*rota.Throttle, error) {
	return read(ctx, g, func(r *reader) (*rota.Throttle, error) { return r.Throttle(ctx) })
}

func (g *Guard) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	return read(ctx, g, func(r *reader) (*rota.Webhooks, error) { return r.Webhooks(ctx) })
}

func (g *Guard) Reservations(ctx context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Reservation, error) { return r.Reservations(ctx, before, limit) })
}

func (g *Guard) Explain(ctx context.Context, id rota.ID) ([]rota.Reason, error) {
	return read(ctx, g, func(r *reader) ([]rota.Reason, error) { return r.Explain(ctx, id) })
}

func (g *Guard) Audit(ctx context.Context, q rota.AuditQuery) (rota.AuditPage, error) {
	return read(ctx, g, func(r *reader) (rota.AuditPage, error) { return r.Audit(ctx, q) })
}

func (g *Guard) Principal(ctx context.Context, name string) (*rota.Principal, error) {
	return read(ctx, g, func(r *reader) (*rota.Principal, error) { return r.Principal(ctx, name) })
}

func (g *Guard) Principals(ctx context.Context, q rota.NameQuery) ([]*rota.Principal, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Principal, error) { return r.Principals(ctx, q) })
}

func (g *Guard) AccessToken(ctx context.Context, id string) (*rota.AccessToken, error) {
	return read(ctx, g, func(r *reader) (*rota.AccessToken, error) { return r.AccessToken(ctx, id) })
}

func (g *Guard) AccessTokens(ctx context.Context, q rota.TokenQuery) ([]*rota.AccessToken, error) {
	return read(ctx, g, func(r *reader) ([]*rota.AccessToken, error) { return r.AccessTokens(ctx, q) })
}

func (g *Guard) AccessState(ctx context.Context) (rota.AccessState, error) {
	return read(ctx, g, func(r *reader) (rota.AccessState, error) { return r.AccessState(ctx) })
}

// View returns a snapshot that is filtered by the rights at this moment.
func (g *Guard) View(ctx context.Context) (rota.View, error) {
	r, err := g.reader(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.allow("View"); err != nil {
		return nil, err
	}
	view, err := g.store.View(ctx)
	if err != nil {
		return nil, err
	}
	return &guardedView{&reader{authority: r.authority, from: view, objects: newObjects(view)}, view}, nil
}

// guardedView is a view of which the identity sees a part.
type guardedView struct {
	*reader
	view rota.View
}

func (v *guardedView) Now() time.Time { return v.view.Now() }
func (v *guardedView) Close() error   { return v.view.Close() }

// NextDue returns the time of the store, and nothing about jobs.
func (g *Guard) NextDue(ctx context.Context) (rota.Due, error) {
	return read(ctx, g, func(r *reader) (rota.Due, error) {
		due, err := g.store.NextDue(ctx)
		if !r.seesEverything() {
			due = rota.Due{Now: due.Now}
		}
		return due, err
	})
}

// DueSchedules is refused: engines, which fire schedules, use the store itself.
func (g *Guard) DueSchedules(context.Context, int) (rota.DuePage, error) {
	return rota.DuePage{}, errInternal("due_schedules")
}

// Prunable is refused: engines use the store itself.
func (g *Guard) Prunable(context.Context, rota.PruneQuery) (rota.PrunePage, error) {
	return rota.PrunePage{}, errInternal("prunable")
}

func errInternal(act string) *rota.Error {
	return &rota.Error{Code: rota.Denied, Act: act, Reason: "only Rota itself reads this"}
}

// Verify needs ADMIN.
func (g *Guard) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	if err := g.Require(ctx, ReadOperation, rota.Admin); err != nil {
		return func(yield func(rota.Violation, error) bool) { yield(rota.Violation{}, err) }
	}
	return g.store.Verify(ctx)
}

// Limits returns the limits of the store.
func (g *Guard) Limits() rota.Limits { return g.store.Limits() }

// Wake returns the wake-ups of the store, which say nothing about jobs.
func (g *Guard) Wake() (<-chan struct{}, func()) { return g.store.Wake() }

// Watch delivers nothing: an event is filtered by rows, which a watcher must not read. Use SeesEvent on the events of a
// ring.
func (g *Guard) Watch(func([]rota.Event)) (stop func()) { return func() {} }

// Close does nothing: the Guard does not own the store.
func (g *Guard) Close() error { return nil }

// Secret returns a secret of a visible template, without its ciphertext.
func (g *Guard) Secret(ctx context.Context, name rota.SecretName) (*rota.Secret, error) {
	return read(ctx, g, func(r *reader) (*rota.Secret, error) { return r.Secret(ctx, name) })
}

// Secrets lists the secrets of visible templates, without their ciphertexts.
func (g *Guard) Secrets(ctx context.Context, q rota.SecretQuery) ([]*rota.Secret, error) {
	return read(ctx, g, func(r *reader) ([]*rota.Secret, error) { return r.Secrets(ctx, q) })
}

// SecretState returns which keys open the secrets.
func (g *Guard) SecretState(ctx context.Context) (rota.SecretState, error) {
	return read(ctx, g, func(r *reader) (rota.SecretState, error) { return r.SecretState(ctx) })
}
