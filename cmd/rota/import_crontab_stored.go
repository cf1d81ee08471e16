package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/crontab"
)

// An import records its source in the description of each template and of its schedule, so that a later import of the same
// crontab finds the definitions of its lines again, and those whose line is gone. A user who edits one of the two
// descriptions leaves the record in the other one.

// crontabRemoved is a schedule of an earlier import whose line is gone, in the output as JSON.
type crontabRemoved struct {
	Name     string `json:"name"`
	Cron     string `json:"cron"`
	Timezone string `json:"timezone"`
	State    string `json:"state"`
	Disable  bool   `json:"disable"` // whether --prune disables it
}

// sourceOf is the source of a file: this machine and the path, by which the same file is found again. Machines that share
// a server have the same paths, such as /etc/crontab.
func sourceOf(host, file string) string {
	path := pathOf(file)
	if host == "" {
		return path
	}
	return host + ":" + path
}

func pathOf(file string) string {
	if file == "-" {
		return "standard input"
	}
	return absolute(filepath.Clean(file))
}

// sourceMax is the longest source in a description, in bytes.
const sourceMax = 1000

const (
	descriptionBegin = "from crontab "
	descriptionUser  = ", user "

	// unknownSource is the description in imports of versions that did not record a source.
	unknownSource = "from a crontab"
)

// description is the description of the template and the schedule for a line of this crontab.
func (m *crontabImport) description(user string) string { return m.record(m.source, user) }

func (m *crontabImport) record(source, user string) string {
	text := descriptionBegin + source[max(0, len(source)-sourceMax):]
	if m.prefix != "" {
		text += ", prefix " + m.prefix
	}
	if user != "" {
		text += descriptionUser + user
	}
	return strings.ToValidUTF8(text, "?")
}

// userIn reports whether a description begins with a text and ends there or with a user, and returns the user.
func userIn(description, begin string) (user string, is bool) {
	rest, found := strings.CutPrefix(description, begin)
	if !found || rest == "" {
		return "", found
	}
	return strings.CutPrefix(rest, descriptionUser)
}

// importedUser reports whether a description is that of an import of this crontab, or of an import that recorded no source
// or no machine, and returns the user.
func (m *crontabImport) importedUser(description string) (user string, is bool) {
	for _, begin := range []string{m.description(""), m.record(m.path, ""), unknownSource} {
		if user, is = userIn(description, begin); is {
			return user, true
		}
	}
	return "", false
}

// importedName reports whether the stored definition of a name has a description of an import of this crontab, and
// returns the user.
func (m *crontabImport) importedName(name string) (user string, is bool) {
	for _, description := range m.descriptions(name) {
		if user, is = m.importedUser(description); is {
			return user, true
		}
	}
	return "", false
}

// descriptions returns the stored descriptions of the template and the schedule of a name.
func (m *crontabImport) descriptions(name string) []string {
	return []string{m.stored.Templates[name].Description, m.stored.Schedules[name].Description}
}

// describe returns the description of a template or a schedule: that of the import, unless a user wrote one.
func (m *crontabImport) describe(stored, user string) string {
	if _, imported := m.importedUser(stored); imported || stored == "" {
		return m.description(user)
	}
	return stored
}

// names returns the name of each entry. An entry keeps the name under which an earlier import stored its command. A new name
// never replaces a definition that did not come from this crontab.
func (m *crontabImport) names() []string {
	return crontab.Names(m.read.Entries, crontab.Naming{Prefix: m.prefix, Kept: m.keptNames(), Taken: m.taken})
}

// keptNames maps the index of an entry to the name of the stored template with its command. If several lines have the same
// command, equal times decide, and then the order of the names.
func (m *crontabImport) keptNames() map[int]string {
	byCommand := map[string][]string{} // names by digest
	for _, name := range slices.Sorted(maps.Keys(m.stored.Templates)) {
		if _, imported := m.importedName(name); imported && strings.HasPrefix(name, m.prefix) {
			digest := m.storedEntry(name).Digest()
			byCommand[digest] = append(byCommand[digest], name)
		}
	}
	kept := map[int]string{}
	for _, sameTimes := range []bool{true, false} {
		for i := range m.read.Entries {
			e := &m.read.Entries[i]
			if _, done := kept[i]; done {
				continue
			}
			digest := e.Digest()
			at := slices.IndexFunc(byCommand[digest], func(name string) bool { return !sameTimes || m.stored.Schedules[name].Cron == e.Times })
			if at >= 0 {
				kept[i] = byCommand[digest][at]
				byCommand[digest] = slices.Delete(byCommand[digest], at, at+1)
			}
		}
	}
	return kept
}

