package node

import (
	"context"
	"time"

	"github.com/rotajobs/rota/telemetry"
)

// traceFlush is how long sending the last spans may take when the node stops.
const traceFlush = 3 * time.Second

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
	n.onClose(func() error {
		ctx, done := context.WithTimeout(context.Background(), traceFlush)
		defer done()
		if err := n.traces.Close(ctx); err != nil {
			n.logger.Warn("the last traces were not sent", "error", err)
		}
		return nil
	})
	return nil
}
