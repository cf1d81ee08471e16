package node

import (
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
)

// The defaults of a Config that are not those of the engine.
const (
	DefaultData      = "rota-data"
	DefaultHTTP      = "127.0.0.1:7420"
	DefaultSQL       = "127.0.0.1:7432"
	DefaultSQLTLS    = "allow"
	DefaultLogFormat = "text"
	DefaultLogMax    = 10 << 20
	DefaultLogKeep   = 30 * day

	DefaultWebhookWorkers = 16
	DefaultTraceSample    = 1.0

	day = 24 * time.Hour
)

// Config of a node. The zero value works, in ./rota-data.
type Config struct {
	Data    string // directory of everything that the node keeps
	Store   string // URL of the store; default sqlite:DATA/rota.db
	HTTP    string // address of the API; port 0 picks a free one
	SQL     string // address of the SQL port; none: there is none
	SQLCert string // file of the certificate of the SQL port; empty: it is not encrypted
	SQLKey  string // file of its key
	SQLTLS  string // allow: who asks for it is encrypted; require: nobody else gets in
	anySQL  bool   // nobody said where it should listen
	Workers int    // jobs at once
	Name    string // of this worker, the same at every start

	Lease         time.Duration
	CancelGrace   time.Duration // how long a handler may take to stop
	ShutdownGrace time.Duration // how long handlers may go on once the node is to stop

	LogLevel  slog.Level
	LogFormat string        // text or json
	LogMax    int64         // bytes of one run's log
	LogKeep   time.Duration // how long logs of runs are kept

	Retention  *rota.Retention // nil: rota.DefaultRetention
	PruneEvery time.Duration
	HTTPRate   rota.Rate // requests that are answered; zero: as many as come

	HTTPAllow      string // where http jobs and webhooks may go beside the public internet, see action.ParseAllow
	WebhookWorkers int    // webhooks that are delivered at once

	Targets map[string]action.Target // the databases of sql and call jobs, by name; main is there without being named

	SentryDSN    string  // where failures are reported; empty: nowhere
	Environment  string  // what a report or a trace says this server is for
	OTLPEndpoint string  // where traces are sent; empty: nowhere
	OTLPHeaders  string  // sent along with them, such as a key
	TraceSample  float64 // of the traces that begin here, the fraction that is sent

	// What a program gives that no file could.

	Logger   *slog.Logger           // nil: slog.Default
	Version  string                 // shown to those who ask
	Register func(*engine.Registry) // handlers beside the built-in ones; nil: none
	Clock    func() time.Time       // nil: time.Now

	// Wrap is for tests that make a store fail, or the process die, at a chosen
	// command: what it returns is used in place of the store it is given, below
	// everything that gathers commands. Nil: the store itself.
	Wrap func(rota.Store) rota.Store

	// ClockOffsetFile is for tests that set the clock of a running process: a
	// file with a duration, such as -12h, by which the clock is wrong. It is
	// read once a second.
	ClockOffsetFile string
}

func (c Config) withDefaults() Config {
	fill(&c.Data, DefaultData)
	fill(&c.Store, sqliteScheme+":"+filepath.Join(c.Data, "rota.db"))
	fill(&c.HTTP, DefaultHTTP)
	c.anySQL = c.anySQL || c.SQL == ""
	fill(&c.SQL, DefaultSQL)
	fill(&c.SQLTLS, DefaultSQLTLS)
	fill(&c.Workers, engine.DefaultWorkers)
	fill(&c.Name, engine.DefaultName)
	fill(&c.Lease, rota.DefaultLease)
	fill(&c.CancelGrace, engine.DefaultCancelGrace)
	fill(&c.ShutdownGrace, engine.DefaultShutdownGrace)
	fill(&c.LogFormat, DefaultLogFormat)
	fill(&c.LogMax, DefaultLogMax)
	fill(&c.LogKeep, DefaultLogKeep)
	fill(&c.PruneEvery, engine.DefaultPruneEvery)
	fill(&c.WebhookWorkers, DefaultWebhookWorkers)
	fill(&c.TraceSample, DefaultTraceSample)
	if c.Retention == nil {
		c.Retention = new(rota.DefaultRetention)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate looks at what a program filled in by itself; what was read by Load
// has been looked at where it stood.
func (c Config) validate() error {
	for _, s := range settings {
		if err := s.field(&c).check(); err != nil {
			return &rota.Error{Code: rota.Invalid, Act: "node", Field: s.Key, Reason: err.Error(), Hint: s.remedy()}
		}
	}
	return action.CheckTargets(c.Targets)
}

// NewLogger makes the log of a server, as the configuration wants it.
func (c Config) NewLogger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
