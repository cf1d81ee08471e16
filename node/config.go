package node

import (
	"cmp"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/runlog"
)

// Defaults of a Config, other than those of the engine.
const (
	DefaultData       = "rota-data"
	DefaultHTTP       = "127.0.0.1:7420"
	DefaultSQL        = "127.0.0.1:7432"
	DefaultSQLTLS     = allow
	DefaultClientCert = allow
	DefaultLogFormat  = "text"
	DefaultLogMax     = runlog.DefaultMax
	DefaultLogKeep    = runlog.DefaultKeep

	DefaultWebhookWorkers = 16
	DefaultTraceSample    = 1.0

	day = 24 * time.Hour
)

// Config is the configuration of a node. The zero value works, with the data in ./rota-data.
type Config struct {
	Data         string // directory of all files of the node
	Store        string // URL of the store; default sqlite:DATA/rota.db
	HTTP         string // address of the API; port 0: any free port
	SQL          string // address of the SQL port; none: no SQL port
	sqlDefaulted bool   // SQL was not configured

	HTTPCert       string // certificate file of the API; empty: no TLS
	HTTPKey        string // file of the private key of HTTPCert
	HTTPClientCA   string // file with the authorities of client certificates; empty: clients are not asked for one
	HTTPClientCert string // allow: clients may have a certificate; require: they must
	SQLCert        string // certificate file of the SQL port; empty: no encryption
	SQLKey         string // file of the private key of SQLCert
	SQLTLS         string // allow: TLS for clients that request it; require: refuse all others
	SQLClientCA    string // as HTTPClientCA
	SQLClientCert  string // as HTTPClientCert
	Insecure       bool   // allow ports without TLS that other machines can reach

	Workers int    // jobs that run at the same time
	Name    string // name of this worker, the same at every start

	Lease         time.Duration
	CancelGrace   time.Duration // how long a handler may take to stop
	ShutdownGrace time.Duration // how long running handlers may continue after the node is asked to stop

	LogLevel  slog.Level
	LogFormat string        // text or json
	LogMax    int64         // largest size of the log of one run, in bytes
	LogKeep   time.Duration // how long logs of runs are kept

	Retention  *rota.Retention // nil: rota.DefaultRetention
	PruneEvery time.Duration
	HTTPRate   rota.Rate // limit of requests of all clients; zero: no limit
	UserRate   rota.Rate // limit of requests and statements of each user; zero: no limit
	HTTPHosts  string    // host names of the API, separated by commas; empty: checked on loopback addresses only

	HTTPAllow      string // private addresses that http jobs and webhooks may use, see action.ParseAllow
	WebhookWorkers int    // webhooks delivered at the same time

	Targets map[string]action.Target // databases of sql and call jobs, by name; main always exists

	Exec        *action.CommandConfig // what programs of exec jobs can do; nil: no program runs
	file        string                // configuration file that was read; empty: none
	execSources map[string]string     // file and line of each setting of the section exec

	SentryDSN    string  // Sentry project for error reports; empty: none
	Environment  string  // environment named in reports and traces, such as production
	OTLPEndpoint string  // URL that receives traces; empty: none
	OTLPHeaders  string  // headers of these requests, such as a key
	TraceSample  float64 // fraction of the traces that start here and are sent

	AuditKeys string // public keys of the other nodes that share the store, separated by commas; empty: only the key of this node is known

	MemoryLimit int64 // Go memory that the server tries to stay below, in bytes; 0: see memoryLimit. Go programs set it themselves

	// The fields below are set by Go programs only, not by the file.

	MasterKey  string // keyset of secrets in base64 (ROTA_MASTER_KEY); empty: the file master.key of the data directory
	AdminToken string // token to store at the first start (ROTA_ADMIN_TOKEN); empty: a random one

	AllowLinks bool // open an SQLite store for writing even if its file has a second name (a hard link)

	Logger   *slog.Logger           // nil: slog.Default
	Version  string                 // version that the API and the metrics show
	Register func(*engine.Registry) // registers handlers in addition to the built-in ones; nil: none
	Clock    func() time.Time       // nil: time.Now

	AllowMoved    bool // start with a store that rota copy has moved to another one
	ForgetSecrets bool // at the start, delete the secrets whose key this node does not have

	// Wrap is for tests that make the store fail, or kill the process, at a chosen
	// command. The node uses the store that it returns, below the layer that
	// coalesces commands. Nil: the store itself.
	Wrap func(rota.Store) rota.Store

	// ClockOffsetFile is for tests that change the clock of a running process. The
	// file holds the offset of the clock, such as -12h. The node reads it once a
	// second.
	ClockOffsetFile string
}

func (c Config) withDefaults() Config {
	c.Data = cmp.Or(c.Data, DefaultData)
	c.Store = cmp.Or(c.Store, sqliteScheme+":"+filepath.Join(c.Data, "rota.db"))
	c.HTTP = cmp.Or(c.HTTP, DefaultHTTP)
	c.sqlDefaulted = c.sqlDefaulted || c.SQL == ""
	c.SQL = cmp.Or(c.SQL, DefaultSQL)
	c.SQLTLS = cmp.Or(c.SQLTLS, DefaultSQLTLS)
	c.HTTPClientCert = cmp.Or(c.HTTPClientCert, DefaultClientCert)
	c.SQLClientCert = cmp.Or(c.SQLClientCert, DefaultClientCert)
	c.Workers = cmp.Or(c.Workers, engine.DefaultWorkers)
	c.Name = cmp.Or(c.Name, engine.DefaultName)
	c.Lease = cmp.Or(c.Lease, rota.DefaultLease)
	c.CancelGrace = cmp.Or(c.CancelGrace, engine.DefaultCancelGrace)
	c.ShutdownGrace = cmp.Or(c.ShutdownGrace, engine.DefaultShutdownGrace)
	c.LogFormat = cmp.Or(c.LogFormat, DefaultLogFormat)
	c.LogMax = cmp.Or(c.LogMax, DefaultLogMax)
	c.LogKeep = cmp.Or(c.LogKeep, DefaultLogKeep)
	c.PruneEvery = cmp.Or(c.PruneEvery, engine.DefaultPruneEvery)
	c.WebhookWorkers = cmp.Or(c.WebhookWorkers, DefaultWebhookWorkers)
	c.TraceSample = cmp.Or(c.TraceSample, DefaultTraceSample)
	c.Retention = cmp.Or(c.Retention, new(rota.DefaultRetention))
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// validate checks values that a Go program set. Load has already checked those that
// it read, and its errors name the file and line.
func (c Config) validate() error {
	for _, s := range settings {
		if err := s.field(&c).check(); err != nil {
			return &rota.Error{Code: rota.Invalid, Act: "node", Field: s.Key, Reason: err.Error(), Hint: s.remedy()}
		}
	}
	if c.Exec != nil {
		if err := c.Exec.Check(); err != nil {
			return err
		}
	}
	return action.CheckTargets(c.Targets)
}

// auditKeys returns the public keys of other nodes. The text was checked.
func (c Config) auditKeys() (keys []rota.AuditKey) {
	_ = eachAuditKey(c.AuditKeys, func(key rota.AuditKey) { keys = append(keys, key) })
	return keys
}

// NewLogger creates the logger of a server with the configured level and format.
func (c Config) NewLogger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
