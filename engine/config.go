package engine

import (
	"io"
	"log/slog"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/eventring"
)

// Config of an engine. The zero value works.
type Config struct {
	// Workers is how many jobs run at once. Default 16.
	Workers int
	// Name of this worker, the same at every start: by it the engine knows what
	// an earlier life left. Default "local". Two processes on one store need two.
	Name string
	// Lease is how long a job waits for a process that died, at most. It is
	// extended every third of it. Default rota.DefaultLease.
	Lease time.Duration
	// CancelGrace is how long a handler may take to stop once its context has
	// ended, before it is given up. Default 10 s.
	CancelGrace time.Duration
	// ShutdownGrace is how long handlers may go on once Run is to end. Default 30 s.
	ShutdownGrace time.Duration
	// Retention says what is kept of the history. Default rota.DefaultRetention.
	Retention *rota.Retention
	// PruneEvery is how often the rest is removed. Default 1 h.
	PruneEvery time.Duration
	// Logger hears of what no run's own record shows. Default slog.Default.
	Logger *slog.Logger
	// Logs keeps what handlers write. Default: what they log goes to Logger, and
	// what they print is discarded.
	Logs Logs
	// Clock is the wall clock. Default time.Now.
	Clock func() time.Time
	// Events tells what happens in the store. Default: one of its own.
	Events *eventring.Ring
	// WorkOnly has the engine claim and run jobs and nothing else: it fires no
	// schedules, readies no delayed jobs, reaps, sweeps and prunes nothing, makes
	// no direct runs and tells nobody of groups or failures. Somebody else on the
	// store does.
	WorkOnly bool
	// Remote says that the store is a server's, far away: a claim waits there
	// until there is something to claim, and the server settles what a worker
	// leaves. A server that denies this worker ends Run. It implies WorkOnly.
	Remote bool
	// Membership is kept where several processes share the store: what need be done only
	// once is then done by the one that leads. Default: this one does it.
	Membership rota.Membership
	// Reporter is told of what failed. Default: nobody is.
	Reporter Reporter
}

// DefaultWorkers, DefaultCancelGrace, DefaultShutdownGrace and DefaultPruneEvery
// are what a Config has that says nothing.
const (
	DefaultWorkers       = 16
	DefaultName          = "local"
	DefaultCancelGrace   = 10 * time.Second
	DefaultShutdownGrace = 30 * time.Second
	DefaultPruneEvery    = time.Hour

	// WorkersMax bounds the slots of one process.
	WorkersMax = 100_000
)

// Logs keeps what runs write. Open is called at a run's first line.
type Logs interface {
	Open(job *rota.Job) (LogFile, error)
}

// LogFile is the log of one run. Path is what is stored of it.
type LogFile interface {
	io.WriteCloser
	Path() string
}

func (c Config) withDefaults() Config {
	def(&c.Workers, DefaultWorkers)
	def(&c.Name, DefaultName)
	def(&c.Lease, rota.DefaultLease)
	def(&c.CancelGrace, DefaultCancelGrace)
	def(&c.ShutdownGrace, DefaultShutdownGrace)
	def(&c.PruneEvery, DefaultPruneEvery)
	def(&c.Logger, slog.Default())
	if c.Retention == nil {
		c.Retention = &rota.DefaultRetention
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.WorkOnly = c.WorkOnly || c.Remote
	return c
}

func def[T comparable](field *T, otherwise T) {
	if *field == *new(T) {
		*field = otherwise
	}
}

func (c *Config) validate() error {
	for _, d := range []struct {
		field string
		value time.Duration
		min   time.Duration
	}{
		{"lease", c.Lease, rota.LeaseMin},
		{"cancel_grace", c.CancelGrace, 0},
		{"shutdown_grace", c.ShutdownGrace, 0},
		{"prune_every", c.PruneEvery, time.Second},
	} {
		if d.value < d.min {
			return rota.Invalidf(d.field, "is %s; at least %s is needed", rota.FormatDuration(d.value), rota.FormatDuration(d.min))
		}
	}
	switch {
	case c.Lease > rota.LeaseMax:
		return rota.Invalidf("lease", "is %s; at most %s is allowed", rota.FormatDuration(c.Lease), rota.FormatDuration(rota.LeaseMax))
	case c.Workers < 1 || c.Workers > WorkersMax:
		return rota.Invalidf("workers", "is %d; allowed are 1 to %d", c.Workers, WorkersMax)
	case len(c.Name) > rota.NameMax:
		return rota.Invalidf("name", "has %d bytes; at most %d are allowed", len(c.Name), rota.NameMax)
	}
	return nil
}
