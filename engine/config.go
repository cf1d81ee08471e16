package engine

import (
	"context"
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
	// Name of this worker, the same at every start: the engine uses it to find the
	// jobs that its previous incarnation left open. Default "local". Two processes
	// on one store need two names.
	Name string
	// Version of the program, which other processes on the store list. Default: none.
	Version string
	// Lease is the longest time that a job waits for a process that died. The engine
	// extends it every third of that time. Default rota.DefaultLease.
	Lease time.Duration
	// CancelGrace is how long a handler may take to return once its context has
	// ended. After that the engine abandons it. Default 10 s.
	CancelGrace time.Duration
	// ShutdownGrace is how long handlers may continue once Run is to end. Default 30 s.
	ShutdownGrace time.Duration
	// Retention defines which part of the history is kept. Default rota.DefaultRetention.
	Retention *rota.Retention
	// PruneEvery is the interval at which the rest is removed. Default 1 h.
	PruneEvery time.Duration
	// Logger receives messages that are not part of a run's log or outcome. Default slog.Default.
	Logger *slog.Logger
	// Logs stores what handlers write; package runlog has implementations. Default: what they log goes
	// to Logger, and what they print is discarded.
	Logs Logs
	// Clock is the wall clock. Default time.Now.
	Clock func() time.Time
	// Events is the ring that carries the events of the store. Default: the engine
	// creates its own.
	Events *eventring.Ring
	// WorkOnly limits the engine to claiming and running jobs. It fires no schedules,
	// readies no delayed jobs, reaps, sweeps and prunes nothing, executes no direct
	// runs and reports neither groups nor failures. Another process on the store
	// must do that.
	WorkOnly bool
	// Remote declares that the store is a server reached over the network: a claim
	// is a long poll, and the server settles the jobs of a worker that disappears.
	// If the server denies this worker, Run ends. Remote implies WorkOnly.
	Remote bool
	// Membership is set where several processes share the store: only the leader
	// then does the work that one process must do for all. Default: this process
	// always does it.
	Membership rota.Membership
	// ClockSkew is how far the clocks may differ by which processes that share the store
	// grant leases and take over jobs. A run whose lease cannot be extended is stopped so
	// much before the lease ends. Default: all use the clock of the database.
	ClockSkew time.Duration
	// SignAnchor signs what is left of audit entries that are removed. Default: it is not signed.
	SignAnchor rota.AnchorSigner
	// Secrets opens the secrets of templates for handlers, see Secret. Default: there are none.
	Secrets Secrets
	// Reporter receives failures. Default: none.
	Reporter Reporter
}

// DefaultWorkers, DefaultCancelGrace, DefaultShutdownGrace and DefaultPruneEvery
// apply where a Config leaves the field zero.
const (
	DefaultWorkers       = 16
	DefaultName          = "local"
	DefaultCancelGrace   = 10 * time.Second
	DefaultShutdownGrace = 30 * time.Second
	DefaultPruneEvery    = time.Hour

	// WorkersMax bounds the slots of one process.
	WorkersMax = 100_000
)

// Logs stores what runs write. The engine calls Open at the first line of a run.
type Logs interface {
	Open(job *rota.Job) (LogFile, error)
}

// LogFile is the log of one run. The store records its Path.
type LogFile interface {
	io.WriteCloser
	Path() string
}

// LogFlusher is implemented by Logs that store lines later than they are written. The engine calls
// FlushLogs before it records that runs have ended, so that the log of a recorded run is complete. FlushLogs
// stores the logs that are closed. If it cannot, it returns within seconds and stores them later.
type LogFlusher interface {
	FlushLogs(ctx context.Context)
}

// LogPruner is implemented by Logs that remove old logs. The engine calls PruneLogs at the interval
// Config.PruneEvery. Of the processes that share a store, one leads and removes what they share.
type LogPruner interface {
	PruneLogs(ctx context.Context, leads bool)
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
	return c.Retention.Validate()
}
