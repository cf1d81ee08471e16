package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/payload"
)

// Config of the HTTP face. Store and Token are needed; the rest has defaults, or
// turns something off by its absence.
//
// Streams (events, logs that are followed, backups) and claims that wait end with
// the context of their request: a server that is to stop cancels its BaseContext.
type Config struct {
	Store   rota.Store
	Engine  *engine.Engine  // nil: there are no direct runs
	Events  *eventring.Ring // nil: one of its own
	Schemas *payload.Book   // nil: one of its own

	Console *console.Console // that runs SQL; nil: one of its own

	Token string    // of the admin; whoever shows it may do everything
	Logs  LogReader // nil: runs have no logs

	// LogWriter keeps what workers elsewhere send of their runs' logs. Nil: it is
	// thrown away.
	LogWriter LogWriter
	// OnPolls is told how many claims of workers wait, whenever that changes; it must
	// be quick. Nil: nobody is.
	OnPolls func(waiting int)
	// OnEnqueue is told of each request that submits jobs, and answers with the
	// traceparent that they go on from, given that of the request, and with what
	// is to be called when they were accepted or refused. Nil: they go on from
	// that of the request.
	OnEnqueue func(ctx context.Context, parent string, jobs int) (trace string, done func(error))

	// Webhooks sends the tests of webhooks. Nil: there are none.
	Webhooks *action.Sender

	// Backup writes a consistent copy of the store to a file that is not there
	// yet. ScratchDir is where the copy stands until it is sent. Nil: there are
	// no backups.
	Backup     func(ctx context.Context, path string, progress func(done, total int64)) error
	ScratchDir string

	Metrics   http.Handler             // nil: none
	Ready     func() error             // why the server cannot work just now, see readyz; nil: it always can
	Addresses func() map[string]string // where this process listens, for the page at /
	Version   string
	Logger    *slog.Logger
	Clock     func() time.Time // of this process, while schedules go by the store's; nil: the wall clock

	Rate        rota.Rate // how many requests are answered; zero: no limit
	InFlightMax int       // requests at once beside those below; 0: 1,024
	StreamsMax  int       // followers of events and logs at once; 0: 256
	DirectMax   int       // direct runs that are waited for at once; 0: 256
	PollsMax    int       // claims of workers at once, most of which wait; 0: 4,096
	LargeMax    int       // bodies longer than BodyMax at once; 0: 8
	BodyMax     int64     // bytes of a body; 0: 1.5 MiB
	BatchMax    int64     // bytes of a body with many jobs; 0: 64 MiB
}

// LogReader opens the logs of runs.
type LogReader interface {
	// Open returns the log of a job's run, or NotFound if it wrote none.
	Open(job *rota.Job) (io.ReadSeekCloser, error)
}

// LogWriter keeps the logs of runs that ran elsewhere.
type LogWriter interface {
	// Path is where the log of a job's run stands, as it is stored of it.
	Path(job *rota.Job) string
	// Keep writes the log of a run that has ended. What is too long is cut.
	Keep(job *rota.Job, text string) error
}

const (
	bodyMaxDefault  = 3 << 19  // params and what is written around them
	batchMaxDefault = 64 << 20 // beyond CommandBytesMax, since text is longer than what is stored
)

func (c Config) withDefaults() Config {
	if c.Events == nil && c.Store != nil {
		c.Events = eventring.New(c.Store, 0)
	}
	if c.Schemas == nil {
		c.Schemas = payload.NewBook()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.OnPolls == nil {
		c.OnPolls = func(int) {}
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	if c.Console == nil && c.Store != nil {
		c.Console = console.New(console.Config{Store: c.Store, Book: c.Schemas, Clock: c.Clock, Version: c.Version})
	}
	if c.ScratchDir == "" {
		c.ScratchDir = os.TempDir()
	}
	c.InFlightMax = orDefault(c.InFlightMax, 1024)
	c.StreamsMax = orDefault(c.StreamsMax, 256)
	c.DirectMax = orDefault(c.DirectMax, 256)
	c.PollsMax = orDefault(c.PollsMax, 4096)
	c.LargeMax = orDefault(c.LargeMax, 8)
	c.BodyMax = orDefault(c.BodyMax, bodyMaxDefault)
	c.BatchMax = orDefault(c.BatchMax, batchMaxDefault)
	return c
}

func orDefault[N int | int64](given, fallback N) N {
	if given == 0 {
		return fallback
	}
	return given
}

func (c *Config) validate() error {
	switch {
	case c.Store == nil:
		return rota.Invalidf("store", "is missing; the API is about a store")
	case len(c.Token) < tokenMin:
		return rota.Invalidf("token", "has %d bytes; a token that nobody guesses has at least %d", len(c.Token), tokenMin)
	case c.InFlightMax < 0 || c.StreamsMax < 0 || c.DirectMax < 0 || c.PollsMax < 0 || c.LargeMax < 0 || c.BodyMax < 0 || c.BatchMax < 0 || c.Rate.Count < 0 || c.Rate.Per < 0:
		return rota.Invalidf("limits", "one of them is negative")
	case (c.Rate.Count == 0) != (c.Rate.Per == 0):
		return rota.Invalidf("rate", "needs both a count and a period, such as 5000/1s")
	}
	return nil
}

// tokenMin is the least length of a token: 64 bits written in hexadecimal.
const tokenMin = 16
