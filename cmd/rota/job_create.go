package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

const jobCreateExample = `  rota job create noop
  rota job create report.build -p month=2026-11 -p draft=true --priority 10
  rota job create mail.send --params @mail.json --unique welcome-7    # a second call returns the same job
  rota job create --template nightly --at '2026-11-15 07:00' --tz Europe/Berlin
  rota job create sleep -p for=2s --wait -f                           # wait for its end and show its log`

// jobCreate holds the flags that are not simple fields of the request.
type jobCreate struct {
	kind            string
	template, scope string
	params          paramFlags
	wait, follow    bool
}

func newJobCreateCommand(a *app) *cobra.Command {
	var c jobCreate
	cmd := &cobra.Command{
		Use: "create [TYPE]", Short: "Create a job", Example: jobCreateExample, Args: optionalArg("a TYPE"),
		Long: `Create a job of a type or from a template. If another job holds the unique key, the command prints that job and creates
none. With --wait the command exits with 0 if the job or one of its retries completes, and with 1 if it does
not.`,
		ValidArgsFunction: a.completeNames("/types", "name"),
	}
	flags := cmd.Flags()
	flags.StringVar(&c.kind, "type", "", "`TYPE` of the job, instead of the argument")
	flags.StringVar(&c.template, "template", "", "create the job from the template `NAME` instead of a type")
	c.params.flags(cmd)
	s := newBodyFlags(cmd)
	s.policy()
	s.add("delay", "delay", "DURATION", "start the job this long from now at the earliest", asDuration)
	s.add("at", "run_at", "TIME", "start the job at this time: RFC 3339, or YYYY-MM-DD HH:MM in the zone of --tz or of this machine", asTime)
	s.add("plan", "plan_time", "TIME", "plan time of the job; a second job with the same name, scope and plan time is not created", asTime)
	s.add("unique", "unique_key", "KEY", "unique key; no other job of the type can have it at the same time", asText)
	s.add("unique-for", "unique_for", "DURATION", "how long the job holds its unique key (default: as long as the job is kept)", asDuration)
	s.add("key", "concurrency_key", "KEY", "concurrency key, which limits how many jobs run at once; see rota limits", asText)
	s.zoneFlag()
	flags.StringVar(&c.scope, "scope", "", "scope of the job, as `KIND=ID`")
	flags.BoolVar(&c.wait, "wait", false, "wait for the end of the job and its retries; exit with 1 if it does not complete")
	flags.BoolVarP(&c.follow, "follow", "f", false, "show the log of the job; needs --wait")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := c.body(a, args, s)
		if err != nil {
			return err
		}
		j, answer, err := create[api.Job](cmd.Context(), a, "/jobs", body)
		if err != nil {
			return err
		}
		a.warnUnhandled(cmd.Context(), j.Type)
		if c.wait {
			return a.awaitJob(cmd.Context(), j, c.follow)
		}
		return a.printMessage(answer, "%s %s%s", j.ID, a.stateText(j), a.startText(cmd, s.zone)) // the id is first, since other commands need it
	}
	return cmd
}

// body builds the request.
func (c *jobCreate) body(a *app, args []string, s *bodyFlags) (map[string]any, error) {
	kind := cmp.Or(append(args, c.kind)...)
	switch {
	case len(args) > 0 && c.kind != "" && c.kind != kind:
		return nil, usagef("remove one of them", "the argument and --type name different types")
	case c.follow && !c.wait:
		return nil, usagef("add --wait, or follow the log later with rota job logs -f ID", "--follow needs --wait")
	}
	body, err := typeOrTemplate("job create", kind, c.template)
	if err != nil {
		return nil, err
	}
	if err := setScope(body, c.scope); err != nil {
		return nil, err
	}
	if err := fillParams(a, body, "params", &c.params, s); err != nil {
		return nil, err
	}
	return body, refuseTwoTimes(body)
}

// typeOrTemplate returns a request that names what a command runs: a type or a template.
func typeOrTemplate(command, kind, template string) (map[string]any, error) {
	switch {
	case kind == "" && template == "":
		return nil, usagef("write rota "+command+" TYPE, or --template NAME", "%s needs a type or a template", command)
	case kind != "" && template != "":
		return nil, usagef("remove one of them; a template has a type", "%s has both the type %s and --template %s", command, shortened(kind), shortened(template))
	case template != "":
		return map[string]any{"template": template}, nil
	}
	return map[string]any{"type": kind}, nil
}

// warnUnhandled prints a warning if no server and no worker runs jobs of a type. After an error of its request only the
// warning is missing.
func (a *app) warnUnhandled(ctx context.Context, typ string) {
	if a.output != formatTable {
		return
	}
	t, _, err := fetch[api.Type](ctx, a, newGet("/types"+pathSegment(typ)))
	switch {
	case err != nil || !strings.HasPrefix(handledText(t), "nothing"):
	case t.Remote:
		fmt.Fprintln(a.err, "rota: this server leaves programs to remote workers, and none has asked it for jobs; if no other server or worker of this store runs them, the job waits until one does: rota worker --types exec")
	case typ == typeExec:
		fmt.Fprintln(a.err, "rota: this server does not run programs; another server or worker of this store may. If none does, the job waits until the configuration "+
			"of a server has the section exec, which rota exec setup proposes")
	default:
		fmt.Fprintf(a.err, "rota: neither this server nor a remote worker handles type %s; the job waits until one does\n", sanitize(typ))
	}
}

// setScope parses --scope into the body.
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

func readScope(text string) (api.Scope, error) {
	kind, id, found := strings.Cut(text, "=")
	if !found || kind == "" || id == "" {
		return api.Scope{}, usagef("write it like --scope user=7", "--scope %s is not of the form KIND=ID", shortened(text))
	}
	return api.Scope{Kind: kind, ID: id}, nil
}

// stateText describes the state of a job in a few words.
func (a *app) stateText(j api.Job) string {
	text := j.State
	if j.State == string(rota.StateScheduled) {
		text += ", starts " + a.ago(j.RunAt.Time)
	}
	if j.Duplicate {
		text += ", existed already"
	}
	return text
}
