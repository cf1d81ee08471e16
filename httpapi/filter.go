package httpapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// filter selects jobs and executions.
type filter struct {
	states       []string // any of them; none: all
	typ          string
	template     string
	schedule     string
	group        rota.ID
	execution    rota.ID
	ids          idRange
	name         string // definition name, as it is shown
	uniqueKey    string
	scopeKind    string
	scopeID      string
	errorCode    string
	text         string
	since, until time.Time // of the creation
}

func filterParams(states []string) []param {
	return append([]param{
		{name: "state", form: formText, list: true, doc: "States in either case, separated by commas.", enum: states},
		{name: "type", form: formName, doc: "Type.", example: "mail"},
		{name: "template", form: formName, doc: "Template they were created from."},
		{name: "schedule", form: formName, doc: "Schedule that fired them."},
		{name: "group", form: formID, doc: "Id of the group."},
		{name: "execution", form: formID, doc: "Id of the execution, or of any of its jobs."},
	}, detailParams("Created")...)
}

// detailParams are the filters that jobs, executions and the audit share.
func detailParams(happened string) []param {
	return []param{
		{name: "since", form: formMoment, doc: happened + " at or after this time, or within this duration until now.", example: "24h"},
		{name: "until", form: formMoment, doc: happened + " before this time, or longer ago than this duration.", example: "2026-11-15T07:00:00Z"},
		{name: "name", form: formName, doc: "Name of the execution: that of its schedule or template, otherwise its type.", example: "nightly"},
		{name: "unique_key", form: formName, doc: "Unique key, also one that is free again."},
		{name: "scope_kind", form: formName, doc: "Kind of the scope."},
		{name: "scope_id", form: formName, doc: "Id of the scope."},
		{name: "error_code", form: formName, doc: "Error code of the run.", example: "timeout"},
		{name: "q", form: formName, doc: "Part of the name, type, template, schedule, unique key, scope id (but not global, that of jobs without a scope) or error. The case of the letters A to Z is ignored."},
	}
}

// filter reads the filter parameters that jobs and events share.
func (c *call) filter() filter {
	return filter{
		typ: c.query.Get("type"), template: c.query.Get("template"), schedule: c.query.Get("schedule"),
		group: c.queryID("group"), execution: c.queryID("execution"), ids: c.idRange(),
	}
}

// jobFilter reads the filter parameters of the query.
func (c *call) jobFilter() (filter, error) {
	f := c.filter()
	f.states = c.words("state")
	err := c.readDetails(&f, c.query.Get)
	return f, asMalformed(err)
}

// readDetails reads the filters that jobs, executions and the audit share.
func (c *call) readDetails(f *filter, get func(name string) string) (err error) {
	f.name, f.uniqueKey, f.scopeKind, f.scopeID = get("name"), get("unique_key"), get("scope_kind"), get("scope_id")
	f.errorCode, f.text = get("error_code"), get("q")
	if f.since, err = c.moment("since", get("since")); err == nil {
		f.until, err = c.moment("until", get("until"))
	}
	if err == nil {
		q := f.query()
		q.Name = f.name
		err = q.Validate()
	}
	return err
}

// moment reads a time, or a duration that is counted back from the time of the request; zero: it is not given.
func (c *call) moment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := rota.ParseDuration(text); err == nil && d >= 0 {
		now, err := c.requestTime()
		return now.Add(-d), err
	}
	at, err := cron.ParseTime(text, time.UTC)
	if err != nil {
		return at, rota.Invalidf(field, "%s is not a time; write it like 2026-11-15T07:00:00Z, or as a duration until now, such as 24h or 7d", quoted(text))
	}
	if at.IsZero() { // a query without a time has the same value
		return at, rota.Invalidf(field, "is in the year 1; allowed are 1970 to %d", rota.YearMax)
	}
	return at, nil
}

// empty reports whether the filter selects everything.
func (f *filter) empty() bool {
	q := f.query()
	return len(f.states) == 0 && f.name == "" && f.execution.IsZero() && q == rota.JobQuery{}
}

// query returns the filter for the store without the state and the name, which need several searches.
func (f *filter) query() rota.JobQuery {
	return rota.JobQuery{
		Type: f.typ, Template: f.template, Schedule: f.schedule, GroupID: f.group, UniqueKey: f.uniqueKey, ScopeKind: f.scopeKind,
		ScopeID: f.scopeID, ErrorCode: f.errorCode, Text: f.text, Since: f.since, Until: f.until, After: f.after(),
	}
}

// idAge bounds how much older the id of a job is than the job. Ids come from the id of the command that creates the job,
// which has the time of its first sending: of a request with an idempotency key at most RequestKeep ago. The rest
// is for clocks that differ.
const idAge = rota.RequestKeep + 24*time.Hour

// after returns the id that those of the jobs are greater than. Ids are ordered by time, so that since ends the
// search: the store has no index by the creation.
func (f *filter) after() rota.ID {
	if f.since.IsZero() {
		return f.ids.after
	}
	oldest := rota.FirstIDAt(f.since.Add(-idAge))
	if oldest.Compare(f.ids.after) < 0 {
		return f.ids.after
	}
	return oldest
}

// match applies the filter without the state to a job that was found without it. With ofExecution the
// job is compared as its execution is shown: see rota.JobQuery.
func (f *filter) match(j *rota.Job, attempts []*rota.Job, ofExecution bool) bool {
	first, failed := j, j
	if ofExecution {
		first = attempts[0]
		if j.Run == nil && j.Attempt > 1 {
			failed = attempts[j.Attempt-2]
		}
	}
	code, contains := "", j.Contains(f.text)
	if failed.Run != nil {
		code = failed.Run.ErrorCode
		contains = contains || (&rota.Job{Run: failed.Run}).Contains(f.text)
	}
	equal := func(wanted, value string) bool { return wanted == "" || wanted == value }
	return equal(f.typ, j.Type) && equal(f.template, j.Template) && equal(f.schedule, j.Schedule) && (f.group.IsZero() || j.GroupID == f.group) &&
		equal(f.name, j.DefinitionName()) && equal(f.uniqueKey, j.UniqueKey) && equal(f.scopeKind, cmp.Or(j.ScopeKind, rota.GlobalScopeKind)) &&
		equal(f.scopeID, cmp.Or(j.ScopeID, rota.GlobalScopeID)) && equal(f.errorCode, code) && contains &&
		(f.since.IsZero() || !first.CreatedAt.Before(f.since)) && (f.until.IsZero() || first.CreatedAt.Before(f.until))
}

// words returns the words of a list that are separated by commas, as the enum writes them, each once.
func (c *call) words(name string) (words []string) {
	p := c.op.param(name)
	if p == nil || !c.query.Has(name) {
		return nil
	}
	return wordsOf(c.query.Get(name), p.enum)
}

func wordsOf(text string, allowed []string) (words []string) {
	for _, word := range allowed {
		if slices.ContainsFunc(strings.Split(text, ","), func(one string) bool { return strings.EqualFold(strings.TrimSpace(one), word) }) {
			words = append(words, word)
		}
	}
	return words
}
