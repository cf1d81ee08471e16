package node

import (
	"context"
	"time"

	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/report"
	"github.com/rotajobs/rota/telemetry"
)

// flushTimeout is how long sending the last reports or spans may take when the node stops.
const flushTimeout = 3 * time.Second

// flushOnClose sends what is left when the node stops.
func (n *Node) flushOnClose(flush func(context.Context) error, failed string) {
	n.onClose(func() error {
		ctx, done := context.WithTimeout(context.Background(), flushTimeout)
		defer done()
		if err := flush(ctx); err != nil {
			n.logger.Warn(failed, "error", err)
		}
		return nil
	})
}

// openReporter creates the reporter of failures; nil if no DSN is configured.
func (n *Node) openReporter() (engine.Reporter, error) {
	if n.config.SentryDSN == "" {
		return nil, nil
	}
	sentry, err := report.NewSentry(n.config.SentryDSN, report.Config{
		Environment: n.config.Environment, Release: "rota@" + n.config.Version, ServerName: n.config.Name, Logger: n.logger,
	})
	if err != nil {
		return nil, err
	}
	n.flushOnClose(sentry.Close, "the last error reports were not sent to Sentry")
	return sentry, nil
}

// openTraces creates the trace exporter, if an endpoint is configured.
func (n *Node) openTraces() error {
	if n.config.OTLPEndpoint == "" {
		return nil
	}
	headers, err := parseHeaders(n.config.OTLPHeaders)
	if err != nil {
		return err
	}
	n.traces, err = telemetry.Open(context.Background(), telemetry.Config{
		Endpoint: n.config.OTLPEndpoint, Headers: headers, Version: n.config.Version, Instance: n.config.Name,
		Environment: n.config.Environment, Sample: n.config.TraceSample, Logger: n.logger,
	})
	if err != nil {
		return err
	}
	n.flushOnClose(n.traces.Close, "the last traces were not sent")
	return nil
}
