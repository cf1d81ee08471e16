package report

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/getsentry/sentry-go"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Config of a Sentry. The zero value works.
type Config struct {
	Environment string       // what the server is for; default production
	Release     string       // which version failed, such as shop@1.2.3; default rota
	ServerName  string       // default: the name of the machine
	HTTP        *http.Client // what reports are sent with; default: one that waits 30 s
	Logger      *slog.Logger // hears when reports cannot be sent; default: nobody does
}

func (c Config) withDefaults() Config {
	if c.Environment == "" {
		c.Environment = "production"
	}
	if c.Release == "" { // or the client would ask git for one
		c.Release = "rota"
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// waitingMax bounds the reports that wait to be sent. What comes while so many
// wait is dropped, and Sentry is told how many were.
const waitingMax = 256

// Sentry reports to a project of Sentry, or of anything that speaks its protocol.
// Nothing waits for the network but Close. If Sentry asks for patience, what comes
// meanwhile is dropped.
type Sentry struct {
	client *sentry.Client
	closed atomic.Bool
}

var _ engine.Monitor = (*Sentry)(nil)

// NewSentry makes a reporter for the project of a DSN. One that is none is
// Invalid.
func NewSentry(dsn string, config Config) (*Sentry, error) {
	if err := CheckDSN(dsn); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	transport := sentry.NewHTTPTransport() // one request after the other, so that a check-in's end comes behind its begin
	transport.BufferSize = waitingMax
	client, err := sentry.NewClient(sentry.ClientOptions{
		Dsn: dsn, Environment: config.Environment, Release: config.Release, ServerName: config.ServerName,
		Transport: transport, HTTPClient: watched(config.HTTP, config.Logger), DisableMetrics: true,
		// They add what is true of this process, and a run may have been another's. One
		// reads the source files that a stack names, which may be any text at all.
		Integrations: func([]sentry.Integration) []sentry.Integration { return nil },
	})
	if err != nil { // what CheckDSN let pass
		return nil, rota.Invalidf("sentry_dsn", "is not the DSN of a project")
	}
	return &Sentry{client: client}, nil
}

// Report sends one attempt that failed. The event goes by the id of the run: sent
// again, it is the same.
func (s *Sentry) Report(_ context.Context, r engine.Report) {
	if r.Job != nil {
		s.send(failure(r))
	}
}

// CheckIn tells the monitor of a schedule how an execution stands.
func (s *Sentry) CheckIn(_ context.Context, c engine.CheckIn) {
	switch {
	case c.Status == engine.CheckInMissed && c.Schedule != nil:
		s.send(missed(c))
	case c.Status != engine.CheckInMissed && c.Job != nil && monitored(c.Schedule):
		s.send(s.client.EventFromCheckIn(checkIn(c), monitor(c)))
	}
}

func (s *Sentry) send(event *sentry.Event) {
	if !s.closed.Load() {
		s.client.CaptureEvent(event, nil, nil)
	}
}

// Close sends what waits, as long as ctx allows. What is reported afterwards is
// dropped.
func (s *Sentry) Close(ctx context.Context) error {
	if s.closed.Swap(true) {
		return nil
	}
	sent := s.client.FlushWithContext(ctx)
	s.client.Close()
	if !sent {
		return &rota.Error{Code: rota.Unavailable, Act: "report", Reason: "some reports could not be sent in time, and are lost", Err: ctx.Err()}
	}
	return nil
}
