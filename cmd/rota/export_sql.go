package main

import (
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

const exportSQLHead = `-- Jobs of a Rota server: rota export -o sql writes this file; rota sql -f and psql -f read it.
-- A comment before a statement names what SQL cannot express; rota export writes everything.
`

// toSQL writes the schedules of a document as CREATE JOB statements, each after the jobs that it depends on, and a comment
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
	for _, name := range slices.Sorted(maps.Keys(w.Types)) {
		w.comment("type %s: SQL cannot declare types; declare it before you run this file", name)
	}
	used := map[string]int{}
	for _, s := range w.Schedules {
		used[s.Template]++
	}
	for _, name := range slices.Sorted(maps.Keys(w.Templates)) {
		switch {
		case used[name] == 0:
			w.comment("template %s: SQL cannot express a template that no schedule uses", name)
		case used[name] > 1:
			w.comment("template %s: %d schedules use it; in SQL, each job has a template of its own", name, used[name])
		}
	}
	if w.Limits != nil {
		w.comment("limits: SQL cannot express them")
	}
	if n := len(w.Webhooks); n > 0 {
		w.comment("webhooks: SQL cannot express %s for all events", plural(n, "the webhook", "webhooks"))
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
	if d, known := w.Templates[spec.Template]; known {
		t.Spec, t.State = d.Spec(), rota.TemplateState(d.State)
		t.Spec.Webhooks = api.DefinedWebhooks(d.Webhooks)
	}
	w.b.WriteByte('\n')
	w.dependencies(s)
	if api.Anchored(&s.Spec) {
		w.comment("its interval counts from %s; the job that this statement creates counts from its creation", definition.Anchor.UTC().Format(time.RFC3339Nano))
	}
	statement, comments := session.CreateStatement(s, t)
	for _, line := range comments {
		w.b.WriteString(line + "\n")
	}
	w.statement(s, statement)
	return nil
}

// dependencies removes the dependencies on jobs that are left out.
func (w *sqlExport) dependencies(s *rota.Schedule) {
	s.Spec.DependsOn = slices.DeleteFunc(s.Spec.DependsOn, func(on string) bool {
		if w.skipped[on] {
			w.comment("it depends on %s, which is not created; the dependency is left out", on)
		}
		return w.skipped[on]
	})
}

// statement writes a statement, as a comment if the server would refuse it.
func (w *sqlExport) statement(s *rota.Schedule, statement string) {
	reason := ""
	_, err := ddl.Parse(statement)
	switch spec := &s.Spec; {
	case err != nil:
		reason = "SQL cannot express it: " + err.Error()
		statement = "CREATE JOB " + s.Name + " …"
	case !spec.At.IsZero() && !spec.At.After(w.now):
		reason = "its only fire time has passed"
	case !spec.EndsAt.IsZero() && !spec.EndsAt.After(w.now):
		reason = "its last fire time has passed"
	default:
		w.b.WriteString(statement + ";\n")
		return
	}
	w.skipped[s.Name] = true
	w.comment("job %s is left out: %s", s.Name, strings.ReplaceAll(reason, "\n", " "))
	for line := range strings.SplitSeq(statement+";", "\n") {
		w.b.WriteString("-- " + line + "\n")
	}
}
