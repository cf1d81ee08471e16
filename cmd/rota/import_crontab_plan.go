package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/crontab"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/internal/scrub"
)

// crontabImport is a crontab on its way.
type crontabImport struct {
	crontabOptions
	a    *app
	file string
	read crontab.Crontab
	zone machineZone

	lines       []crontabLine
	entries     []crontab.Entry // of the lines, in their order
	refused     []crontabRefusal
	notes       []crontabNote
	definitions httpapi.Definitions
	offline     error // why no server was asked
	missing     bool  // nobody declared the type
	applied     bool
}

// crontabLine is what becomes of one line, as JSON has it.
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
	Change   string   `json:"change"` // created, changed, unchanged; unknown where no server was asked
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

// checkEntries holds each entry to what Rota can do with it.
func (m *crontabImport) checkEntries() {
	for _, r := range m.read.Refused {
		m.refused = append(m.refused, crontabRefusal(r))
	}
	for _, n := range m.read.Notes {
		m.note(n.Line, "%s", n.Text)
	}
	names := crontab.Names(m.read.Entries, m.prefix)
	for i, e := range m.read.Entries {
		if line, fine := m.line(&e, names[i]); fine {
			m.lines, m.entries = append(m.lines, line), append(m.entries, e)
		}
	}
	slices.SortStableFunc(m.refused, func(a, b crontabRefusal) int { return a.Line - b.Line })
	m.noteMail()
	m.noteUsers()
	m.noteSecrets()
	slices.SortStableFunc(m.notes, func(a, b crontabNote) int { return a.Line - b.Line })
}

func (m *crontabImport) note(line int, format string, args ...any) {
	m.notes = append(m.notes, crontabNote{line, fmt.Sprintf(format, args...)})
}

func (m *crontabImport) line(e *crontab.Entry, name string) (line crontabLine, fine bool) {
	zone := firstNonEmpty(e.Zone, m.zone.name)
	expression, err := cron.Parse(e.Times, cron.Config{Zone: zone, Name: name})
	if err == nil {
		err = (&rota.PutTemplate{Name: name, Spec: rota.TemplateSpec{Type: m.kind}}).Validate()
	}
	if err != nil {
		m.refused = append(m.refused, refusalOf(e.Line, err))
		return line, false
	}
	if note := clockChangeNote(expression, m.a.now()); note != "" {
		m.note(e.Line, "%s; cron would run it right after the change", note)
	}
	line = crontabLine{
		Line: e.Line, Name: name, Cron: e.Times, Timezone: zone, Describe: expression.Describe(), User: e.User, Command: e.Command, Type: m.kind, Change: "unknown",
	}
	if next := cron.Upcoming(expression, m.a.now(), 1); len(next) > 0 {
		line.Next = formatExact(next[0].At)
	}
	return line, true
}

// refusalOf is what the parser of expressions refuses, as a line of the report.
func refusalOf(line int, err error) crontabRefusal {
	var times *cron.Error
	var other *rota.Error
	switch {
	case errors.As(err, &times):
		bare := *times
		bare.Remedy = ""
		remedy := times.Remedy
		if times.Field == "zone" {
			remedy = "mend CRON_TZ or --tz: " + remedy
		}
		return crontabRefusal{Line: line, Reason: bare.Error(), Remedy: remedy}
	case errors.As(err, &other):
		return crontabRefusal{Line: line, Reason: "its name: " + other.Reason, Remedy: firstNonEmpty(other.Hint, "choose another --prefix or --type")}
	}
	return crontabRefusal{Line: line, Reason: err.Error()}
}

// clockChangeNote says which time of the next year does not exist, where clocks go forward.
func clockChangeNote(expression cron.Cron, now time.Time) string {
	loc := expression.Location()
	for day := range 366 {
		from := now.Add(time.Duration(day) * 24 * time.Hour)
		_, before := from.In(loc).Zone()
		_, after := from.Add(24 * time.Hour).In(loc).Zone()
		if after <= before {
			continue
		}
		for _, fire := range cron.Upcoming(expression, from, 200) {
			if strings.HasPrefix(fire.Note, "skipped") && strings.Contains(fire.Note, "not exist") {
				return fire.Note
			}
			if fire.At.After(from.Add(48 * time.Hour)) {
				break
			}
		}
	}
	return ""
}

// noteMail says once for each address what becomes of it.
func (m *crontabImport) noteMail() {
	seen := map[string]bool{}
	for _, e := range m.entries {
		if e.MailTo != "" && !seen[e.MailTo] {
			seen[e.MailTo] = true
			m.note(e.Line, "MAILTO %s is not taken over: Rota sends no mail. To be told of what fails, add a webhook: rota webhook add URL --event job.dead", e.MailTo)
		}
	}
}

