package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/internal/apiclient"
)

func newJobLogsCommand(a *app) *cobra.Command {
	follow, raw := false, false
	cmd := &cobra.Command{
		Use: "logs ID|NAME", Short: "Print the log of a job", Args: requireArgs("an ID or a NAME"),
		Example: `  rota job logs 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60
  rota job logs nightly       # of the latest run of that name
  rota job logs ID -f         # follow it until the run ends`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.resolveLog(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			out := a.logWriter(raw)
			return errors.Join(a.copyLog(cmd.Context(), id, follow, out), out.Close())
		},
		ValidArgsFunction: a.completeNames("/jobs", "id"),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow the log until the run ends")
	cmd.Flags().BoolVar(&raw, "raw", false, "print control characters and escape sequences on a terminal, too; a pipe or a file always gets them")
	return cmd
}

const (
	reconnectTimeoutDefault = 30 * time.Second // longer than a restart of a server takes
	reconnectPause          = 200 * time.Millisecond
)

// reconnector limits how long a waiting command tries to reach a lost server.
type reconnector struct {
	a      *app
	lostAt time.Time // time of the first failed request; zero while the server answers
}

// wait handles the error of a request. It returns nil after a pause if the request should be sent again, or else the
// error.
func (c *reconnector) wait(ctx context.Context, err error) error {
	if exitCode(err) != exitUnavailable {
		return err
	}
	now := time.Now()
	if c.lostAt.IsZero() {
		c.lostAt = now
		fmt.Fprintln(c.a.err, "rota: the server does not answer; waiting for it to return")
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

// connected records that the server answers.
func (c *reconnector) connected() { c.lostAt = time.Time{} }

// copyLog writes the log of a run. If follow is true, it continues until the run ends, across restarts of the server.
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

// copyLogFrom writes the rest of a log. It reads the part that was written before a second time and discards it.
func (a *app) copyLogFrom(ctx context.Context, id string, follow bool, out *countingWriter, connection *reconnector) error {
	query := url.Values{}
	if follow {
		query.Set("follow", "true")
	}
	response, err := a.open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/jobs" + pathSegment(id) + "/log", Query: query, Accept: "text/plain"})
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
	case err == io.EOF: // the log is shorter than before: nothing is left to print
		return nil
	case err != nil:
		return a.connectionError(err, false)
	}
	return nil
}

// countingWriter counts the bytes written, and keeps the error of the underlying writer apart from errors of the
// reader.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

// Write writes and counts.
func (t *countingWriter) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(n)
	if err != nil {
		t.err = err
	}
	return n, err
}
