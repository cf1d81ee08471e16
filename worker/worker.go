package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/apiclient"
)

// Worker runs jobs of a server.
type Worker struct {
	config    Config
	configErr error // of the arguments of New; Run returns it
	server    *server
	types     *engine.Registry
	logs      *logs
	engine    *engine.Engine
}

// New creates a worker for the server at a URL, such as https://rota.example.org:7420,
// and the types of a registry; Run starts it.
func New(url, token string, reg *engine.Registry, config Config) *Worker {
	w := &Worker{config: config.withDefaults(), types: reg}
	address, err := apiclient.CheckAddress(url)
	if err == nil {
		err = apiclient.CheckToken(token, config.TLS)
	}
	if err == nil {
		err = w.config.validate()
	}
	w.configErr = err
	w.server = &server{
		client:  apiclient.Caller{Client: apiclient.Client{HTTP: apiclient.WithoutRedirects(w.config.HTTP), Address: address, Token: token}},
		timeout: w.config.Timeout,
	}
	logs := newLogs()
	logs.sender = newLogSender(w.server, w.config.Lease, logs)
	w.logs = logs
	store := newStore(w.server, &w.config, logs)
	w.engine = engine.New(rota.New(store), reg, engine.Config{
		Secrets: store.secrets,
		Remote:  true, Name: w.config.Name, Workers: w.config.Workers, Lease: w.config.Lease,
		CancelGrace: w.config.CancelGrace, ShutdownGrace: w.config.ShutdownGrace, Logger: w.config.Logger, Logs: logs,
	})
	return w
}

// Name is the name of this worker at the server.
func (w *Worker) Name() string { return w.config.Name }

// Ready is closed when the types are declared and the worker claims jobs.
func (w *Worker) Ready() <-chan struct{} { return w.engine.Ready() }

// Cut ends the grace of a shutdown at once: handlers that still run are cut off, and their
// jobs are retried.
func (w *Worker) Cut() { w.engine.Cut() }

// Run declares the types of the registry and runs jobs until ctx ends. Then it claims no
// more, waits for running handlers as long as the grace allows, cuts off the rest, and
// returns when the end of each is recorded.
//
// If the server does not answer, Run retries, also at the start. Only a server that denies
// the token ends the worker, with Denied: running handlers are then cut off, since their
// end could not be recorded. A worker runs once.
func (w *Worker) Run(ctx context.Context) error {
	if w.configErr != nil {
		return w.configErr
	}
	defer w.server.client.HTTP.CloseIdleConnections()
	done := make(chan struct{})
	defer close(done)
	go w.logStart(done)
	sending, stop := context.WithCancel(context.WithoutCancel(ctx)) // runs may continue after ctx has ended
	defer stop()
	go w.logs.sender.run(sending)
	return w.engine.Run(ctx)
}

// logStart logs that the worker has started, and for which server.
func (w *Worker) logStart(done <-chan struct{}) {
	select {
	case <-w.Ready():
		w.config.Logger.Info("working", "for", w.server.client.Address, "types", w.types.Types(), "slots", w.config.Workers, "worker", w.config.Name)
	case <-done:
	}
}

// Config of a worker. The zero value works.
type Config struct {
	// Name of this worker, as the server shows it. Default: the host name and a random
	// suffix.
	Name string
	// Workers is how many jobs run at once. Default 16.
	Workers int
	// Lease is how long the server waits for a worker that is gone before it gives its
	// jobs to others. A worker that cannot reach the server ends the context of its handlers
	// CancelGrace before that, at most a third of the lease. Default 30 s.
	Lease time.Duration
	// Wait is how long a long poll waits at the server for jobs, at most WaitMax.
	// Default 30 s.
	Wait time.Duration
	// Timeout is how long the server may take to answer, in addition to the wait of a
	// long poll. Default 15 s.
	Timeout time.Duration
	// CancelGrace is how long a handler may take to return once its context has ended.
	// After that it is abandoned. Default 10 s.
	CancelGrace time.Duration
	// ShutdownGrace is how long handlers may continue once Run is to end. Default 30 s.
	ShutdownGrace time.Duration
	// Logger receives messages that are not part of a run's log or outcome. Default slog.Default.
	Logger *slog.Logger
	// HTTP sends the requests: set it for a proxy. It must have no
	// Timeout, since long polls wait. Default: a client of its own.
	HTTP *http.Client
	// TLS configures https: RootCAs for a private authority, Certificates for a worker that logs in by certificate; then the
	// token may be empty. It cannot be combined with HTTP. Default: the authorities of the system.
	TLS *tls.Config

	bothSet bool // HTTP and TLS
}

// DefaultWait and DefaultTimeout apply where a Config leaves the field zero, as do the
// defaults of the engine. WaitMax is the longest wait that a server accepts.
const (
	DefaultWait    = 30 * time.Second
	DefaultTimeout = 15 * time.Second
	WaitMax        = time.Minute
)

func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = newName()
	}
	c.Workers = cmp.Or(c.Workers, engine.DefaultWorkers)
	c.Lease = cmp.Or(c.Lease, rota.DefaultLease)
	c.Wait = cmp.Or(c.Wait, DefaultWait)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.CancelGrace = cmp.Or(c.CancelGrace, engine.DefaultCancelGrace)
	c.ShutdownGrace = cmp.Or(c.ShutdownGrace, engine.DefaultShutdownGrace)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.HTTP == nil {
		c.HTTP = apiclient.WithTLS(newClient(), c.TLS)
	} else if c.TLS != nil {
		c.bothSet = true
	}
	return c
}

// newName names a worker by its host, with a random suffix.
func newName() string {
	host, _ := os.Hostname() // only a hint for people
	host = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '-'
	}, host)
	if host == "" {
		host = "worker"
	}
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails: see crypto/rand
	return host[:min(len(host), 64)] + "-" + hex.EncodeToString(tail[:])
}

// validate checks what the engine does not check.
func (c *Config) validate() error {
	switch {
	case c.bothSet:
		return rota.Invalidf("tls", "and HTTP are both set; configure TLS in the transport of HTTP")
	case c.Wait < time.Second || c.Wait > WaitMax:
		return rota.Invalidf("wait", "is %s; allowed are 1s to %s", rota.FormatDuration(c.Wait), rota.FormatDuration(WaitMax))
	case c.Timeout < 100*time.Millisecond:
		return rota.Invalidf("timeout", "is %v; at least 100ms is needed for an answer", c.Timeout)
	case c.HTTP.Timeout > 0 && c.HTTP.Timeout <= c.Wait:
		return rota.Invalidf("http", "has a timeout of %v, but a claim waits for %v; leave it zero and set Timeout of the worker", c.HTTP.Timeout, c.Wait)
	}
	return apiclient.CheckTLS(c.TLS)
}
