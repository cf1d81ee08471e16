package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/crontab"
	"github.com/rotajobs/rota/httpapi"
)

const importCrontabLong = `Reads a crontab and says what would become of each line: a template and a schedule of one name, made from the
program and what it runs, so that the same crontab read again changes nothing. With --apply they are made, all or
none. Of what is there already only the command, the times and the zone are changed.

Lines are run as cron would run them: no retries, no time-out, nothing caught up with. They become jobs of type exec,
which no server runs until external commands are configured, or of the --type of a worker of yours; until then
their schedules are PAUSED, unless you say --enable.

What cannot be taken over is refused with its line; then nothing is written and the exit code is 3, unless
--skip-refused says to go on without those lines. See docs/migrating.md for what is different.`

const importCrontabExample = `  crontab -l | rota import crontab -
  rota import crontab /etc/crontab --tz Europe/Berlin
  crontab -l | rota import crontab - --prefix web1. --apply
  rota import crontab jobs.cron --type shell --enable --apply     # to a worker of your own`

// crontabOptions are the flags of one call.
type crontabOptions struct {
	system, user               bool
	zone, prefix, kind         string
	apply, enable, skipRefused bool
}

func newImportCrontabCommand(a *app) *cobra.Command {
	var o crontabOptions
	cmd := &cobra.Command{
		Use: "crontab FILE", Short: "Makes schedules of the lines of a crontab", Args: requireArgs("a FILE"),
		Long: importCrontabLong, Example: importCrontabExample, ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error { return a.importCrontab(cmd.Context(), args[0], o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.apply, "apply", false, "make them; else it is only said what would be made")
	flags.BoolVar(&o.system, "system", false, "lines name their user, as in /etc/crontab (default: guessed)")
	flags.BoolVar(&o.user, "user", false, "lines name no user, as crontab -l prints them (default: guessed)")
	flags.StringVar(&o.zone, "tz", "", "IANA `ZONE` of the times where CRON_TZ names none (default this machine's)")
	completeZones(cmd)
	flags.StringVar(&o.prefix, "prefix", "", "begin every name with `TEXT`, such as the name of the machine")
	completeFrom(cmd, "prefix", nil)
	flags.StringVar(&o.kind, "type", typeExec, "the `TYPE` that runs the commands")
	a.completeFlagNames(cmd, "type", "/types", "name")
	flags.BoolVar(&o.enable, "enable", false, "let schedules fire although no server here runs their type")
	flags.BoolVar(&o.skipRefused, "skip-refused", false, "go on without the lines that are refused")
	return cmd
}

// typeExec is the built-in type that runs commands of the machine.
const typeExec = "exec"

func (o *crontabOptions) form() crontab.Form {
	switch {
	case o.system:
		return crontab.FormSystem
	case o.user:
		return crontab.FormUser
	}
	return crontab.FormGuess
}

func (a *app) importCrontab(ctx context.Context, file string, o crontabOptions) error {
	if o.system && o.user {
		return usagef("leave one of them out", "--system and --user exclude each other")
	}
	text, err := a.fileText(file)
	if err != nil {
		return err
	}
	zone, err := a.crontabZone(o.zone)
	if err != nil {
		return err
	}
	m := &crontabImport{a: a, crontabOptions: o, file: fileName(file), read: crontab.Parse(text, crontab.Config{Name: file, Form: o.form()}), zone: zone}
	m.checkEntries()
	if err := m.compare(ctx); err != nil {
		return err
	}
	refused := len(m.refused) > 0 && !o.skipRefused
	if o.apply && !refused && len(m.lines) > 0 {
		if err := m.write(ctx); err != nil {
			return err
		}
	}
	if err := a.print(m.view(), func(w io.Writer) error { return m.print(w) }); err != nil {
		return err
	}
	if refused {
		hint := "mend them, or go on without them: --skip-refused"
		return &exitError{code: exitNotClean, err: errors.New(plural(len(m.refused), "line is refused", "lines are refused") + "; nothing was written"), hint: hint}
	}
	return nil
}

// compare compares what would be made with what the server has. To say what would be made takes none.
func (m *crontabImport) compare(ctx context.Context) error {
	answer, err := m.a.get(ctx, "/definitions", nil)
	if exitCode(err) == exitUnavailable && !m.apply {
		m.offline = err
		m.declare(httpapi.Definitions{}, false)
		return nil
	}
	if err != nil {
		return err
	}
	stored, err := decode[httpapi.Definitions](answer)
	if err != nil {
		return err
	}
	handled, err := m.handled(ctx)
	if err != nil {
		return err
	}
	m.declare(stored, handled)
	if m.missing || len(m.lines) == 0 {
		return nil
	}
	return m.put(ctx, true)
}

// handled asks whether the server runs the type of the commands. One that nobody declared is said once, and only a dry
// run goes on with it.
func (m *crontabImport) handled(ctx context.Context) (bool, error) {
	answer, err := m.a.get(ctx, "/types"+pathSegment(m.kind), nil)
	var refused *exitError
	if errors.As(err, &refused) && refused.code == exitNotFound {
		m.missing = true
		if m.apply {
			refused.hint = "declare it first: rota type put " + m.kind
			return false, refused
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	kind, err := decode[httpapi.Type](answer)
	return kind.Handled && m.kind != typeExec, err
}

func (m *crontabImport) write(ctx context.Context) error {
	if err := m.put(ctx, false); err != nil {
		return err
	}
	m.applied = true
	return nil
}

// put sends what was made of the lines, and notes what becomes of each.
func (m *crontabImport) put(ctx context.Context, dry bool) error {
	answer, err := m.a.putDefinitions(ctx, m.definitions, dry)
	if err != nil {
		return m.withLines(err)
	}
	put, err := decode[httpapi.DefinitionsPut](answer)
	if err != nil {
		return err
	}
	changes := map[string][]httpapi.DefinitionChange{}
	for _, item := range put.Items {
		changes[item.Name] = append(changes[item.Name], item)
	}
	for i := range m.lines {
		l := &m.lines[i]
		l.Change, l.Fields = mergeChanges(changes[l.Name], l.Fields)
	}
	return nil
}

// mergeChanges is what becomes of a template and its schedule together. Which fields change only a dry run tells.
func mergeChanges(changes []httpapi.DefinitionChange, known []string) (change string, fields []string) {
	change, fields = "unchanged", known
	for _, c := range changes {
		fields = append(fields, c.Fields...)
		if c.Change == "created" || c.Change == "changed" && change != "created" {
			change = c.Change
		}
	}
	return change, fields
}

// withLines names the lines of what a server refuses.
func (m *crontabImport) withLines(err error) error {
	d := document{name: m.file, lines: map[string]int{}}
	for _, l := range m.lines {
		d.lines["templates."+l.Name], d.lines["schedules."+l.Name] = l.Line, l.Line
	}
	return d.withLines(err)
}

// paramsOf is what a job of the type is given to run an entry.
func paramsOf(kind string, e *crontab.Entry) httpapi.Document {
	params := map[string]any{}
	if kind == typeExec {
		params["command"], params["args"] = firstNonEmpty(e.Shell, "/bin/sh"), []string{"-c", e.Command}
	} else {
		params["command"] = e.Command
		if e.User != "" {
			params["user"] = e.User
		}
	}
	if len(e.Settings) > 0 {
		env := map[string]string{}
		for _, s := range e.Settings {
			env[s.Name] = s.Value
		}
		params["env"] = env
	}
	if e.HasInput {
		params["stdin"] = e.Input
	}
	return rota.EncodeSpec(params)
}
