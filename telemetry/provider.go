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

// Config of a Provider. Endpoint is needed; the rest has defaults.
type Config struct {
	Endpoint    string            // where OTLP is taken over HTTP, such as http://127.0.0.1:4318; /v1/traces is added
	Headers     map[string]string // what goes along with each request, such as a key
	Service     string            // what the process is called; default rota
	Version     string            // of the service
	Instance    string            // which of several processes it is
	Environment string            // what it is for, such as production
	Sample      float64           // of the traces that begin here, the fraction that is sent; 0: all of them
	Logger      *slog.Logger      // hears when traces cannot be sent; default: nobody does
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
		return &rota.Error{Code: rota.Invalid, Field: "trace_sample", Reason: "is not a fraction", Hint: "give a number above 0 and up to 1, such as 0.1"}
	}
	_, err := endpoint(c.Endpoint)
	return err
}

// endpoint is the address of the traces at a service that may take more.
func endpoint(text string) (string, error) {
	u, err := url.Parse(text)
	reason := ""
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		reason = "is not a URL of HTTP"
	case u.User != nil:
		reason = "has a user or a password in it, which are not sent"
	case u.RawQuery != "" || u.Fragment != "":
		reason = "has more than an address"
	}
	if reason != "" {
		return "", &rota.Error{
			Code: rota.Invalid, Field: "otlp_endpoint", Reason: reason,
			Hint: "give an address such as http://127.0.0.1:4318, and what proves who you are in otlp_headers",
		}
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

const tracesPath = "/v1/traces"

// Provider makes spans.
type Provider struct {
	tracer trace.Tracer
	close  func(context.Context) error
}

// scope is what made a span, among all that make some in a process.
const scope = "github.com/rotajobs/rota/telemetry"

// New makes spans with a tracer provider that somebody else has set up, and will
// shut down.
func New(provider trace.TracerProvider) *Provider {
	return &Provider{tracer: provider.Tracer(scope), close: func(context.Context) error { return nil }}
}

// The bounds of what waits to be sent. Whoever makes a span never waits: what is
// too much is dropped.
const (
	waitingMax = 4_096
	sendEvery  = 2 * time.Second
	sendFor    = 20 * time.Second // a batch, tried again meanwhile
)

// Open makes spans and sends them to an endpoint, in batches. It connects when
// there is something to send; a receiver that is away costs spans and nothing else.
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
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendFor}))
	if err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Field: "otlp_endpoint", Reason: "traces cannot be sent there", Err: err}
	}
	about, err := config.resource(ctx)
	if err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Field: "OTEL_RESOURCE_ATTRIBUTES", Reason: "cannot be read", Err: err}
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&exporter{next: sender, logger: config.Logger},
			sdk.WithMaxQueueSize(waitingMax), sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendFor)),
		sdk.WithResource(about), sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(config.Sample))))
	p := New(provider)
	p.close = provider.Shutdown
	return p, nil
}

// resource is what all spans say of their process. What the environment says, as
// OpenTelemetry has it, comes before what we do.
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

// Close sends what waits, as long as ctx allows. Spans that end afterwards are
// dropped.
func (p *Provider) Close(ctx context.Context) error {
	if err := p.close(ctx); err != nil {
		return &rota.Error{Code: rota.Unavailable, Act: "telemetry", Reason: "some traces could not be sent in time, and are lost", Err: err}
	}
	return nil
}
