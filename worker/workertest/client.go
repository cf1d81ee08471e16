//go:build unix

package workertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

// Object is a JSON body.
type Object = map[string]any

// Client sends requests to the server of a cluster. It repeats a request that was not
// answered, with the same idempotency key.
type Client struct {
	Header http.Header // added to each request

	t     testing.TB
	url   string
	token func() string
	http  *http.Client
}

func newClient(t testing.TB, url string, token func() string) Client {
	c := Client{http.Header{}, t, url, token, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// Must sends a request until it is answered, and fails the test if it is refused.
func (c *Client) Must(method, path string, body, into any) {
	c.t.Helper()
	status, text := c.Send(method, path, body)
	if status >= http.StatusMultipleChoices {
		c.t.Fatalf("%s %s: status %d: %s", method, path, status, text)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
}

// Send sends a request until it is answered, and returns the answer.
func (c *Client) Send(method, path string, body any) (status int, text []byte) {
	c.t.Helper()
	ctx, done := context.WithTimeout(context.Background(), WaitMax)
	defer done()
	r := apiclient.Request{Method: method, Path: path, Body: body}
	if method != http.MethodGet {
		r.Key = rota.NewID().String()
	}
	var err error
	for {
		status, text, err = c.once(ctx, r)
		if err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
			return status, text
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			c.t.Fatalf("%s %s: no answer: %v %d %s", method, path, err, status, text)
		}
	}
}

func (c *Client) once(ctx context.Context, r apiclient.Request) (int, []byte, error) {
	ctx, done := context.WithTimeout(ctx, WaitMax/2)
	defer done()
	server := apiclient.Client{HTTP: c.http, Address: c.url, Token: c.token(), Header: c.Header}
	answer, err := server.Send(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// Enqueue creates a job. Its retries are not delayed.
func (c *Client) Enqueue(typ string, params any, more Object) api.Job {
	c.t.Helper()
	body := Object{"type": typ, "params": params, "backoff": "1ms"}
	for k, v := range more {
		body[k] = v
	}
	var job api.Job
	c.Must(http.MethodPost, "/jobs", body, &job)
	return job
}

// Job returns a job.
func (c *Client) Job(id api.ID) (job api.Job) {
	c.t.Helper()
	c.Must(http.MethodGet, "/jobs/"+id.String(), nil, &job)
	return job
}

// Execution returns an execution with its attempts.
func (c *Client) Execution(id api.ID) (e api.ExecutionDetail) {
	c.t.Helper()
	c.Must(http.MethodGet, "/executions/"+id.String(), nil, &e)
	return e
}

// AwaitEnd waits until the execution of a job has ended.
func (c *Client) AwaitEnd(job api.Job) (e api.ExecutionDetail) {
	c.t.Helper()
	Eventually(c.t, fmt.Sprintf("%s %s has ended", job.Type, job.ID), func() bool {
		e = c.Execution(job.ExecutionID)
		switch e.State {
		case "completed", "dead", "skipped", "cancelled":
			return true
		}
		return false
	})
	return e
}

// LogOf returns the log of the run of a job.
func (c *Client) LogOf(id api.ID) string {
	c.t.Helper()
	status, text := c.Send(http.MethodGet, "/jobs/"+id.String()+"/log", nil)
	if status != http.StatusOK {
		c.t.Fatalf("the log of %s: status %d: %s", id, status, text)
	}
	return string(text)
}

// WorkerToken creates a user and a token of scope worker, as docs/users.md tells to.
func (c *Client) WorkerToken(user string) string {
	c.t.Helper()
	c.Must(http.MethodPost, "/users", Object{"name": user}, nil)
	var made api.TokenCreated
	c.Must(http.MethodPost, "/tokens", Object{"user": user, "scope": "worker"}, &made)
	return made.Token
}

// Verify checks the invariants of the store.
func (c *Client) Verify() {
	c.t.Helper()
	var found api.Verification
	c.Must(http.MethodGet, "/verify", nil, &found)
	for _, v := range found.Violations {
		c.t.Errorf("the store violates %s: %s", v.Check, v.Detail)
	}
}

// JobOf returns the job with an id.
func (c *Client) JobOf(id rota.ID) api.Job {
	c.t.Helper()
	return c.Job(api.ID{ID: id})
}
