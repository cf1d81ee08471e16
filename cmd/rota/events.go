package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// eventOptions holds the flags.
type eventOptions struct {
	kinds  []string
	kind   string
	follow bool
	count  int
}

func newEventsCommand(a *app) *cobra.Command {
	opts := eventOptions{count: eventsDefault}
	cmd := &cobra.Command{
		Use: "events", Short: "Print recent events, or follow new ones", Args: noArgs(),
		Long: `Print the newest events that the server keeps in memory. It keeps a limited number of events since its start, and the
events of other processes on the same store only while a client reads events. With -f the command prints new events of all
processes until it is interrupted, and continues after a restart of the server. JSON output has one object on each
line.`,
		Example: `  rota events
  rota events -n 500 --type mail.send
  rota events -f --kind job.failed,job.dead
  rota events -f --kind 'schedule.*' --output json`,
	}
	words := []string{"job.*", "schedule.*", "reservation.*", "node.*"}
	for _, k := range rota.EventKinds {
		words = append(words, string(k))
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.follow, "follow", "f", false, "print new events until interrupted")
	flags.StringSliceVar(&opts.kinds, "kind", nil, "only events of this `KIND`, such as job.failed or job.* (repeatable)")
	flags.StringVar(&opts.kind, "type", "", "only events of jobs of this `TYPE`")
	refuseEmpty(cmd, "kind", "type")
	flags.VarP(numberFlag(&opts.count, 1, recentMax), "count", "n", fmt.Sprintf("print the newest `N` events, 1 to %d", recentMax))
	completeFrom(cmd, "kind", words)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opts.follow && cmd.Flags().Changed("count") {
			return usagef("remove one of them", "-n counts past events and -f follows new ones; they cannot be combined")
		}
		if opts.follow {
			return a.follow(cmd.Context(), opts.query())
		}
		return a.printRecent(cmd.Context(), opts)
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

// match applies the filter in the client.
func (o *eventOptions) match(e api.Event) bool {
	if o.kind != "" && e.Type != o.kind {
		return false
	}
	return len(o.kinds) == 0 || slices.ContainsFunc(o.kinds, func(asked string) bool {
		noun, all := strings.CutSuffix(asked, "*")
		return asked == e.Kind || all && strings.HasPrefix(e.Kind, noun)
	})
}

// follow prints new events until it is interrupted. If the stream breaks, it opens another one after the last event.
func (a *app) follow(ctx context.Context, query url.Values) error {
	connection, lastID := reconnector{a: a}, ""
	for {
		events, err := a.stream(ctx, query, lastID)
		if err == nil {
			connection.connected()
			err = a.printEvents(events)
			events.body.Close()
			lastID = events.lastID
		}
		if err := connection.wait(ctx, err); err != nil {
			return err
		}
	}
}

// printEvents prints a stream until the connection breaks.
func (a *app) printEvents(events *eventStream) error {
	for {
		e, err := events.next()
		if err != nil {
			return a.connectionError(err, false)
		}
		if err := a.printEvent(e); err != nil {
			return err
		}
	}
}

const (
	// recentMax is how many events are requested: a little less than the server keeps, since new ones arrive meanwhile.
	recentMax = 16_000

	eventsDefault = 50
)

// printRecent prints the newest events that the server keeps.
func (a *app) printRecent(ctx context.Context, opts eventOptions) error {
	found, err := a.recentEvents(ctx, opts)
	if err != nil {
		return err
	}
	for _, e := range found[max(0, len(found)-opts.count):] {
		if err := a.printEvent(e); err != nil {
			return err
		}
	}
	return nil
}

// recentEvents reads the events that the server keeps. A first stream yields the id of the newest event; a second one
// starts recentMax events earlier and is read up to that id. The filter is applied here, since a filtered stream might
// not contain that event.
func (a *app) recentEvents(ctx context.Context, opts eventOptions) (found []event, err error) {
	last, err := a.lastEvent(ctx, opts.query()) // with the filter, so that the server checks it
	if err != nil {
		return nil, err
	}
	incarnation, number, _ := strings.Cut(last, "-")
	newest, err := strconv.ParseUint(number, 10, 64)
	if err != nil || newest == 0 {
		return nil, err
	}
	events, err := a.stream(ctx, nil, fmt.Sprintf("%s-%d", incarnation, newest-min(newest, recentMax)))
	if err != nil {
		return nil, err
	}
	defer events.body.Close()
	for {
		e, err := events.next()
		if err != nil {
			return nil, a.connectionError(err, false)
		}
		v, err := decode[api.Event](json.RawMessage(e.data))
		switch {
		case e.name == "reset":
			found = append(found, e)
			if _, number, _ := strings.Cut(e.id, "-"); number == "" || atLeast(number, newest) {
				return found, nil
			}
		case err != nil:
			return nil, err
		case opts.match(v):
			found = append(found, e)
		}
		if e.id == last {
			return found, nil
		}
	}
}

// atLeast reports whether the number of an event is at least another.
func atLeast(number string, other uint64) bool {
	n, err := strconv.ParseUint(number, 10, 64)
	return err != nil || n >= other
}

// lastEvent returns the id of the newest event, which every stream sends first.
func (a *app) lastEvent(ctx context.Context, query url.Values) (string, error) {
	events, err := a.stream(ctx, query, "")
	if err != nil {
		return "", err
	}
	defer events.body.Close()
	for events.lastID == "" {
		if _, err := events.message(); err != nil {
			return "", a.connectionError(err, false)
		}
	}
	return events.lastID, nil
}

func (a *app) printEvent(e event) error {
	if e.name == "reset" {
		lost, err := decode[struct{ Reason string }](json.RawMessage(e.data))
		if err == nil {
			_, err = fmt.Fprintln(a.err, "rota: some events are missing: "+sanitize(cmp.Or(lost.Reason, "the server no longer has them")))
		}
		return err
	}
	v, err := decode[api.Event](json.RawMessage(e.data))
	text := []byte(eventLine(v) + "\n")
	switch a.output {
	case formatJSON:
		text, err = escapeControls([]byte(e.data+"\n")), nil
	case formatYAML:
		text, err = asYAML([]byte(e.data))
		text = append([]byte("---\n"), text...)
	}
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

// eventLine formats an event: time, kind, name, id and details.
func eventLine(e api.Event) string {
	parts := []string{e.At.UTC().Format("2006-01-02 15:04:05.000"), fmt.Sprintf("%-20s", e.Kind)}
	for _, part := range []string{cmp.Or(e.Name, e.Type, e.Schedule), cmp.Or(e.JobID.String(), e.GroupID.String(), e.ReservationID.String())} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if why := cmp.Or(e.Error, e.Detail); why != "" {
		parts = append(parts, firstLineShort(why))
	}
	return sanitize(strings.Join(parts, "  "))
}
