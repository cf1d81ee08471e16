package rota

import (
	"context"
	"time"
)

// Reader is the read side of a store. A Store reads its current state; a View reads one
// snapshot.
type Reader interface {
	// Job returns a job with its run, or NotFound. It omits the token of the run,
	// which only the claim returns.
	Job(ctx context.Context, id ID) (*Job, error)

	// Jobs lists jobs by id, by default the newest first. It lists jobs of
	// internal types only if the query names the type. A wrong query is Invalid.
	Jobs(ctx context.Context, q JobQuery) ([]*Job, error)

	// FindJobs lists jobs as Jobs does, but examines a bounded number of rows. A page
	// with More continues at Next, even if it has fewer jobs than the limit.
	FindJobs(ctx context.Context, q JobQuery) (JobPage, error)

	// CountJobs counts the jobs that Jobs lists over all pages. It respects Before
	// and After and ignores Limit.
	CountJobs(ctx context.Context, q JobQuery) (int64, error)

	// Queue lists ready jobs in dispatch order, after the job with the given id,
	// or from the first if the id is zero. NotFound means that the job has left
	// the queue. Jobs of internal types are omitted.
	Queue(ctx context.Context, after ID, limit int) ([]*Job, error)

	// Execution lists the attempts of one execution, first to last, or NotFound.
	// The id may be that of any attempt.
	Execution(ctx context.Context, id ID) ([]*Job, error)

	// LastAttempt returns the last attempt of an execution with its run, or NotFound.
	// The id may be that of any attempt.
	LastAttempt(ctx context.Context, id ID) (*Job, error)

	// Type, Template, Schedule and Group return one by name or id, or NotFound.
	// Types, Templates and Schedules list by name; Groups lists by id, newest
	// first. Types omits internal types.
	Type(ctx context.Context, name string) (*Type, error)
	Types(ctx context.Context, q NameQuery) ([]*Type, error)
	Template(ctx context.Context, name string) (*Template, error)
	Templates(ctx context.Context, q NameQuery) ([]*Template, error)
	Schedule(ctx context.Context, name string) (*Schedule, error)
	Schedules(ctx context.Context, q ScheduleQuery) ([]*Schedule, error)
	Group(ctx context.Context, id ID) (*Group, error)
	Groups(ctx context.Context, before ID, limit int) ([]*Group, error)

	// Definition returns the name of the definition with this DefinitionID, or
	// NotFound. It also knows the names of deleted schedules.
	Definition(ctx context.Context, id ID) (string, error)

	// Stats counts live rows.
	Stats(ctx context.Context) (*Stats, error)

	// Throttle returns the limits in force.
	Throttle(ctx context.Context) (*Throttle, error)

	// Webhooks returns the global webhooks. For each event and each webhook that
	// subscribes to it, global or of the template, Apply creates a job of
	// TypeWebhook in the command that causes the event.
	Webhooks(ctx context.Context) (*Webhooks, error)

	// Principal returns a user or a role, or NotFound; AdminUser has no row.
	// Principals lists both by name.
	Principal(ctx context.Context, name string) (*Principal, error)
	Principals(ctx context.Context, q NameQuery) ([]*Principal, error)

	// AccessToken returns a token, also one that is expired or revoked, or NotFound.
	// AccessTokens lists tokens by id.
	AccessToken(ctx context.Context, id string) (*AccessToken, error)
	AccessTokens(ctx context.Context, q TokenQuery) ([]*AccessToken, error)

	// AccessState returns the version of all principals and tokens, which is zero
	// if none was ever put.
	AccessState(ctx context.Context) (AccessState, error)

	// Secret returns a secret with its ciphertext, or NotFound. Secrets lists secrets
	// by template and key. SecretState returns which keys open them.
	Secret(ctx context.Context, name SecretName) (*Secret, error)
	Secrets(ctx context.Context, q SecretQuery) ([]*Secret, error)
	SecretState(ctx context.Context) (SecretState, error)

	// Reservations lists reservations by id, newest first.
	Reservations(ctx context.Context, before ID, limit int) ([]*Reservation, error)

	// Explain returns why a job does not run, the most important reason first, or
	// NotFound. The id of an earlier attempt selects the last attempt of its
	// execution. There is at least one reason.
	Explain(ctx context.Context, id ID) ([]Reason, error)

	// Audit lists what happened, newest first: the stored entries, and the entries that
	// follow from the jobs that are kept. It examines a bounded number of rows; a page
	// with More continues at Next, even if it has fewer entries than the limit.
	Audit(ctx context.Context, q AuditQuery) (AuditPage, error)
}

// View is a consistent snapshot of a store. One goroutine may use it at a time. Close it
// soon: the store keeps old row versions for it.
type View interface {
	Reader

	// Now returns the time of the snapshot by the clock of the store's authority.
	// Reads of the view use it as the current time.
	Now() time.Time

	// Close releases the snapshot. Later reads are Unavailable. Closing the store
	// closes its views.
	Close() error
}
