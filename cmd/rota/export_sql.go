package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/session"
)

// exportFormat is the value of --output of rota export, which also writes SQL.
type exportFormat struct{ *format }

const formatSQL format = "sql"

// String returns the format that is written: YAML instead of a table.
func (f exportFormat) String() string {
	if *f.format == formatTable {
		return string(formatYAML)
	}
	return string(*f.format)
}

var exportFormatNames = []string{string(formatYAML), string(formatJSON), string(formatSQL)}

// Set refuses unknown formats.
func (f exportFormat) Set(text string) error {
	if text == string(formatSQL) {
		*f.format = formatSQL
		return nil
	}
	if f.format.Set(text) != nil {
		return fmt.Errorf("use yaml, json or sql")
	}
	return nil
}

const exportSQLHead = `-- The jobs of a Rota server, written by rota export -o sql. Run this file with rota sql -f FILE or psql -f FILE.
-- It can be run again, after an error too: CREATE OR ALTER changes a job that exists already.
-- Run it as admin: a new job belongs to the user that runs its statement, and only ADMIN may give it another owner.
-- Comments name what it leaves out or changes. rota export -o yaml leaves out only secrets; rota import reads it.
`

// toSQL writes the schedules of a document as CREATE OR ALTER JOB statements, each after the jobs that it depends on, and a comment
// for everything that SQL cannot express.
func toSQL(answer json.RawMessage, now time.Time) ([]byte, error) {
	all, err := decode[api.Definitions](answer)
	if err != nil {
		return nil, err
	}
	w := &sqlExport{Definitions: all, now: now, written: map[string]bool{}, skipped: map[string]bool{}}
	w.b.WriteString(exportSQLHead)
	w.others()
	for _, name := range slices.Sorted(maps.Keys(all.Schedules)) {
		if err := w.job(name); err != nil {
			return nil, err
		}
	}
	return []byte(w.b.String()), nil
}

type sqlExport struct {
	api.Definitions
	now     time.Time
	b       strings.Builder
	written map[string]bool // jobs that were written or left out
	skipped map[string]bool // jobs that were left out
}

func (w *sqlExport) comment(format string, args ...any) {
	fmt.Fprintf(&w.b, "-- %s\n", fmt.Sprintf(format, args...))
}

