package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotajobs/rota"
)

// Config configures a Provider. Endpoint is required; the other fields have defaults.
type Config struct {
	Endpoint    string            // address of an OTLP receiver over HTTP, such as http://127.0.0.1:4318; /v1/traces is appended
	Headers     map[string]string // headers of each request, such as an API key
	Service     string            // name of the service; default rota
	Version     string            // version of the service
	Instance    string            // id of this process among several
	Environment string            // deployment environment, such as production
	Sample      float64           // fraction of traces started here that is sent; 0: all
	Logger      *slog.Logger      // receives warnings about lost traces; default: none
}

func (c Config) withDefaults() Config {
	c.Service = cmp.Or(c.Service, "rota")
	c.Sample = cmp.Or(c.Sample, 1)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c *Config) validate() error {
	if !(c.Sample > 0 && c.Sample <= 1) {
		return &rota.Error{Code: rota.Invalid, Field: "trace_sample", Reason: "is not a fraction", Hint: "use a number above 0 and up to 1, such as 0.1"}
	}
	_, err := endpoint(c.Endpoint)
	return err
}

// endpoint returns the address for traces of an OTLP service.
func endpoint(text string) (string, error) {
	u, err := url.Parse(text)
	reason := ""
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		reason = "is not an HTTP URL"
	case u.User != nil:
		reason = "contains a user or a password, which would not be sent"
	case u.RawQuery != "" || u.Fragment != "":
		reason = "has a query or a fragment"
	}
	if reason != "" {
		return "", &rota.Error{
			Code: rota.Invalid, Field: "otlp_endpoint", Reason: reason,
			Hint: "use an address such as http://127.0.0.1:4318, and put credentials into otlp_headers",
		}
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

const tracesPath = "/v1/traces"

// Provider creates spans.
type Provider struct {
	tracer trace.Tracer
	close  func(context.Context) error
}

// scope is the instrumentation scope of the spans.
const scope = "github.com/rotajobs/rota/telemetry"

// New returns a Provider that uses the given tracer provider. The caller shuts that down.
func New(provider trace.TracerProvider) *Provider {
	return &Provider{tracer: provider.Tracer(scope), close: func(context.Context) error { return nil }}
}

// The bounds of the queue of spans. A caller never waits: spans over the bound are
// dropped.
const (
	queueMax     = 4_096
	sendInterval = 2 * time.Second
	sendTimeout  = 20 * time.Second // timeout of a batch, including its retries
)

// Open returns a Provider that sends spans to an endpoint in batches. It connects when
// there are spans to send. If the receiver is unavailable, spans are lost and jobs are not
// affected.
func Open(ctx context.Context, config Config) (*Provider, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	address, err := endpoint(config.Endpoint)
	if err != nil {
		return nil, err
	}
	sender, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(address), otlptracehttp.WithHeaders(config.Headers),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendTimeout}))
	if err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Field: "otlp_endpoint", Reason: "traces cannot be sent there", Err: err}
	}
	attributes, err := config.resource(ctx)
	if err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Field: "OTEL_RESOURCE_ATTRIBUTES", Reason: "cannot be read", Err: err}
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&exporter{next: sender, logger: config.Logger},
			sdk.WithMaxQueueSize(queueMax), sdk.WithBatchTimeout(sendInterval), sdk.WithExportTimeout(sendTimeout)),
		sdk.WithResource(attributes), sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(config.Sample))))
	p := New(provider)
	p.close = provider.Shutdown
	return p, nil
}

// resource returns the attributes of the process. The OpenTelemetry environment variables
// override the configuration.
func (c *Config) resource(ctx context.Context) (*resource.Resource, error) {
	facts := []attribute.KeyValue{attribute.String("service.name", c.Service)}
	for key, value := range map[string]string{
		"service.version": c.Version, "service.instance.id": c.Instance, "deployment.environment.name": c.Environment,
	} {
		if value != "" {
			facts = append(facts, attribute.String(key, value))
		}
	}
	return resource.New(ctx, resource.WithHost(), resource.WithAttributes(facts...), resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// Close sends the queued spans until ctx ends. Spans that end later are dropped.
func (p *Provider) Close(ctx context.Context) error {
	if err := p.close(ctx); err != nil {
		return &rota.Error{Code: rota.Unavailable, Act: "telemetry", Reason: "some traces were not sent in time and are lost", Err: err}
	}
	return nil
}
