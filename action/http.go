package action

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/payload"
)

// HTTP is a request and the expected statuses.
type HTTP struct {
	Method  string                `json:"method,omitempty" jsonschema:"enum=GET,enum=HEAD,enum=POST,enum=PUT,enum=PATCH,enum=DELETE,enum=OPTIONS,description=default GET"`
	URL     payload.URL           `json:"url" jsonschema:"description=where it goes"`
	Headers payload.SecretHeaders `json:"headers,omitempty"`
	Body    json.RawMessage       `json:"body,omitempty" jsonschema:"description=a text is sent as it is\\, anything else as JSON"`
	Expect  Expect                `json:"expect,omitempty"`
}

// JobType names the type.
func (HTTP) JobType() string { return "http" }

// Config of the types.
type Config struct {
	Guard   *Guard           // what requests may reach; nil: the open internet
	Version string           // of the server, sent in User-Agent
	Clock   func() time.Time // nil: time.Now

	Targets map[string]Target // the databases of sql and call, by name; main always exists
	Data    string            // base directory of relative paths of targets; empty: the working directory
	Store   string            // file of the store, which jobs may not use; empty: the store is not a file

	Commands *Commands // runs the programs of exec jobs; nil: the jobs are left to other servers and workers

	// Access has the users whose rights decide which login of a target a job uses, and whether it may run programs. Nil: a program without users, whose jobs
	// may use every login.
	Access *access.Directory
}

func (c Config) withDefaults() Config {
	if c.Guard == nil {
		c.Guard = &Guard{}
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// DefaultHTTPTimeout is the timeout of a request whose job has none: a server that
// never answers must not occupy a worker for ever.
const DefaultHTTPTimeout = 5 * time.Minute

// Register registers the types http, sql and call, and exec if there are Commands.
func Register(reg *engine.Registry, config Config) {
	config = config.withDefaults()
	c := &requestRunner{Config: config, transport: config.Guard.transport()}
	engine.Handle(reg, c.run, engine.WithTimeout(DefaultHTTPTimeout),
		engine.WithDescription("sends an HTTP request, and fails if the answer is not what was expected"))
	r := newRunner(reg, config)
	engine.Handle(reg, r.sql, engine.WithDescription("runs statements in a database, exactly once, in a transaction of their own"))
	engine.Handle(reg, r.call, engine.WithDescription("calls a procedure of a database, or a handler of this server"))
	if config.Commands != nil {
		RegisterExec(reg, config.Commands, config.Access)
	}
}

// requestRunner sends the requests of jobs.
type requestRunner struct {
	Config
	transport http.RoundTripper
}

func (c *requestRunner) run(ctx context.Context, p HTTP) error {
	r, err := c.request(ctx, &p)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: c.transport, CheckRedirect: redirectPolicy(p.Expect)}
	begun := time.Now()
	res, err := client.Do(r)
	if err != nil {
		return c.logRequest(ctx, r, nil, begun, permanentIfRefused(requestError(ctx, r.URL.Host, err)))
	}
	defer res.Body.Close()
	answer, err := readAnswer(ctx, res)
	if err != nil {
		return c.logRequest(ctx, r, res, begun, requestError(ctx, r.URL.Host, err))
	}
	answer.DurationMS = time.Since(begun).Milliseconds()
	if err := engine.Result(ctx, answer.fit(ctx)); err != nil {
		return err
	}
	return c.logRequest(ctx, r, res, begun, c.checkStatus(r, res, p.Expect))
}

// permanentIfRefused makes a refusal of the guard permanent: it lasts until the server
// is configured otherwise.
func permanentIfRefused(err error) error {
	if isRefused(err) {
		return rota.Permanent(err)
	}
	return err
}

// request builds the request from the params, which the engine has checked against
// their schema.
func (c *requestRunner) request(ctx context.Context, p *HTTP) (*http.Request, error) {
	u, err := p.URL.Parse()
	if err != nil {
		return nil, permanentFailure(codeParams, "url: %w", err)
	}
	body, kind := p.content()
	r, err := http.NewRequestWithContext(ctx, orDefault(p.Method, http.MethodGet), u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, permanentFailure(codeParams, "the request cannot be made: %s", brief(err.Error()))
	}
	if len(body) == 0 {
		r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0
	}
	r.Header.Set("User-Agent", "rota/"+c.Version)
	r.Header.Set("Idempotency-Key", engine.IdempotencyKey(ctx))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range p.Headers {
		if value, err = withSecrets(ctx, value); err != nil {
			return nil, err
		}
		r.Header.Set(name, value)
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
		r.Header.Del("Host")
	}
	return r, nil
}

// content is the body as it is sent, and its type.
func (p *HTTP) content() (body []byte, kind string) {
	if len(p.Body) == 0 || string(p.Body) == "null" {
		return nil, ""
	}
	var text string
	if json.Unmarshal(p.Body, &text) == nil {
		return []byte(text), "text/plain; charset=utf-8"
	}
	return p.Body, "application/json"
}

// checkStatus decides from the status whether the run succeeds, is retried or fails. An
// error of the request itself is permanent. So is an unexpected success or redirect,
// because the request has already been processed.
func (c *requestRunner) checkStatus(r *http.Request, res *http.Response, expect Expect) error {
	if expect.Has(res.StatusCode) {
		return nil
	}
	err := failed(statusCode(res.StatusCode), "%s %s returned %s; expected %s", r.Method, r.URL.Host, statusText(res.StatusCode), expect)
	if !retryable(res.StatusCode) {
		return rota.Permanent(err)
	}
	if at, ok := retryAfter(res.Header.Get("Retry-After"), c.Clock()); ok {
		return rota.RetryAt(at, err)
	}
	return err
}

func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// logRequest writes one line about the request to the log of the run. It omits what may
// be secret: headers, bodies, and the URL except its host.
func (c *requestRunner) logRequest(ctx context.Context, r *http.Request, res *http.Response, begun time.Time, err error) error {
	facts := []any{"method", r.Method, "host", r.URL.Host}
	if res != nil {
		facts = append(facts, "status", res.StatusCode)
		if last := res.Request.URL.Host; last != r.URL.Host {
			facts = append(facts, "redirected_to", last)
		}
	}
	facts = append(facts, "duration", time.Since(begun).Round(time.Millisecond).String())
	if err != nil {
		engine.Log(ctx).Error("http", append(facts, "error", err.Error())...)
		return err
	}
	engine.Log(ctx).Info("http", facts...)
	return nil
}

func orDefault(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}

// withSecrets replaces ${secret:KEY} in the value of a header by a secret of the template of the job.
func withSecrets(ctx context.Context, text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${secret:")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		key, after, closed := strings.Cut(rest, "}")
		if err := rota.CheckSecretKey("headers", key); !closed || err != nil {
			return "", permanentFailure(codeParams, "headers: a reference to a secret is ${secret:KEY}, with a key of letters, digits and _")
		}
		value, err := engine.Secret(ctx, key)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
			return "", rota.Permanent(err)
		case err != nil:
			return "", err
		case strings.ContainsAny(value, "\r\n\x00"):
			return "", permanentFailure(codeParams, "headers: secret %s has a line break, which a header cannot contain", key)
		}
		b.WriteString(value)
		text = after
	}
}
