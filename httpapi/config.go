package httpapi

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/sql/session"
)

// Config of the HTTP interface. Store and Token are required. The other fields have defaults, or
// disable a feature when they are not set.
//
// Streams (events, followed logs, backups) and waiting claims end with the context of their request.
// To stop them, a server cancels its BaseContext.
type Config struct {
	Store   rota.Store
	Engine  *engine.Engine       // nil: direct runs are refused
	Events  *eventring.Ring      // nil: a new one
	Schemas *payload.SchemaCache // nil: a new one, which also asks the Go types of Engine

	Console *session.Console // runs SQL; nil: a new one

	// CancelGrace is how long a remote worker may continue after its deadline or after a cancel.
	// Default: engine.DefaultCancelGrace.
	CancelGrace time.Duration

	Token string // admin token; it grants every permission
	// Access holds users, roles and tokens, and decides what they may do. Nil: a new one of the store. A client
	// certificate that TLS has verified logs in the user that has its common name; a request with an Authorization header uses its token instead.
	Access   *access.Directory
	Logins   *access.LoginThrottle // counts wrong tokens, also those of other interfaces; nil: a new one
	UserRate *access.RateLimiter   // limits the requests of each user; nil: no limit

	// OtherNodes returns the names of the other nodes of the store that live now. Nil: there are none.
	OtherNodes func(ctx context.Context) ([]string, error)

	Vault *secret.Vault // seals secrets; it has the store itself, not a Guard. Nil: secrets cannot be set

	Logs LogReader // nil: runs have no logs

	// LogWriter stores the logs that remote workers send. Nil: the logs are discarded.
	LogWriter LogWriter
	// OnPolls is called with the number of waiting claims whenever it changes. It must return
	// quickly. Nil: no callback.
	OnPolls func(waiting int)
	// OnEnqueue is called for each request that submits jobs, with the traceparent of the request.
	// It returns the traceparent for the jobs, and a function that is called when the jobs were
	// accepted or refused. Nil: the jobs keep the traceparent of the request.
	OnEnqueue func(ctx context.Context, parent string, jobs int) (trace string, done func(error))

	ExecAccounts []string // accounts that programs can run as; nil: this server runs no programs
	ExecAllow    []string // programs that jobs may name, and directories of such programs
	ExecEnv      []string // variables that jobs may set
	ExecRemote   bool     // the configuration leaves programs to remote workers

	// Webhooks sends webhook tests. Nil: tests are refused.
	Webhooks *action.Sender

	// Backup writes a consistent copy of the store to a file that does not exist yet. ScratchDir
	// holds the copy until it is sent. Nil: backups are refused.
	Backup     func(ctx context.Context, path string, progress func(done, total int64)) error
	ScratchDir string

	// Audit is the chain of the audit; nil: that of Store. Auditor has the key of this node and its signed
	// heads; nil: the node signs nothing.
	Audit   rota.AuditChain
	Auditor Auditor

	Metrics   http.Handler             // nil: none
	Ready     func() error             // reason why the server cannot accept work, see readyz; nil: always ready
	Addresses func() map[string]string // listen addresses by name, shown on the page at /
	Version   string
	Logger    *slog.Logger
	Clock     func() time.Time // clock of this process; schedules use the clock of the store; nil: the wall clock

	Rate        rota.Rate // request rate; zero: no limit
	InFlightMax int       // concurrent requests of other classes than those below; 0: 1,024
	StreamsMax  int       // concurrent streams of events and logs; 0: 256
	DirectMax   int       // concurrent direct runs; 0: 256
	PollsMax    int       // concurrent claims, including waiting ones, and as many extends that wait; 0: 4,096
	LargeMax    int       // concurrent bodies longer than BodyMax; 0: 8
	BodyMax     int64     // bytes of a body; 0: 1.5 MiB
	BatchMax    int64     // bytes of a bulk body; 0: 64 MiB
}

// LogReader opens the logs of runs.
type LogReader interface {
	// ReadLog returns the log of a job's run, at its beginning. The log of a run that wrote nothing is
	// empty, and the log of a run that has not ended may grow. NotFound: the log is not known any more.
	ReadLog(ctx context.Context, job *rota.Job) (io.ReadSeekCloser, error)
}

// LogWriter stores the logs of runs on remote workers.
type LogWriter interface {
	// Path returns the path of the log of a job's run, as it is stored with the run.
	Path(job *rota.Job) string
	// Keep stores the logs of runs that have ended. It truncates a log that is too long.
	Keep(ctx context.Context, logs map[*rota.Job]string) error
	// Append stores a part of a log at its position in bytes, and reports whether the log is full. What is stored there
	// already stays, so that a part may be sent again.
	Append(ctx context.Context, job *rota.Job, offset int64, part string) (full bool, err error)
}

const (
	bodyMaxDefault  = 3 << 19  // params and the JSON around them
	batchMaxDefault = 64 << 20 // above CommandBytesMax, because JSON text is longer than its stored form
)

func (c Config) withDefaults() Config {
	if c.Events == nil && c.Store != nil {
		c.Events = eventring.New(c.Store, 0)
	}
	if c.Schemas == nil {
		c.Schemas = payload.NewSchemaCache()
		if c.Engine != nil {
			c.Schemas.ValidateWith(c.Engine.ValidateParams)
		}
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Access == nil && c.Store != nil {
		c.Access = access.NewDirectory(c.Store, c.Clock)
	}
	if c.Logins == nil {
		c.Logins = access.NewLoginThrottle(c.Clock)
	}
	if c.OnPolls == nil {
		c.OnPolls = func(int) {}
	}
	c.Version = cmp.Or(c.Version, "devel")
	c.CancelGrace = cmp.Or(c.CancelGrace, engine.DefaultCancelGrace)
	if c.Console == nil {
		c.Console = session.New(session.Config{Schemas: c.Schemas, Clock: c.Clock, Version: c.Version})
	}
	c.ScratchDir = cmp.Or(c.ScratchDir, os.TempDir())
	c.InFlightMax = cmp.Or(c.InFlightMax, 1024)
	c.StreamsMax = cmp.Or(c.StreamsMax, 256)
	c.DirectMax = cmp.Or(c.DirectMax, 256)
	c.PollsMax = cmp.Or(c.PollsMax, 4096)
	c.LargeMax = cmp.Or(c.LargeMax, 8)
	c.BodyMax = cmp.Or(c.BodyMax, bodyMaxDefault)
	c.BatchMax = cmp.Or(c.BatchMax, batchMaxDefault)
	return c
}

func (c *Config) validate() error {
	switch {
	case c.Store == nil:
		return rota.Invalidf("store", "is missing; set Config.Store")
	case len(c.Token) < tokenMin:
		return rota.Invalidf("token", "has %d bytes; use a random token of at least %d bytes", len(c.Token), tokenMin)
	case c.InFlightMax < 0 || c.StreamsMax < 0 || c.DirectMax < 0 || c.PollsMax < 0 || c.LargeMax < 0 || c.BodyMax < 0 || c.BatchMax < 0 || c.Rate.Count < 0 || c.Rate.Per < 0:
		return rota.Invalidf("limits", "must not be negative")
	case (c.Rate.Count == 0) != (c.Rate.Per == 0):
		return rota.Invalidf("rate", "needs both a count and a period, such as 5000/1s")
	}
	return nil
}

// tokenMin is the minimum length of a token: 64 bits in hexadecimal.
const tokenMin = 16
