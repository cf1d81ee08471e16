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

// Config configures a Sentry. The zero value works.
type Config struct {
	Environment string       // deployment environment; default production
	Release     string       // version of the program, such as shop@1.2.3; default rota
	ServerName  string       // default: the host name
	HTTP        *http.Client // client for requests; default: with a timeout of 30 s
	Logger      *slog.Logger // receives warnings about lost reports; default: none
}

func (c Config) withDefaults() Config {
	if c.Environment == "" {
		c.Environment = "production"
	}
	if c.Release == "" { // otherwise the client runs git
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

// queueMax bounds the queue of reports. Further reports are dropped, and Sentry gets
// their number.
const queueMax = 256

// Sentry reports to a project of Sentry or of a compatible server. Only Close waits for the
// network. While Sentry limits the rate, reports are dropped.
type Sentry struct {
	client *sentry.Client
	closed atomic.Bool
}

var _ engine.Monitor = (*Sentry)(nil)

// NewSentry returns a reporter for the project of a DSN. An invalid DSN gives an Invalid
// error.
func NewSentry(dsn string, config Config) (*Sentry, error) {
	if err := CheckDSN(dsn); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	transport := sentry.NewHTTPTransport() // sequential, so that the end of a check-in arrives after its start
	transport.BufferSize = queueMax
	client, err := sentry.NewClient(sentry.ClientOptions{
		Dsn: dsn, Environment: config.Environment, Release: config.Release, ServerName: config.ServerName,
		Transport: transport, HTTPClient: withLogging(config.HTTP, config.Logger), DisableMetrics: true,
		// The integrations add data of this process, but the run may belong to another
		// one. One of them reads the source files that a stack names.
		Integrations: func([]sentry.Integration) []sentry.Integration { return nil },
	})
	if err != nil { // CheckDSN accepted it, the library does not
		return nil, rota.Invalidf("sentry_dsn", "is not the DSN of a project")
	}
	return &Sentry{client: client}, nil
}

// Report sends a failed attempt. The id of the event is that of the run, so Sentry ignores
// a repeated report.
func (s *Sentry) Report(_ context.Context, r engine.Report) {
	if r.Job != nil {
		s.send(failure(r))
	}
}

// CheckIn sends the state of an execution to the monitor of its schedule.
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

// Close sends the queued reports until ctx ends. Later reports are dropped.
func (s *Sentry) Close(ctx context.Context) error {
	if s.closed.Swap(true) {
		return nil
	}
	sent := s.client.FlushWithContext(ctx)
	s.client.Close()
	if !sent {
		return &rota.Error{Code: rota.Unavailable, Act: "report", Reason: "some reports were not sent in time and are lost", Err: ctx.Err()}
	}
	return nil
}
