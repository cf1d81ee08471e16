// Package apiclient sends requests to the HTTP API of a Rota server, for the command line, for workers and for package
// github.com/rotajobs/rota/client, which programs use. It builds the requests, decodes the answers and reads the problems of
// error responses; whether to send a request again is the decision of the caller.
package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// Base is the path of the API below the address of a server.
const Base = "/api/v1"

// Client sends requests to one server.
type Client struct {
	HTTP    *http.Client // see WithoutRedirects
	Address string       // URL of the server, without Base and without a trailing slash
	Token   string       // empty: none is sent
	Header  http.Header  // added to each request
}

// Request is one request to the API.
type Request struct {
	Method      string
	Path        string // below Base, each segment escaped
	Query       url.Values
	Body        any         // sent as JSON; nil: none
	Key         string      // idempotency key, the same when the request is sent again; empty: none
	Accept      string      // media type of the answer; empty: JSON
	LastEventID string      // last event received, to continue an event stream
	Header      http.Header // added to those of the client
}

// WithoutRedirects returns a client that follows no redirect: a person should learn that the server has moved, and the
// token must not reach another server.
func WithoutRedirects(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Send sends a request and returns the response with its open body. The error of a request that cannot be built is a
// rota.Error; any other error means that no answer arrived.
func (c *Client) Send(ctx context.Context, r Request) (*http.Response, error) {
	req, err := c.build(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.HTTP.Do(req)
}

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	var body bytes.Buffer
	if r.Body != nil {
		e := json.NewEncoder(&body)
		e.SetEscapeHTML(false) // embedded documents stay as they are
		if err := e.Encode(r.Body); err != nil {
			return nil, rota.Errorf(rota.Invalid, "", "cannot be written as JSON: %w", err)
		}
	}
	target := c.Address + Base + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target, &body)
	if err != nil {
		return nil, rota.Errorf(rota.Invalid, "", "%w", err)
	}
	c.setHeaders(req.Header, r)
	return req, nil
}

func (c *Client) setHeaders(h http.Header, r Request) {
	maps.Copy(h, c.Header)
	maps.Copy(h, r.Header)
	h.Set("Accept", cmp.Or(r.Accept, "application/json"))
	if r.Body != nil {
		h.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
	if r.Key != "" {
		h.Set("Idempotency-Key", r.Key)
	}
	if r.LastEventID != "" {
		h.Set("Last-Event-ID", r.LastEventID)
	}
}

// Problem decodes the problem of an error response. It returns nil for a response without one, which does not come from a
// Rota server.
func Problem(response *http.Response, text []byte) *api.Problem {
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var p api.Problem
	if response.StatusCode < 400 || media != "application/problem+json" || json.Unmarshal(text, &p) != nil {
		return nil
	}
	return &p
}
