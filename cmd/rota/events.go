package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// eventOptions are the flags of one call.
type eventOptions struct {
	kinds  []string
	kind   string
	follow bool
}

func newEventsCommand(a *app) *cobra.Command {
	var opts eventOptions
	cmd := &cobra.Command{
		Use: "events", Short: "Prints what happened lately, or what happens", Args: nothing(),
		Long: `Prints the events that the server remembers, which are those since it was started, as far as they fit. With -f
it prints what happens from now on, until it is interrupted. JSON output has one object a line.`,
		Example: `  rota events
  rota events -f --kind job.failed,job.dead
  rota events -f --kind 'schedule.*' --output json`,
	}
	words := []string{"job.*", "schedule.*", "reservation.*"}
	for _, k := range rota.EventKinds {
		words = append(words, string(k))
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.follow, "follow", "f", false, "print what happens from now on")
	flags.StringSliceVar(&opts.kinds, "kind", nil, "only events of this `KIND`, such as job.failed or job.* (repeatable)")
	flags.StringVar(&opts.kind, "type", "", "only events of jobs of this `TYPE`")
	completeFrom(cmd, "kind", words)
	a.completeFlagNames(cmd, "type", "/types", "name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opts.follow {
			return a.follow(cmd.Context(), opts.query())
		}
		return a.recall(cmd.Context(), opts)
	}
	return cmd
}

func (o *eventOptions) query() url.Values {
	query := url.Values{}
	if len(o.kinds) > 0 {
		query.Set("kinds", strings.Join(o.kinds, ","))
	}
	if o.kind != "" {
		query.Set("type", o.kind)
	}
	return query
}

// match is the filter where the server cannot be asked to.
func (o *eventOptions) match(e httpapi.Event) bool {
	if o.kind != "" && e.Type != o.kind {
		return false
	}
	return len(o.kinds) == 0 || slices.ContainsFunc(o.kinds, func(asked string) bool {
		noun, all := strings.CutSuffix(asked, "*")
		return asked == e.Kind || all && strings.HasPrefix(e.Kind, noun)
	})
}

// stream opens the events after one that is known, or those to come.
func (a *app) stream(ctx context.Context, query url.Values, lastID string) (*bufio.Reader, io.Closer, error) {
	response, err := a.open(ctx, request{method: http.MethodGet, path: "/events", query: query, accept: "text/event-stream", lastID: lastID})
	if err != nil {
		return nil, nil, err
	}
	return bufio.NewReader(response.Body), response.Body, nil
}

// follow prints what happens until it is interrupted.
func (a *app) follow(ctx context.Context, query url.Values) error {
	events, body, err := a.stream(ctx, query, "")
	if err != nil {
		return err
	}
	defer body.Close()
	for {
		e, err := readEvent(events)
		switch {
		case errors.Is(err, io.EOF):
			return &exitError{code: exitUnavailable, err: errors.New("the server ended the stream"), hint: "it may be stopping; try again"}
		case err != nil:
			return a.lost(err)
		}
		if err := a.printEvent(e); err != nil {
			return err
		}
	}
}

// remembered is how far back is asked for: a little less than a server keeps, since it goes on meanwhile.
const remembered = 16_000

// recall prints what the server remembers. The stream begins by saying where it stands; a second one from before that is
// read until it has come there. It is read whole and filtered here, or its end could not be seen.
func (a *app) recall(ctx context.Context, opts eventOptions) error {
	last, err := a.lastEvent(ctx, opts.query()) // with the filter, so that the server refuses what is wrong with it
	if err != nil {
		return err
	}
	life, number, _ := strings.Cut(last, "-")
	newest, err := strconv.ParseUint(number, 10, 64)
	if err != nil || newest == 0 {
		return err
	}
	events, body, err := a.stream(ctx, nil, fmt.Sprintf("%s-%d", life, newest-min(newest, remembered)))
	if err != nil {
		return err
	}
	defer body.Close()
	for {
		e, err := readEvent(events)
		if err != nil {
			return a.lost(err)
		}
		if v, err := decode[httpapi.Event](json.RawMessage(e.data)); err != nil || e.name == "reset" || opts.match(v) {
			if err := errors.Join(err, a.printEvent(e)); err != nil {
				return err
			}
		}
		if e.id == last || e.name == "reset" {
			return nil
		}
	}
}

// lastEvent is the id of the newest event, which a stream says first.
func (a *app) lastEvent(ctx context.Context, query url.Values) (string, error) {
	events, body, err := a.stream(ctx, query, "")
	if err != nil {
		return "", err
	}
	defer body.Close()
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			return "", a.lost(err)
		}
		if id, found := strings.CutPrefix(line, "id:"); found {
			return strings.TrimSpace(id), nil
		}
	}
}

// event is one message of a stream.
type event struct{ id, name, data string }

// readEvent reads the next message. Lines that begin with a colon only keep the connection open.
func readEvent(r *bufio.Reader) (e event, err error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return event{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if e.data != "" {
				return e, nil
			}
			e = event{}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if e.data != "" {
				e.data += "\n"
			}
			e.data += value
		}
	}
}

func (a *app) printEvent(e event) error {
	if e.name == "reset" {
		_, err := fmt.Fprintln(a.err, "rota: some events are no longer remembered")
		return err
	}
	switch a.output {
	case formatJSON:
		_, err := fmt.Fprintln(a.out, e.data)
		return err
	case formatYAML:
		text, err := asYAML([]byte(e.data))
		if err == nil {
			_, err = fmt.Fprintf(a.out, "---\n%s", text)
		}
		return err
	}
	v, err := decode[httpapi.Event](json.RawMessage(e.data))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, eventLine(v))
	return err
}

// eventLine is one event for people: when, what, about what.
func eventLine(e httpapi.Event) string {
	parts := []string{e.At.UTC().Format("2006-01-02 15:04:05.000"), fmt.Sprintf("%-20s", e.Kind)}
	for _, part := range []string{firstText(e.Name, e.Type, e.Schedule), firstText(e.JobID.String(), e.GroupID.String(), e.ReservationID.String())} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if why := firstText(e.Error, e.Detail); why != "" {
		parts = append(parts, why)
	}
	return plainText(strings.Join(parts, "  "))
}
