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
	"github.com/rotajobs/rota/httpapi"
)

// caller talks to the server of a site as any program would. A request whose
// answer was lost, or that could not be served just now, it sends again, under
// the same key, to whatever life of the server comes next.
type caller struct {
	serverDir *serverDir
	where     func() (addr string, moved <-chan struct{}) // whom to ask: empty if nobody listens; moved is closed when he does no more
	patience  time.Duration                               // with one answer
	http      *http.Client
	token     func() string

	answered atomic.Int64
	resent   atomic.Int64
}

func newCaller(s *serverDir) *caller {
	c := &caller{serverDir: s, where: s.where, patience: requestTimeout, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	c.token = sync.OnceValue(func() string { // it is there when the server is
		text, _ := os.ReadFile(filepath.Join(s.data, "admin.token"))
		return strings.TrimSpace(string(text))
	})
	s.Cleanup(c.http.CloseIdleConnections)
	return c
}

// answer is what the server said at last.
type answer struct {
	status int
	body   []byte
}

// into reads the answer.
func (a answer) into(v any) error {
	if a.status >= 300 {
		return fmt.Errorf("status %d: %s", a.status, a.body)
	}
	return json.Unmarshal(a.body, v)
}

// refused reports whether the server said no, in one of the ways allowed.
func (a answer) refused(allowed ...int) bool { return slices.Contains(allowed, a.status) }

// requestTimeout is how long one answer may take. A foreign writer may hold the
// store for a while, and a direct run takes its time.
const requestTimeout = 20 * time.Second

// slow is what is worth a word if somebody wonders where the time went.
const slow = 8 * time.Second

// write sends a request until it is answered, each time under the same key.
func (c *caller) write(ctx context.Context, method, path string, body any) (answer, error) {
	return c.send(ctx, method, path, body, rota.NewID().String())
}

// read sends a request that changes nothing.
func (c *caller) read(ctx context.Context, path string, into any) error {
	a, err := c.send(ctx, http.MethodGet, path, nil, "")
	if err != nil {
		return err
	}
	return a.into(into)
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
		addr, moved := c.where()
		if addr != "" {
			began := time.Now()
			a, err := c.once(ctx, method, "http://"+addr+"/api/v1"+path, text, key)
			if took := time.Since(began); took > slow {
				c.serverDir.Logf("%s %s %s took %s: %d %v", method, path, text, took, a.status, err)
			}
			if err == nil && !shouldRetry(a, isClosed(moved)) {
				c.answered.Add(1)
				c.resent.Add(int64(min(tries, 1)))
				return a, nil
			}
		}
		select {
		case <-moved:
		case <-time.After(20 * time.Millisecond): // it may have been full, not gone
			if addr == "" {
				tries-- // nobody was asked
			}
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		}
	}
}

// shouldRetry reports whether an answer says to try again. Where the server is
// gone, its port may be another's.
func shouldRetry(a answer, gone bool) bool {
	return a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests ||
		gone && a.status == http.StatusUnauthorized
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *caller) once(ctx context.Context, method, url string, body []byte, key string) (answer, error) {
	ctx, done := context.WithTimeout(ctx, c.patience)
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

// must sends a request that is to be done.
func (c *caller) must(method, path string, body, into any) {
	c.serverDir.Helper()
	ctx, done := context.WithTimeoutCause(context.Background(), waitMax, errors.New("nobody answers"))
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

// get reads something that is to be there.
func (c *caller) get(path string, into any) {
	c.serverDir.Helper()
	ctx, done := context.WithTimeoutCause(context.Background(), waitMax, errors.New("nobody answers"))
	defer done()
	if err := c.read(ctx, path, into); err != nil {
		c.serverDir.Fatalf("GET %s: %v", path, err)
	}
}

// enqueue makes a job of type ledger.
func (c *caller) enqueue(params object, more object) httpapi.Job {
	c.serverDir.Helper()
	body := object{"type": "ledger", "params": params}
	for k, v := range more {
		body[k] = v
	}
	var job httpapi.Job
	c.must("POST", "/jobs", body, &job)
	return job
}

// object is a body as JSON has it.
type object = map[string]any

// until waits for something that the server can be asked for.
func (s *serverDir) until(what string, holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(waitMax); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("waited in vain until %s", what)
		}
	}
}

// waitUntilIdle waits until nothing lives in the store.
func (c *caller) waitUntilIdle() {
	c.serverDir.Helper()
	var last httpapi.Stats
	defer func() {
		if c.serverDir.Failed() {
			c.serverDir.Logf("at last: %+v", last)
		}
	}()
	c.serverDir.until("nothing is queued, waits or runs", func() bool {
		last = httpapi.Stats{}
		c.get("/stats", &last)
		return last.Queued+last.Scheduled+last.Blocked+last.Running == 0
	})
}
