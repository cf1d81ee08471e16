package rota

import (
	"context"
	"time"
)

// Reader is what can be read of a store: the store itself, as it stands when it is
// asked, or a View of it.
type Reader interface {
	// Job returns a job with its run, or NotFound. The run's token is left
	// out: it belongs to the claimer alone.
	Job(ctx context.Context, id ID) (*Job, error)

	// Jobs lists jobs by id, newest first unless the query says otherwise. Those
	// of internal types are listed only where the query names their type. A query
	// that is wrong is Invalid.
	Jobs(ctx context.Context, q JobQuery) ([]*Job, error)

	// CountJobs counts what Jobs would list over all pages. Before and After bound
	// it; Limit is not looked at.
	CountJobs(ctx context.Context, q JobQuery) (int64, error)

	// Queue lists QUEUED jobs without holds in dispatch order, after the job
	// with the given id, or from the head if it is zero. NotFound says that
	// the job named has left the queue. Jobs of internal types are left out.
	Queue(ctx context.Context, after ID, limit int) ([]*Job, error)

	// Execution lists the attempts of one execution, first to last. The id
	// may be any attempt's. NotFound if there is none.
	Execution(ctx context.Context, id ID) ([]*Job, error)

	// Type, Template, Schedule and Group return one by its name or id, or
	// NotFound. Types, Templates and Schedules list by name, Groups by id,
	// newest first. Types leaves internal ones out.
	Type(ctx context.Context, name string) (*Type, error)
	Types(ctx context.Context, q NameQuery) ([]*Type, error)
	Template(ctx context.Context, name string) (*Template, error)
	Templates(ctx context.Context, q NameQuery) ([]*Template, error)
	Schedule(ctx context.Context, name string) (*Schedule, error)
	Schedules(ctx context.Context, q ScheduleQuery) ([]*Schedule, error)
	Group(ctx context.Context, id ID) (*Group, error)
	Groups(ctx context.Context, before ID, limit int) ([]*Group, error)

	// Definition returns the name of the definition with this id, which is its
	// DefinitionID, or NotFound. A schedule that is gone keeps its name here.
	Definition(ctx context.Context, id ID) (string, error)

	// Stats counts what lives in the store.
	Stats(ctx context.Context) (*Stats, error)

	// Throttle returns the limits in force.
	Throttle(ctx context.Context) (*Throttle, error)

	// Webhooks returns those that are told of everything. Apply makes a job of
	// TypeWebhook for each event that one of them, or one of a job's template,
	// is told of, as part of the command that brought the event about.
	Webhooks(ctx context.Context) (*Webhooks, error)

	// Reservations lists reservations by id, newest first.
	Reservations(ctx context.Context, before ID, limit int) ([]*Reservation, error)

	// Explain says why a job does not run, most important reason first, or
	// NotFound. An attempt that was retried stands for the last of its
	// execution. There is always a reason.
	Explain(ctx context.Context, id ID) ([]Reason, error)

	// Audit lists the audit after the entry with the given number, in the
	// order in which it was written.
	Audit(ctx context.Context, after int64, limit int) ([]AuditEntry, error)
}

// View is a store as it stood at one moment: what happens after is not seen by its
// reads. It is for one goroutine at a time, and for as long as one question takes
// to answer, since the store keeps for it what others have changed or removed.
type View interface {
	Reader

	// Now is the time by the clock of the store's authority when the view was
	// taken. Reads that tell the time tell this one.
	Now() time.Time

	// Close gives the view back. Its reads are Unavailable from then on, and so
	// they are when the store is closed.
	Close() error
}
