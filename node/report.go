package node

import (
	"context"
	"time"

	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/report"
)

// reportFlush is how long sending the last reports may take when the node stops.
const reportFlush = 3 * time.Second

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
	n.onClose(func() error {
		ctx, done := context.WithTimeout(context.Background(), reportFlush)
		defer done()
		if err := sentry.Close(ctx); err != nil {
			n.logger.Warn("the last error reports were not sent to Sentry", "error", err)
		}
		return nil
	})
	return sentry, nil
}
