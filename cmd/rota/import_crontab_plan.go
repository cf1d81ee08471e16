package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/crontab"
	"github.com/rotajobs/rota/internal/scrub"
)

// crontabImport is the import of one crontab.
type crontabImport struct {
	crontabOptions
	a    *app
	file string
	read crontab.Crontab
	path string // of the file, the source that versions recorded that did not know the machine
	zone machineZone

	stored  api.Definitions     // what the server has; empty without a server
	removed []crontabRemoved    // schedules of earlier imports whose line is gone
	types   map[string]api.Type // types of the jobs, by name; empty without a server

	lines       []crontabLine
	entries     []crontab.Entry // entry of each line, in the same order
	refused     []crontabRefusal
	notes       []crontabNote
	definitions api.Definitions
	offline     error // why the server could not be read; nil if it was
	missing     bool  // the type is not declared
	applied     bool
}

// crontabLine is the result for one line, in the output as JSON.
type crontabLine struct {
	Line     int      `json:"line"`
	Name     string   `json:"name"`
	Cron     string   `json:"cron"`
	Timezone string   `json:"timezone"`
	Describe string   `json:"describe"`
	Next     string   `json:"next"`
	User     string   `json:"user,omitempty"`
	Command  string   `json:"command"`
	Type     string   `json:"type"`
	State    string   `json:"state"`
	Change   string   `json:"change"` // created, changed or unchanged; unknown without a server
	Fields   []string `json:"fields,omitempty"`
}

