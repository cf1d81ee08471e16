package main

import (
	"context"
	"encoding/json"
	"fmt"
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
	count  int
}

func newEventsCommand(a *app) *cobra.Command {
	opts := eventOptions{count: eventsDefault}
	cmd := &cobra.Command{
		Use: "events", Short: "Prints what happened lately, or what happens", Args: noArgs(),
		Long: `Prints the newest of the events that the server remembers, which are those since it was started, as far as they
fit. With -f it prints what happens from now on, until it is interrupted, and goes on after a restart of the
server. JSON output has one object a line.`,
		Example: `  rota events
  rota events -n 500 --type mail.send
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
	flags.VarP(numberFlag{&opts.count, 1, recentMax}, "count", "n", fmt.Sprintf("print the newest `N`, 1-%d", recentMax))
	completeFrom(cmd, "count", nil)
	completeFrom(cmd, "kind", words)
	a.completeFlagNames(cmd, "type", "/types", "name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opts.follow && cmd.Flags().Changed("count") {
			return usagef("leave one of them out", "-n is for what happened, -f for what happens from now on")
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

// follow prints what happens until it is interrupted. A stream that breaks off is opened again where it stood.
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

// printEvents prints a stream until it ends, which is an error: it has no end.
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
	// recentMax is how far back is asked for: a little less than a server keeps, since it goes on meanwhile.
	recentMax = 16_000

	eventsDefault = 50
)

// printRecent prints the newest of what the server remembers.
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

// recentEvents reads what the server remembers. The stream begins by saying where it stands; a second one from before that
// is read until it has come there. It is read whole and filtered here, or its end could not be seen.
func (a *app) recentEvents(ctx context.Context, opts eventOptions) (found []event, err error) {
	last, err := a.lastEvent(ctx, opts.query()) // with the filter, so that the server refuses what is wrong with it
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
		v, err := decode[httpapi.Event](json.RawMessage(e.data))
		switch {
		case e.name == "reset":
			return append(found, e), nil
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

// lastEvent is the id of the newest event, which a stream says first.
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
	for _, part := range []string{firstNonEmpty(e.Name, e.Type, e.Schedule), firstNonEmpty(e.JobID.String(), e.GroupID.String(), e.ReservationID.String())} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if why := firstNonEmpty(e.Error, e.Detail); why != "" {
		parts = append(parts, firstLineShort(why))
	}
	return sanitize(strings.Join(parts, "  "))
}
