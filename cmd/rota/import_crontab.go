package main

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/crontab"
)

const importCrontabLong = `Read a crontab and show the template and the schedule for each line. Both have the same name, made from the
words of the command, such as certbot or report-daily, so that a second import of the same crontab changes nothing. With
--apply they are created, all or none. If they exist already, only the command, the times and the zone are changed, and
the type if --type is given.

The import records its source in the description of each template and schedule: the name of this machine and the path
of FILE, such as web1:/etc/crontab. If a line is gone later, the next import from the same source and with the same
prefix names its schedule; with --prune it also disables the schedule. Name the source with --source if the name of the
machine changes, as in containers, and if you import several crontabs from standard input, which has no path.

Jobs run as cron would run them: through /bin/sh -c, with no retries, no timeout and no catch-up. They have the type exec,
which a server runs if its configuration has the section exec (rota exec setup proposes one), or the --type of one of
your workers. Until the server runs the type, new schedules are PAUSED, unless --enable is given.

A line of /etc/crontab names a user. A server that runs as root runs the command as that user if the setting user of its
section exec names it. If the server does not run programs as that user, the line is refused.

A line that cannot be converted is refused. Then nothing is written and the exit code is 3, unless --skip-refused is
given. docs/migrating.md lists the differences from cron.`

const importCrontabExample = `  crontab -l | rota import crontab -
  rota import crontab /etc/crontab --tz Europe/Berlin
  crontab -l | rota import crontab - --prefix web1. --apply
  rota import crontab /etc/crontab --apply --prune                # also disable schedules of removed lines
  rota import crontab jobs.cron --type shell --enable --apply     # for your own worker`

// crontabOptions holds the flags.
type crontabOptions struct {
	system, user               bool
	zone, prefix, kind, source string
	apply, enable, skipRefused bool
	prune                      bool
	typed                      bool // --type was given; without it a stored template keeps its type
}

