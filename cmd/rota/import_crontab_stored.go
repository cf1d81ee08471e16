package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/crontab"
)

// An import records its source in the description of each template, so that a later import of the same crontab finds the
// definitions of its lines again, and those whose line is gone.

// crontabRemoved is a schedule of an earlier import whose line is gone, in the output as JSON.
type crontabRemoved struct {
	Name     string `json:"name"`
	Cron     string `json:"cron"`
	Timezone string `json:"timezone"`
	State    string `json:"state"`
	Disable  bool   `json:"disable"` // whether --prune disables it
}

// sourceOf is the source of a file: its path, by which the same file is found again.
func sourceOf(file string) string {
	if file == "-" {
		return "standard input"
	}
	return absolute(filepath.Clean(file))
}

// sourceMax is the longest source in a description, in bytes.
const sourceMax = 1000

const (
	descriptionUser = ", user "

	// unknownSource is the description in imports of versions that did not record a source.
	unknownSource = "from a crontab"
)

// description is the description of a template for a line of this crontab.
func (m *crontabImport) description(user string) string {
	text := "from crontab " + m.source[max(0, len(m.source)-sourceMax):]
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

// importedUser reports whether a description is that of an import of this crontab, or of an import that recorded no source.
func (m *crontabImport) importedUser(description string) (user string, is bool) {
	if user, is = userIn(description, m.description("")); is {
		return user, true
	}
	return userIn(description, unknownSource)
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
		template := m.stored.Templates[name]
		if _, imported := m.importedUser(template.Description); imported && strings.HasPrefix(name, m.prefix) {
			digest := m.storedEntry(template).Digest()
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
func (m *crontabImport) storedEntry(t api.TemplateDefinition) *crontab.Entry {
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
	if user, imported := m.importedUser(t.Description); imported && e.User == "" {
		e.User = user
	}
	return e
}

// taken reports whether an entry must not have a name, because a definition of another origin has it.
func (m *crontabImport) taken(name string, e *crontab.Entry) bool {
	template, stored := m.stored.Templates[name]
	if !stored {
		_, scheduled := m.stored.Schedules[name]
		return scheduled
	}
	if _, imported := m.importedUser(template.Description); imported {
		return false
	}
	same := m.storedEntry(template) // its description was edited
	return same.Command != e.Command || same.Input != e.Input
}

// findRemoved collects the schedules of earlier imports of this crontab that belong to none of its lines.
func (m *crontabImport) findRemoved(names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.stored.Schedules)) {
		schedule := m.stored.Schedules[name]
		_, ours := userIn(m.stored.Templates[schedule.Template].Description, m.description(""))
		if ours && !slices.Contains(names, name) && schedule.State != string(rota.ScheduleDisabled) {
			m.removed = append(m.removed, crontabRemoved{Name: name, Cron: schedule.Cron, Timezone: schedule.Timezone, State: schedule.State, Disable: m.prune})
		}
	}
}

// disableRemoved adds the removed schedules to the definitions, with the state DISABLED.
func (m *crontabImport) disableRemoved() {
	for _, r := range m.removed {
		if r.Disable {
			schedule := m.stored.Schedules[r.Name]
			schedule.State = string(rota.ScheduleDisabled)
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