// others writes comments for the definitions that are no jobs.
func (w *sqlExport) others() {
	if len(w.Types) > 0 {
		w.comment("types left out, since no statement declares them: %s", strings.Join(slices.Sorted(maps.Keys(w.Types)), ", "))
		w.comment("before you run this file, start workers that declare these types, or use rota type put")
	}
	used := map[string]int{}
	for _, s := range w.Schedules {
		used[s.Template]++
	}
	for _, name := range slices.Sorted(maps.Keys(w.Templates)) {
		switch {
		case used[name] == 0:
			w.comment("template %s is left out: no job uses it", name)
		case used[name] > 1:
			w.comment("template %s: %d jobs use it; this file gives each of them a template of its own", name, used[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Templates)) {
		for _, key := range slices.Sorted(maps.Keys(w.Templates[name].Secrets)) {
			w.comment("secret %s/%s is left out: no file of statements has values; set it again: rota secret set %s/%s", name, key, name, key)
		}
	}
	if w.Limits != nil {
		w.comment("the limits are left out: no statement sets them")
	}
	if n := len(w.Webhooks); n > 0 {
		w.comment("the webhooks of the server (%d) are left out: no statement adds webhooks", n)
	}
}

// job writes a job after the jobs that it depends on. The server refuses cycles.
func (w *sqlExport) job(name string) error {
	definition, is := w.Schedules[name]
	if !is || w.written[name] {
		return nil
	}
	w.written[name] = true
	for _, on := range definition.DependsOn {
		if err := w.job(on); err != nil {
			return err
		}
	}
	spec, err := definition.Spec()
	if err != nil {
		return err
	}
	s := &rota.Schedule{Name: name, Spec: spec.Canonical(), State: rota.ScheduleState(definition.State)}
	t := &rota.Template{Name: spec.Template}
	s.Owner = definition.Owner
	if d, known := w.Templates[spec.Template]; known {
		t.Spec, t.State, t.Owner = d.Spec(), rota.TemplateState(d.State), d.Owner
		t.Spec.Webhooks = api.DefinedWebhooks(d.Webhooks)
	}
	w.b.WriteByte('\n')
	w.dependencies(s)
	if err := w.interval(s, definition.Anchor.Time); err != nil {
		return err
	}
	statement, comments := session.CreateStatement(s, t)
	statement = "CREATE OR ALTER" + strings.TrimPrefix(statement, "CREATE") // so that the file can be run again after an error
	for _, line := range comments {
		w.b.WriteString(line + "\n")
	}
	w.statement(s, w.withOwner(s, t, statement+";"))
	return nil
}

// withOwner adds the statement that gives a job the owner whose rights it runs with: that of its template. The job is never
// committed without it, or it would run with the rights of the user that runs the file.
func (w *sqlExport) withOwner(s *rota.Schedule, t *rota.Template, create string) string {
	owner := cmp.Or(t.Owner, s.Owner, rota.AdminUser)
	if s.Owner != "" && s.Owner != owner {
		w.comment("the job belongs to %s, and its template to %s; the statements give both to %s, with whose rights the job runs", s.Owner, owner, owner)
	}
	if owner == rota.AdminUser {
		return create
	}
	return "BEGIN;\n" + create + "\n" + ddl.Print(&ddl.AlterOwner{Name: s.Name, Owner: owner}) + ";\nCOMMIT;"
}

// interval writes a comment about the times of a job with an interval and no start, in the words of rota schedule show.
func (w *sqlExport) interval(s *rota.Schedule, anchor time.Time) error {
	if !api.Anchored(&s.Spec) {
		return nil
	}
	table, err := s.Spec.Timetable(s.Name, anchor)
	if err != nil {
		return err
	}
	w.comment("the job runs %s; a job that this statement creates counts from its creation", table.Describe())
	return nil
}

// dependencies removes the dependencies on jobs that are left out.
func (w *sqlExport) dependencies(s *rota.Schedule) {
	s.Spec.DependsOn = slices.DeleteFunc(s.Spec.DependsOn, func(on string) bool {
		if w.skipped[on] {
			w.comment("DEPENDS ON leaves out %s, because this file does not create it", on)
		}
		return w.skipped[on]
	})
}

// statement writes the statements of a job, as a comment if the server would refuse them.
func (w *sqlExport) statement(s *rota.Schedule, statement string) {
	reason := ""
	err := parse(statement)
	switch spec := &s.Spec; {
	case err != nil:
		_, message, _ := strings.Cut(err.Error(), ": ") // without the position
		reason = "SQL cannot express it: " + message
		statement = "CREATE OR ALTER JOB " + s.Name + " …;"
	case !spec.At.IsZero() && !spec.At.After(w.now):
		reason = "its only fire time has passed"
	case !spec.EndsAt.IsZero() && !spec.EndsAt.After(w.now):
		reason = "its last fire time has passed"
	default:
		w.b.WriteString(statement + "\n")
		return
	}
	w.skipped[s.Name] = true
	w.comment("job %s is left out: %s", s.Name, strings.ReplaceAll(reason, "\n", " "))
	for line := range strings.SplitSeq(statement, "\n") {
		w.b.WriteString("-- " + line + "\n")
	}
}

// parse reports whether statements can be read.
func parse(statements string) error {
	all, err := ddl.Split(statements)
	if err != nil {
		return err
	}
	for _, one := range all {
		if _, err := ddl.Parse(one.Text); err != nil {
			return err
		}
	}
	return nil
}
