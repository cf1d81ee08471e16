package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

const jobCreateExample = `  rota job create noop
  rota job create report.build -p month=2026-11 -p draft=true --priority 10
  rota job create mail.send --params @mail.json --unique welcome-7    # again: the same job
  rota job create --template nightly --at '2026-11-15 07:00' --tz Europe/Berlin
  rota job create sleep -p for=2s --wait -f                           # wait for its end, show its log`

// jobCreate is the flags of one call that are no fields of the request.
type jobCreate struct {
	kind            string
	template, scope string
	params          paramFlags
	wait, follow    bool
}

func newJobCreateCommand(a *app) *cobra.Command {
	var c jobCreate
	cmd := &cobra.Command{
		Use: "create [TYPE]", Short: "Puts a job into the queue", Example: jobCreateExample, Args: optionalArg("a TYPE"),
		Long: `Puts a job of a type, or made from a template, into the queue. With a unique key that is taken it answers with
the job that holds it. With --wait it exits with 0 if the job, or one of its retries, completed, and with 1
if it did not.`,
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
	flags := cmd.Flags()
	flags.StringVar(&c.kind, "type", "", "the `TYPE`, if it is not given as the argument")
	a.completeFlagNames(cmd, "type", "/types", "name")
	flags.StringVar(&c.template, "template", "", "make it from the template `NAME` instead of a TYPE")
	a.completeFlagNames(cmd, "template", "/templates", "name")
	c.params.flags(cmd)
	s := newBodyFlags(cmd)
	s.policy()
	s.add("delay", "delay", "start it not before `DURATION` from now", asDuration)
	s.add("at", "run_at", "start it not before `TIME`: RFC 3339, or YYYY-MM-DD HH:MM on this machine's clock or that of --tz", asTime)
	s.add("plan", "plan_time", "the `TIME` that it is for; a second one for the same is the first", asTime)
	s.add("unique", "unique_key", "`KEY` that no other job of the type may have meanwhile", asText)
	s.add("unique-for", "unique_for", "hold the key for `DURATION`, not as long as the job is kept", asDuration)
	s.add("key", "concurrency_key", "`KEY` whose jobs at once are limited", asText)
	s.zoneFlag()
	flags.StringVar(&c.scope, "scope", "", "what it is for, as `KIND=ID`")
	completeFrom(cmd, "scope", nil)
	flags.BoolVar(&c.wait, "wait", false, "wait for its end, retries included; exit 1 if it did not complete")
	flags.BoolVarP(&c.follow, "follow", "f", false, "with --wait, show its log")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := c.body(a, args, s)
		if err != nil {
			return err
		}
		answer, err := a.create(cmd.Context(), "/jobs", body)
		if err != nil {
			return err
		}
		a.warnUnhandled(cmd.Context(), answer)
		if c.wait {
			return a.awaitJob(cmd.Context(), answer, c.follow)
		}
		return a.printEnqueued(answer)
	}
	return cmd
}

// body is the request.
func (c *jobCreate) body(a *app, args []string, s *bodyFlags) (map[string]any, error) {
	kind := firstNonEmpty(append(args, c.kind)...)
	switch {
	case kind == "" && c.template == "":
		return nil, usagef("write rota job create TYPE, or --template NAME", "job create needs a type or a template")
	case len(args) > 0 && c.kind != "" && c.kind != kind:
		return nil, usagef("leave one of them out", "two types are given")
	case kind != "" && c.template != "":
		return nil, usagef("leave one of them out", "a job is made of a type or from a template, not of both")
	case c.follow && !c.wait:
		return nil, usagef("add --wait, or look later with rota job logs -f", "--follow shows the log of a job that is waited for")
	}
	body := map[string]any{}
	if c.template != "" {
		body["template"] = c.template
	} else {
		body["type"] = kind
	}
	if err := setScope(body, c.scope); err != nil {
		return nil, err
	}
	params, err := c.params.read(a)
	if err != nil {
		return nil, err
	}
	if params != nil {
		body["params"] = params
	}
	return body, s.fill(body)
}

// warnUnhandled tells a person that nobody is there to run what was put into the queue.
func (a *app) warnUnhandled(ctx context.Context, answer json.RawMessage) {
	j, err := decode[httpapi.Job](answer)
	if err != nil || a.output != formatTable {
		return
	}
	if answer, err = a.get(ctx, "/types"+pathSegment(j.Type), nil); err != nil {
		return // the job is there all the same
	}
	if t, err := decode[httpapi.Type](answer); err == nil && !t.Handled && t.Workers == 0 {
		fmt.Fprintf(a.err, "rota: neither this server nor a worker elsewhere handles type %s; it waits until one does\n", sanitize(j.Type))
	}
}

// setScope reads --scope.
func setScope(body map[string]any, text string) error {
	if text == "" {
		return nil
	}
	scope, err := readScope(text)
	if err == nil {
		body["scope_kind"], body["scope_id"] = scope.Kind, scope.ID
	}
	return err
}

func readScope(text string) (httpapi.Scope, error) {
	kind, id, found := strings.Cut(text, "=")
	if !found || kind == "" || id == "" {
		return httpapi.Scope{}, usagef("write it like --scope user=7", "--scope %s is not a kind and an id", shortened(text))
	}
	return httpapi.Scope{Kind: kind, ID: id}, nil
}

// printEnqueued tells what came of a new job, its id first, since that is what the next command wants.
func (a *app) printEnqueued(answer json.RawMessage) error {
	j, err := decode[httpapi.Job](answer)
	if err != nil {
		return err
	}
	return a.print(answer, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, sanitize(j.ID.String()+" "+a.stateText(j)))
		return err
	})
}

// stateText is how a job stands, in a few words.
func (a *app) stateText(j httpapi.Job) string {
	text := j.State
	if j.State == string(rota.StateScheduled) {
		text += ", starts " + a.ago(j.RunAt.Time)
	}
	if j.Duplicate {
		text += ", the first of its key"
	}
	return text
}
