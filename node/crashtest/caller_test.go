//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// caller is an HTTP client of a server. It repeats a request whose answer was lost or
// that the server could not serve, with the same idempotency key, also to a later
// incarnation of the server.
type caller struct {
	serverDir *serverDir
	address   func() (addr string, changed <-chan struct{}) // address of a server, empty if none listens; changed is closed when it changes
	timeout   time.Duration                                 // time limit of one request
	http      *http.Client
	token     func() string

	answered atomic.Int64 // requests that were answered
	resent   atomic.Int64 // answered requests that were sent more than once
}

func newCaller(s *serverDir) *caller {
	c := &caller{serverDir: s, address: s.address, timeout: requestTimeout, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	c.token = sync.OnceValue(func() string { // the file exists once the server has started
		text, _ := os.ReadFile(filepath.Join(s.data, "admin.token"))
		return strings.TrimSpace(string(text))
	})
	s.Cleanup(c.http.CloseIdleConnections)
	return c
}

// answer is the final answer of the server.
type answer struct {
	status int
	body   []byte
}

// decode decodes the body of the answer. A status of 300 or more is an error.
func (a answer) decode(v any) error {
	if a.status >= 300 {
		return fmt.Errorf("status %d: %s", a.status, a.body)
	}
	return json.Unmarshal(a.body, v)
}

// hasStatus reports whether the answer has one of the allowed statuses.
func (a answer) hasStatus(allowed ...int) bool { return slices.Contains(allowed, a.status) }

// requestTimeout is the time limit of one request. Another writer may hold the store
// for a while, and a direct run takes time.
const requestTimeout = 20 * time.Second

// slowRequest is the duration from which a request is logged.
const slowRequest = 8 * time.Second

// write sends a request until it is answered, each time with the same idempotency key.
func (c *caller) write(ctx context.Context, method, path string, body any) (answer, error) {
	return c.send(ctx, method, path, body, rota.NewID().String())
}

// read sends a request that changes nothing.
func (c *caller) read(ctx context.Context, path string, into any) error {
	a, err := c.send(ctx, http.MethodGet, path, nil, "")
	if err != nil {
		return err
	}
	return a.decode(into)
}

func (c *caller) send(ctx context.Context, method, path string, body any, key string) (answer, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	for tries := 0; ; tries++ {
		addr, changed := c.address()
		if addr != "" {
			began := time.Now()
			a, err := c.sendOnce(ctx, method, "http://"+addr+"/api/v1"+path, text, key)
			if took := time.Since(began); took > slowRequest {
				c.serverDir.Logf("%s %s %s took %s: %d %v", method, path, text, took, a.status, err)
			}
			if err == nil && !shouldRetry(a, isClosed(changed)) {
				c.answered.Add(1)
				c.resent.Add(int64(min(tries, 1)))
				return a, nil
			}
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond): // a busy server answers later at the same address
			if addr == "" {
				tries-- // no server received the request
			}
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		}
	}
}

// shouldRetry reports whether the caller sends the request again. If the server has
// ended, another program may have answered on its port.
func shouldRetry(a answer, ended bool) bool {
	return a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests ||
		ended && a.status == http.StatusUnauthorized
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *caller) sendOnce(ctx context.Context, method, url string, body []byte, key string) (answer, error) {
	ctx, done := context.WithTimeout(ctx, c.timeout)
	defer done()
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token())
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, text}, err
}

// mustWrite sends a request with an idempotency key and fails the test if the server
// refuses it.
func (c *caller) mustWrite(method, path string, body, into any) {
	c.serverDir.Helper()
	ctx, done := context.WithTimeoutCause(context.Background(), waitMax, errors.New("no server answers"))
	defer done()
	a, err := c.write(ctx, method, path, body)
	if err == nil && a.status >= 300 {
		err = fmt.Errorf("status %d: %s", a.status, a.body)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(a.body, into)
	}
	if err != nil {
		c.serverDir.Fatalf("%s %s: %v", method, path, err)
	}
}

// mustRead reads a resource and fails the test if it does not exist.
func (c *caller) mustRead(path string, into any) {
	c.serverDir.Helper()
	ctx, done := context.WithTimeoutCause(context.Background(), waitMax, errors.New("no server answers"))
	defer done()
	if err := c.read(ctx, path, into); err != nil {
		c.serverDir.Fatalf("GET %s: %v", path, err)
	}
}

// enqueue enqueues a job of type ledger.
func (c *caller) enqueue(params object, more object) api.Job {
	c.serverDir.Helper()
	body := object{"type": "ledger", "params": params}
	for k, v := range more {
		body[k] = v
	}
	var job api.Job
	c.mustWrite("POST", "/jobs", body, &job)
	return job
}

// object is a JSON object.
type object = map[string]any

// waitUntil waits until a condition holds.
func (s *serverDir) waitUntil(what string, holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(waitMax); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("timed out waiting until %s", what)
		}
	}
}

// waitUntilIdle waits until all jobs of the store have ended.
func (c *caller) waitUntilIdle() {
	c.serverDir.Helper()
	var last api.Stats
	defer func() {
		if c.serverDir.Failed() {
			c.serverDir.Logf("last stats: %+v", last)
			c.logWaiting()
		}
	}()
	c.serverDir.waitUntil("all jobs have ended", func() bool {
		last = api.Stats{}
		c.mustRead("/stats", &last)
		return last.Queued+last.Scheduled+last.Blocked+last.Running == 0
	})
}

// logWaiting logs the jobs that have not ended, and why they do not run.
func (c *caller) logWaiting() {
	ctx, done := context.WithTimeout(context.Background(), requestTimeout)
	defer done()
	for _, state := range []rota.State{rota.StateQueued, rota.StateScheduled, rota.StateBlocked, rota.StateRunning} {
		var jobs struct{ Items []api.Job }
		if err := c.read(ctx, "/jobs?state="+string(state), &jobs); err != nil {
			c.serverDir.Logf("%s jobs: %v", state, err)
		}
		for _, job := range jobs.Items {
			var reasons json.RawMessage
			_ = c.read(ctx, "/jobs/"+job.ID.String()+"/explain", &reasons)
			c.serverDir.Logf("%+v\nexplained: %s", job, reasons)
		}
	}
}