// noteUsers says once for each user that Rota does not become them.
func (m *crontabImport) noteUsers() {
	seen := map[string]bool{}
	for _, e := range m.entries {
		if e.User == "" || seen[e.User] {
			continue
		}
		seen[e.User] = true
		kept := "it is kept in the template's description"
		if m.kind != typeExec {
			kept = "it is kept in the param user, for the worker to heed"
		}
		m.note(e.Line, "the command was run as %s; Rota runs commands as the user that it runs as itself: %s", e.User, kept)
	}
}

// noteSecrets says once for each variable, and for each command, that what looks like a secret would stand in the open.
func (m *crontabImport) noteSecrets() {
	const open = "looks like a secret, and params are shown to whoever may read them (rota template list)"
	seen := map[string]bool{}
	for _, e := range m.entries {
		for _, s := range e.Settings {
			if !seen[s.Name] && looksSecret(s) {
				seen[s.Name] = true
				m.note(e.Line, "%s %s: take it out of the crontab, and let the command read it from a file, or give it to the worker in its own environment", s.Name, open)
			}
		}
		if scrub.Text(e.Command) != e.Command || scrub.Text(e.Input) != e.Input {
			m.note(e.Line, "a part of the command %s: put it into a file, and let the command read it from there", open)
		}
	}
}

// looksSecret goes by the name of a variable, unless it says where a secret is rather than what, and by the form of its
// value.
func looksSecret(s crontab.Setting) bool {
	name := strings.ToUpper(s.Name)
	place := slices.ContainsFunc([]string{"FILE", "PATH", "DIR", "SOCK", "URL"}, func(end string) bool { return strings.HasSuffix(name, end) })
	return s.Value != "" && (scrub.Key(s.Name) && !place || scrub.Text(s.Value) != s.Value)
}

// declare makes the definitions. Of what is stored only what a crontab says is changed, so that what people have set
// since the crontab was read first stays.
func (m *crontabImport) declare(stored httpapi.Definitions, handled bool) {
	m.definitions = httpapi.Definitions{Templates: map[string]httpapi.TemplateDefinition{}, Schedules: map[string]httpapi.ScheduleDefinition{}}
	held := 0
	for i := range m.lines {
		l, e := &m.lines[i], &m.entries[i]
		template, known := stored.Templates[l.Name]
		if !known {
			template = newCrontabTemplate(e)
		}
		template.Type, template.DefaultParams = m.kind, paramsOf(m.kind, e)
		schedule, known := stored.Schedules[l.Name]
		if !known {
			schedule = httpapi.ScheduleDefinition{State: string(rota.ScheduleEnabled), CatchUp: string(rota.CatchUpNone)}
			if !handled && !m.enable {
				schedule.State = string(rota.SchedulePaused)
				held++
			}
		}
		if m.enable {
			schedule.State = string(rota.ScheduleEnabled)
		}
		schedule.Template, schedule.Cron, schedule.Timezone = l.Name, l.Cron, l.Timezone
		schedule.At, schedule.Every, schedule.Anchor = httpapi.Time{}, nil, httpapi.Time{}
		l.State = schedule.State
		m.definitions.Templates[l.Name], m.definitions.Schedules[l.Name] = template, schedule
	}
	m.noteType(held)
}

// newCrontabTemplate does as cron does: it runs a command once, for as long as it takes.
func newCrontabTemplate(e *crontab.Entry) httpapi.TemplateDefinition {
	template := httpapi.TemplateDefinition{Description: "from a crontab"}
	if e.User != "" {
		template.Description += ", where it was run as " + e.User
	}
	template.MaxRetries, template.Timeout = new(int), new(httpapi.Duration)
	return template
}

// noteType says why schedules do not fire yet.
func (m *crontabImport) noteType(held int) {
	switch {
	case m.missing:
		m.note(0, "nobody declared the type %s: declare it before --apply, with rota type put %s", m.kind, m.kind)
	case held > 0 && m.kind == typeExec:
		m.note(0, "new schedules are PAUSED: no server runs jobs of type exec until external commands are configured, which comes with a later release; "+
			"a worker of yours runs them with --type. Resume each with rota schedule resume NAME")
	case held > 0 && m.offline == nil:
		m.note(0, "new schedules are PAUSED: this server does not run jobs of type %s itself. Resume each with rota schedule resume NAME when a worker does, or give --enable", m.kind)
	}
}
