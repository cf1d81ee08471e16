package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	reconnectTimeoutDefault = 30 * time.Second // as long as a server needs to be started again, and then some
	reconnectPause          = 200 * time.Millisecond
)

// reconnector is the patience with a server that went away while something of it was waited for.
type reconnector struct {
	a      *app
	lostAt time.Time // since when; zero: it is there
}

// wait takes what came in place of an answer. It returns after a pause if it is worth asking again, and else the error.
func (c *reconnector) wait(ctx context.Context, err error) error {
	if exitCode(err) != exitUnavailable {
		return err
	}
	now := time.Now()
	if c.lostAt.IsZero() {
		c.lostAt = now
		fmt.Fprintln(c.a.err, "rota: the server is gone; waiting for it to come back")
	}
	timeout := c.a.reconnectTimeout
	if timeout == 0 {
		timeout = reconnectTimeoutDefault
	}
	if now.Sub(c.lostAt) >= timeout {
		return err
	}
	return sleep(ctx, reconnectPause)
}

// connected notes that it answers.
func (c *reconnector) connected() { c.lostAt = time.Time{} }

// copyLog writes the log of a run, if asked to until the run has ended, over a restart of the server if need be.
func (a *app) copyLog(ctx context.Context, id string, follow bool, w io.Writer) error {
	out, connection := &countingWriter{w: w}, reconnector{a: a}
	for {
		err := a.copyLogFrom(ctx, id, follow, out, &connection)
		if err == nil || !follow || out.err != nil {
			return err
		}
		if err := connection.wait(ctx, err); err != nil {
			return err
		}
	}
}

// copyLogFrom writes what of a log was not written yet: what was is read once more and dropped.
func (a *app) copyLogFrom(ctx context.Context, id string, follow bool, out *countingWriter, connection *reconnector) error {
	query := url.Values{}
	if follow {
		query.Set("follow", "true")
	}
	response, err := a.open(ctx, request{method: http.MethodGet, path: "/jobs" + pathSegment(id) + "/log", query: query, accept: "text/plain"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	connection.connected()
	_, err = io.CopyN(io.Discard, response.Body, out.n)
	if err == nil {
		_, err = io.Copy(out, response.Body)
	}
	switch {
	case out.err != nil:
		return out.err
	case err == io.EOF: // less than there was: nothing is left to show
		return nil
	case err != nil:
		return a.connectionError(err, false)
	}
	return nil
}

// countingWriter is a writer that knows how much went through it, and whether it was it that failed.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

// Write counts what is taken.
func (t *countingWriter) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(n)
	if err != nil {
		t.err = err
	}
	return n, err
}
