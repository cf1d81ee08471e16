package worker

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Config of a worker. The zero value works.
type Config struct {
	// Name of this worker, as the server shows it. Default: the host name and a random
	// suffix.
	Name string
	// Workers is how many jobs run at once. Default 16.
	Workers int
	// Lease is how long the server waits for a worker that is gone before it gives its
	// jobs to others. It is extended every third of that time. Default 30 s.
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
	// HTTP sends the requests: set it for a custom certificate or a proxy. It must have no
	// Timeout, since long polls wait. Default: a client of its own.
	HTTP *http.Client
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
		c.HTTP = newClient()
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
	case c.Wait < time.Second || c.Wait > WaitMax:
		return rota.Invalidf("wait", "is %s; allowed are 1s to %s", rota.FormatDuration(c.Wait), rota.FormatDuration(WaitMax))
	case c.Timeout < 100*time.Millisecond:
		return rota.Invalidf("timeout", "is %v; at least 100ms is needed for an answer", c.Timeout)
	case c.HTTP.Timeout > 0 && c.HTTP.Timeout <= c.Wait:
		return rota.Invalidf("http", "has a timeout of %v, but a claim waits for %v; leave it zero and set Timeout of the worker", c.HTTP.Timeout, c.Wait)
	}
	return nil
}