func newImportCrontabCommand(a *app) *cobra.Command {
	var o crontabOptions
	cmd := &cobra.Command{
		Use: "crontab FILE", Short: "Create schedules from the lines of a crontab", Args: requireArgs("a FILE"),
		Long: importCrontabLong, Example: importCrontabExample, ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.typed = cmd.Flags().Changed("type")
			return a.importCrontab(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.apply, "apply", false, "create the schedules; without it they are only shown")
	flags.BoolVar(&o.system, "system", false, "lines have a user field, as in /etc/crontab (default: guessed)")
	flags.BoolVar(&o.user, "user", false, "lines have no user field, as in the output of crontab -l (default: guessed)")
	flags.StringVar(&o.zone, "tz", "", "IANA time `ZONE` of lines without CRON_TZ (default: the zone of this machine)")
	flags.Var(textFlag(&o.prefix, "TEXT"), "prefix", "prefix of every name, such as the name of the machine")
	flags.StringVar(&o.kind, "type", typeExec, "`TYPE` of the jobs; without it, existing templates keep their type")
	flags.BoolVar(&o.enable, "enable", false, "enable new schedules even if this server does not run the type")
	flags.BoolVar(&o.skipRefused, "skip-refused", false, "import the other lines if some are refused")
	flags.BoolVar(&o.prune, "prune", false, "disable schedules of an earlier import whose line is gone")
	flags.Var(textFlag(&o.source, "NAME"), "source", "source to record, by which a later import finds removed lines (default: HOST:PATH of FILE)")
	return cmd
}

// typeExec is the built-in type that runs external commands.
const typeExec = "exec"

func (o *crontabOptions) form() crontab.Form {
	switch {
	case o.system:
		return crontab.FormSystem
	case o.user:
		return crontab.FormUser
	}
	return crontab.FormDetect
}

// check refuses flags that contradict each other.
func (o *crontabOptions) check(host, file string) error {
	switch {
	case o.system && o.user:
		return usagef("remove one of them", "--system and --user cannot be combined")
	case o.prune && o.skipRefused:
		return usagef("correct the refused lines first", "--prune and --skip-refused cannot be combined: a refused line would count as removed")
	case o.prune && file == "-" && o.source == "":
		return usagef("name the crontab, such as --source $(hostname):$USER, in every import of it",
			"--prune of standard input needs --source: otherwise every crontab from standard input is the same source")
	case o.prune && host == "" && o.source == "":
		return usagef("name the crontab, such as --source web1:/etc/crontab, in every import of it",
			"--prune needs --source, because this machine has no name: otherwise the crontabs of all machines are the same source")
	}
	return nil
}

func (a *app) importCrontab(ctx context.Context, file string, o crontabOptions) error {
	if err := o.check(a.host, file); err != nil {
		return err
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
	m.source, m.path = cmp.Or(o.source, sourceOf(a.host, file)), pathOf(file)
	if err := m.compare(ctx); err != nil {
		return err
	}
	refused := len(m.refused) > 0 && !o.skipRefused
	if o.apply && !refused && len(m.definitions.Schedules) > 0 {
		if err := m.put(ctx, false); err != nil {
			return err
		}
		m.applied = true
	}
	if err := a.print(m.view(), m.print); err != nil {
		return err
	}
	if refused {
		return failf(exitNotClean, "correct what is refused, or import the other lines with --skip-refused",
			"%s; nothing was written", plural(len(m.refused), "line is refused", "lines are refused"))
	}
	return nil
}

// compare compares the lines with the definitions on the server. A dry run works without a server, too.
func (m *crontabImport) compare(ctx context.Context) error {
	stored, _, err := fetch[api.Definitions](ctx, m.a, newGet("/definitions"))
	if exitCode(err) == exitUnavailable && !m.apply {
		m.offline = err
		m.checkEntries()
		m.declare()
		return nil
	}
	if err != nil {
		return err
	}
	m.stored = stored
	if err := m.readTypes(ctx); err != nil {
		return err
	}
	m.checkEntries()
	m.declare()
	if m.missing || len(m.definitions.Schedules) == 0 {
		return nil
	}
	return m.put(ctx, true)
}

// readTypes reads the types of the jobs. That the type of new jobs is not declared is an error with --apply and a note in
// a dry run.
func (m *crontabImport) readTypes(ctx context.Context) error {
	names := []string{m.kind}
	for _, name := range m.names() {
		names = append(names, m.typeOf(name))
	}
	slices.Sort(names)
	m.types = map[string]api.Type{}
	for _, name := range slices.Compact(names) {
		kind, _, err := fetch[api.Type](ctx, m.a, newGet("/types"+pathSegment(name)))
		var refused *exitError
		switch {
		case errors.As(err, &refused) && refused.code == exitNotFound && !m.apply && name == m.kind:
			m.missing = true
		case refused != nil && refused.code == exitNotFound:
			refused.hint = "declare it first: rota type put " + name
			return refused
		case err != nil:
			return err
		}
		m.types[name] = kind
	}
	return nil
}

// runs reports whether the server or a worker runs jobs of a type.
func (m *crontabImport) runs(kind string) bool {
	return serverRuns(m.types[kind]) || m.types[kind].Workers > 0
}

// put sends the definitions and records the change of each line.
func (m *crontabImport) put(ctx context.Context, dry bool) error {
	query := url.Values{}
	if dry {
		query.Set("dry_run", "true")
	}
	put, _, err := m.a.putDefinitions(ctx, m.definitions, query)
	if err != nil {
		return m.withLines(err)
	}
	changes := map[string][]api.DefinitionChange{}
	for _, item := range put.Items {
		changes[item.Name] = append(changes[item.Name], item)
	}
	for i := range m.lines {
		l := &m.lines[i]
		l.Change, l.Fields = mergeChanges(changes[l.Name], l.Fields)
	}
	return nil
}

// mergeChanges merges the changes of a template and its schedule. Only the answer to a dry run has the fields.
func mergeChanges(changes []api.DefinitionChange, known []string) (change string, fields []string) {
	change, fields = "unchanged", known
	for _, c := range changes {
		fields = append(fields, c.Fields...)
		if c.Change == "created" || c.Change == "changed" && change != "created" {
			change = c.Change
		}
	}
	return change, fields
}

// withLines adds the line numbers of the crontab to the fields that the server refused.
func (m *crontabImport) withLines(err error) error {
	d := document{name: m.file, lines: map[string]int{}}
	for _, l := range m.lines {
		d.lines["templates."+l.Name], d.lines["schedules."+l.Name] = l.Line, l.Line
	}
	return d.withLines(err)
}

// paramsOf returns the params of the job that runs an entry.
func paramsOf(kind string, e *crontab.Entry) api.Document {
	params := map[string]any{}
	if kind == typeExec {
		params["command"], params["args"] = cmp.Or(e.Shell, "/bin/sh"), []string{"-c", e.Command}
	} else {
		params["command"] = e.Command
	}
	if e.User != "" {
		params["user"] = e.User
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

// machineZone is the name of a time zone and its source.
type machineZone struct{ name, from string }

// crontabZone is the zone of --tz, or else the zone that cron on this machine uses. It must have a name, since a
// schedule has the same times on every machine.
func (a *app) crontabZone(given string) (machineZone, error) {
	if given != "" {
		_, err := cron.LoadZone(given)
		return machineZone{given, "from --tz"}, err
	}
	return localZone(a.getenv("TZ"), os.ReadFile, os.Readlink)
}

// localZone returns the zone of this machine, from TZ, /etc/timezone or /etc/localtime.
func localZone(tz string, readFile func(string) ([]byte, error), readlink func(string) (string, error)) (machineZone, error) {
	if name := strings.TrimPrefix(tz, ":"); name != "" {
		if _, err := cron.LoadZone(name); err != nil {
			return machineZone{}, usagef("name the zone, such as --tz Europe/Berlin", "TZ is %s, which is not the name of a time zone", shortened(tz))
		}
		return machineZone{name, "from TZ"}, nil
	}
	if text, err := readFile("/etc/timezone"); err == nil {
		if name := strings.TrimSpace(string(text)); isZone(name) {
			return machineZone{name, "from /etc/timezone"}, nil
		}
	}
	if link, err := readlink("/etc/localtime"); err == nil {
		if _, name, found := strings.Cut(link, "zoneinfo/"); found && isZone(name) {
			return machineZone{name, "from /etc/localtime"}, nil
		}
	}
	return machineZone{"UTC", "since this machine has no named zone; set another one with --tz"}, nil
}

func isZone(zone string) bool {
	_, err := cron.LoadZone(zone)
	return err == nil && zone != ""
}