type crontabRefusal struct {
	Line   int    `json:"line"`
	Found  string `json:"found,omitempty"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
}

type crontabNote struct {
	Line int    `json:"line,omitempty"`
	Note string `json:"note"`
}

// checkEntries checks each entry and collects lines, refusals and notes.
func (m *crontabImport) checkEntries() {
	for _, r := range m.read.Refused {
		r.Found = scrub.Text(r.Found)
		m.refused = append(m.refused, crontabRefusal(r))
	}
	for _, n := range m.read.Notes {
		m.note(n.Line, "%s", n.Text)
	}
	names := m.names()
	for i, e := range m.read.Entries {
		if line, fine := m.line(&e, names[i]); fine && m.runnable(&line, &e) {
			m.lines, m.entries = append(m.lines, line), append(m.entries, e)
		}
	}
	if slices.ContainsFunc(m.lines, func(l crontabLine) bool { return l.Type == typeExec }) {
		m.note(0, "the server runs each command as cron does, by a shell: /bin/sh -c COMMAND, or that of the setting SHELL")
	}
	m.findRemoved(names)
	slices.SortStableFunc(m.refused, func(a, b crontabRefusal) int { return a.Line - b.Line })
	m.noteEntries()
	slices.SortStableFunc(m.notes, func(a, b crontabNote) int { return a.Line - b.Line })
}

func (m *crontabImport) note(line int, format string, args ...any) {
	m.notes = append(m.notes, crontabNote{line, fmt.Sprintf(format, args...)})
}

func (m *crontabImport) line(e *crontab.Entry, name string) (line crontabLine, fine bool) {
	zone := cmp.Or(e.Zone.Value, m.zone.name)
	expression, err := cron.Parse(e.Times, cron.Config{Zone: zone, Name: name})
	if err == nil {
		err = (&rota.PutTemplate{Name: name, Spec: rota.TemplateSpec{Type: m.typeOf(name)}}).Validate()
	}
	if err != nil {
		m.refused = append(m.refused, refusalOf(e, err))
		return line, false
	}
	for _, note := range clockChangeNotes(e, name, expression, m.a.now()) {
		m.note(e.Line, "%s", note)
	}
	line = crontabLine{
		Line: e.Line, Name: name, Cron: e.Times, Timezone: zone, Describe: expression.Describe(), User: e.User, Command: scrub.Text(e.Command), Type: m.typeOf(name), Change: "unknown",
	}
	if next := cron.Upcoming(expression, m.a.now(), 1); len(next) > 0 {
		line.Next = formatExact(next[0].At)
	}
	return line, true
}

// runnable refuses a line that the server would refuse at each run.
func (m *crontabImport) runnable(l *crontabLine, e *crontab.Entry) bool {
	if l.Type != typeExec {
		return true
	}
	server := m.types[typeExec]
	if accounts := server.Accounts; e.User != "" && len(accounts) > 0 && !slices.Contains(accounts, e.User) {
		m.refused = append(m.refused, crontabRefusal{
			Line: e.Line, Reason: fmt.Sprintf("cron runs the command as %s, but this server runs programs as %s", e.User, sanitize(strings.Join(accounts, ", "))),
			Remedy: "if the server runs as root, add " + e.User + " to user in the section exec of its configuration; else import the line with --type for a worker of that user",
		})
		return false
	}
	for _, s := range e.Settings {
		if _, refused := action.IsSettable(s.Name); refused {
			m.refused = append(m.refused, crontabRefusal{
				Line: e.Line, Reason: fmt.Sprintf("no job can set %s of line %d, which decides what code a program loads", s.Name, s.Line),
				Remedy: "set it in the command: env " + s.Name + "=… command",
			})
			return false
		}
	}
	return true
}

// knowsSection reports whether the server runs programs itself, so that it shows what its section exec allows.
func (m *crontabImport) knowsSection() bool { return m.types[typeExec].Handled }

// forbiddenPart is a part of a line that the section exec of the server does not allow yet.
type forbiddenPart struct {
	line int // 0: it concerns all lines
	text string
}

// forbidden returns why each run of a line would fail, as far as the configuration of the server can change that.
func (m *crontabImport) forbidden(l *crontabLine, e *crontab.Entry) (all []forbiddenPart) {
	if l.Type != typeExec || !m.knowsSection() {
		return nil
	}
	consequence := "new schedules are PAUSED"
	if m.enable {
		consequence = "their jobs fail"
	}
	const remedy = " of the section exec, restart the server, then resume each schedule with rota schedule resume NAME"
	server := m.types[typeExec]
	if shell := cmp.Or(e.Shell, "/bin/sh"); !action.AllowsProgram(server.Allow, shell) {
		all = append(all, forbiddenPart{0, fmt.Sprintf("%s is not in allow of the server, and cron runs commands by it: %s. Add it to allow%s", shell, consequence, remedy)})
	}
	for _, s := range e.Settings {
		if !slices.Contains(server.Env, s.Name) {
			all = append(all, forbiddenPart{s.Line, fmt.Sprintf("jobs of this server may not set %s: of the lines below it %s. Add it to env%s", s.Name, consequence, remedy)})
		}
	}
	return all
}

// refusalOf converts an error of the parser to a refusal.
func refusalOf(e *crontab.Entry, err error) crontabRefusal {
	line := e.Line
	var times *cron.Error
	var other *rota.Error
	switch {
	case errors.As(err, &times):
		bare := *times
		bare.Remedy = ""
		remedy := times.Remedy
		if times.Field == "zone" && e.Zone.Value != "" {
			remedy = fmt.Sprintf("fix CRON_TZ in line %d: %s", e.Zone.Line, remedy)
		}
		return crontabRefusal{Line: line, Reason: bare.Error(), Remedy: remedy}
	case errors.As(err, &other):
		return crontabRefusal{Line: line, Reason: "invalid name: " + other.Reason, Remedy: cmp.Or(other.Hint, "choose another --prefix or --type")}
	}
	return crontabRefusal{Line: line, Reason: err.Error()}
}

// noteEntries adds notes about what Rota does not do as cron does: it sends no mail, and needs root to switch users. Params are
// visible, so each variable and each command that seems to contain a secret gets a note, too.
func (m *crontabImport) noteEntries() {
	const open = "looks like a secret, and every user who may read templates sees params (rota template list)"
	for i, e := range m.entries {
		external := m.lines[i].Type == typeExec
		if e.MailTo.Value != "" {
			m.noteOnce(e.MailTo.Line, "MAILTO %s is ignored: Rota sends no mail. For notifications of failures add a webhook: rota webhook add URL --event job.dead", e.MailTo.Value)
		}
		if e.User != "" {
			if !external {
				m.noteOnce(e.Line, "cron ran the command as %s: the user is kept in the param user for the worker", e.User)
			} else if !serverRuns(m.types[typeExec]) {
				m.noteOnce(e.Line, "cron ran the command as %s: the section exec of a server or worker that runs as root must name that user, or it runs as that user", e.User)
			}
		}
		for _, f := range m.forbidden(&m.lines[i], &e) {
			m.noteOnce(f.line, "%s", f.text)
		}
		for _, s := range e.Settings {
			if all, _ := action.IsSettable(s.Name); external && !all && !m.knowsSection() {
				m.noteOnce(s.Line, "jobs may set %s only if env in the section exec of the server or worker lists it", s.Name)
			}
			if looksSecret(s) {
				m.noteOnce(s.Line, "%s %s: %s", s.Name, open, m.secretRemedy(&m.lines[i], s.Name))
			}
		}
		if containsSecret(e.Command + "\n" + e.Input) { // together: what an input means depends on the program
			m.note(e.Line, "a part of the command %s: %s", open, m.secretRemedy(&m.lines[i], ""))
		}
	}
}

// secretRemedy says how a program gets a secret without a param. A secret of the template is a variable of its name.
func (m *crontabImport) secretRemedy(l *crontabLine, name string) string {
	if l.Type != typeExec {
		return "remove it from the crontab, and let the command read it from a file or the environment of the worker"
	}
	if name != "" {
		return fmt.Sprintf("remove it from the crontab, and store it as a secret, which the program gets as this variable: rota secret set TEMPLATE/%s", name)
	}
	return fmt.Sprintf("store it as a secret, rota secret set %s/KEY, and write $KEY in the command", l.Name)
}

// noteOnce is note, unless an earlier line has the same note.
func (m *crontabImport) noteOnce(line int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(m.notes, func(n crontabNote) bool { return n.Note == text }) {
		m.note(line, "%s", text)
	}
}

// looksSecret reports whether the name or the value of a variable looks like a secret. A name that ends in FILE or
// similar names the place of a secret, not the secret.
func looksSecret(s crontab.Setting) bool {
	name := strings.ToUpper(s.Name)
	place := slices.ContainsFunc([]string{"FILE", "PATH", "DIR", "SOCK", "URL"}, func(end string) bool { return strings.HasSuffix(name, end) })
	return s.Value != "" && (scrub.Key(s.Name) && !place || scrub.Text(s.Value) != s.Value)
}

// variableReference matches what the shell replaces by the value of a variable or the output of a command. It is not a
// secret itself.
var variableReference = regexp.MustCompile("[\"']?(?:\\$\\{?[A-Za-z_][A-Za-z0-9_]*\\}?|\\$\\([^)]*\\)|`[^`]*`)[\"']?")

// containsSecret reports whether a command contains a secret and not only the name of a variable that has one.
func containsSecret(command string) bool {
	command = variableReference.ReplaceAllLiteralString(command, scrub.Hidden)
	return scrub.Text(command) != command
}

// declare builds the definitions. For a stored definition it changes only the fields that the crontab sets, so that
// other changes since the first import stay.
func (m *crontabImport) declare() {
	m.definitions = api.Definitions{Templates: map[string]api.TemplateDefinition{}, Schedules: map[string]api.ScheduleDefinition{}}
	held := map[string]bool{} // types of the new schedules that are paused because nothing runs the type
	for i := range m.lines {
		l, e := &m.lines[i], &m.entries[i]
		template, known := m.stored.Templates[l.Name]
		if !known {
			template = api.TemplateDefinition{}
			template.MaxRetries, template.Timeout = new(int), new(api.Duration) // as cron: no retries, no timeout
		}
		template.Description = m.describe(template.Description, e.User)
		if !known || m.typed || m.hasCommand(l.Name) {
			template.Type, template.DefaultParams = l.Type, paramsOf(l.Type, e)
		} else {
			m.note(l.Line, "template %s has no param command any more, so its type %s and its params are kept; set both from the line with --type", l.Name, l.Type)
		}
		schedule, known := m.stored.Schedules[l.Name]
		if !known {
			schedule = api.ScheduleDefinition{State: string(rota.ScheduleEnabled), CatchUp: string(rota.CatchUpNone)}
			t := m.types[l.Type]
			runs := serverRuns(t) || t.Name == typeExec && t.Workers > 0
			if (!runs || len(m.forbidden(l, e)) > 0) && !m.enable {
				schedule.State = string(rota.SchedulePaused)
				held[l.Type] = held[l.Type] || !runs
			}
		}
		template.Owner, schedule.Owner = "", "" // both keep theirs
		if m.enable {
			schedule.State = string(rota.ScheduleEnabled)
		}
		schedule.Description = m.describe(schedule.Description, e.User)
		schedule.Template, schedule.Cron, schedule.Timezone = l.Name, l.Cron, l.Timezone
		schedule.At, schedule.Every, schedule.Anchor = api.Time{}, nil, api.Time{}
		l.State = schedule.State
		m.definitions.Templates[l.Name], m.definitions.Schedules[l.Name] = template, schedule
	}
	m.disableRemoved()
	m.noteType(held)
}

// noteType adds notes about why the new schedules do not fire. held are their types.
func (m *crontabImport) noteType(held map[string]bool) {
	if m.missing {
		m.note(0, "the type %s is not declared: declare it before --apply, with rota type put %s", m.kind, m.kind)
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(held)) {
		if !held[kind] {
			continue
		}
		if kind == typeExec && m.types[kind].Remote {
			m.note(0, "new schedules are PAUSED: this server leaves jobs of type exec to remote workers, and none has asked it for jobs. Start rota worker --types exec, unless another "+
				"server or worker of this store runs them, then resume each with rota schedule resume NAME")
		} else if kind == typeExec {
			m.note(0, "new schedules are PAUSED: this server does not run programs until its configuration has the section exec, which rota exec setup --from-crontab FILE proposes. "+
				"If another server or worker of this store runs them, add --enable; to run them with your own worker, use --type. Resume each with rota schedule resume NAME")
		} else if m.offline == nil {
			m.note(0, "new schedules are PAUSED: this server does not run jobs of type %s itself. Resume each with rota schedule resume NAME when a worker does, or add --enable", kind)
		}
	}
}