// storedEntry returns the command, the input and the user of a stored template.
func (m *crontabImport) storedEntry(name string) *crontab.Entry {
	t := m.stored.Templates[name]
	var params struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Stdin   string   `json:"stdin"`
		User    string   `json:"user"`
	}
	if json.Unmarshal(t.DefaultParams, &params) != nil {
		return &crontab.Entry{}
	}
	e := &crontab.Entry{Command: params.Command, Input: params.Stdin, User: params.User}
	if t.Type == typeExec && len(params.Args) == 2 {
		e.Command = params.Args[1]
	}
	if user, imported := m.importedName(name); imported && e.User == "" {
		e.User = user
	}
	return e
}

// typeOf returns the type of the jobs of a line: that of --type, or else the type of its stored template, because a worker
// runs that type. The type exec would stop the jobs.
func (m *crontabImport) typeOf(name string) string {
	if stored, known := m.stored.Templates[name]; known && !m.typed {
		return stored.Type
	}
	return m.kind
}

// hasCommand reports whether the params of a stored template have a command, which an import can replace.
func (m *crontabImport) hasCommand(name string) bool { return m.storedEntry(name).Command != "" }

// taken reports whether an entry must not have a name, because a definition of another origin has it.
func (m *crontabImport) taken(name string, e *crontab.Entry) bool {
	if _, stored := m.stored.Templates[name]; !stored {
		_, scheduled := m.stored.Schedules[name]
		return scheduled
	}
	if _, imported := m.importedName(name); imported {
		return false
	}
	if slices.ContainsFunc(m.descriptions(name), func(text string) bool { return strings.HasPrefix(text, descriptionBegin) }) {
		return true // it came from another crontab
	}
	same := m.storedEntry(name) // both descriptions were edited
	return same.Command != e.Command || same.Input != e.Input
}

// findRemoved collects the schedules of earlier imports of this crontab that belong to none of its lines. The name of a
// refused line is not known, so with refused lines a schedule without a line gets only a note.
func (m *crontabImport) findRemoved(names []string) {
	var unclear []string
	for _, name := range slices.Sorted(maps.Keys(m.stored.Schedules)) {
		schedule := m.stored.Schedules[name]
		switch {
		case slices.Contains(names, name) || schedule.State == string(rota.ScheduleDisabled) || !m.recordedHere(name):
		case len(m.read.Refused) > 0:
			unclear = append(unclear, name)
		default:
			m.removed = append(m.removed, crontabRemoved{Name: name, Cron: schedule.Cron, Timezone: schedule.Timezone, State: schedule.State, Disable: m.prune})
		}
	}
	if len(unclear) > 0 {
		m.note(0, "%s without a line: %s. The line is gone or refused; correct the refused lines, and the next import reports which are gone",
			plural(len(unclear), "schedule of an earlier import is", "schedules of an earlier import are"), strings.Join(unclear, ", "))
	}
}

// recordedHere reports whether a schedule records this crontab as its source, itself or in the template of its name. A
// schedule of another name that a user created for an imported template does not count.
func (m *crontabImport) recordedHere(name string) bool {
	schedule := m.stored.Schedules[name]
	_, ours := userIn(schedule.Description, m.description(""))
	if !ours && schedule.Template == name {
		_, ours = userIn(m.stored.Templates[name].Description, m.description(""))
	}
	return ours
}

// disableRemoved adds the removed schedules to the definitions, with the state DISABLED.
func (m *crontabImport) disableRemoved() {
	for _, r := range m.removed {
		if r.Disable {
			schedule := m.stored.Schedules[r.Name]
			schedule.State, schedule.Owner = string(rota.ScheduleDisabled), "" // it keeps its owner
			m.definitions.Schedules[r.Name] = schedule
		}
	}
}

// removedText describes a removed line, what happens to its schedule, and what to do.
func (m *crontabImport) removedText(r *crontabRemoved) string {
	text := fmt.Sprintf("removed: schedule %s (%s, %s) came from %s and has no line any more", r.Name, r.Cron, r.Timezone, m.source)
	switch {
	case r.Disable && m.applied:
		return text + "; it is disabled. To remove it: rota schedule delete " + r.Name + " --with-template"
	case r.Disable:
		return text + "; --prune would disable it"
	case r.State == string(rota.ScheduleEnabled):
		text += "; it still fires"
	default:
		text += "; it is " + r.State
	}
	return text + ". Disable it with --prune, or delete it: rota schedule delete " + r.Name + " --with-template"
}
