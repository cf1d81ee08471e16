package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

var templateTable = &table[*rota.Template]{
	name: "templates", key: func(t **rota.Template) string { return (*t).Name }, alwaysFull: true,
	columns: append([]column[*rota.Template]{
		{name: "template_name", kind: Text, value: func(t **rota.Template) sqlite.Value { return notNullText((*t).Name) }, notNull: true},
		{name: "job_type", kind: Text, value: func(t **rota.Template) sqlite.Value { return notNullText(jobType((*t).Spec.Type)) }, notNull: true},
		{name: "type", kind: Text, value: func(t **rota.Template) sqlite.Value { return notNullText((*t).Spec.Type) }, notNull: true},
		{name: "description", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).Spec.Description) }},
		{name: "params", kind: JSON, value: func(t **rota.Template) sqlite.Value { return document((*t).Spec.Params) }},
		{name: "priority", kind: Int4, value: func(t **rota.Template) sqlite.Value { return integerOf((*t).Spec.Priority) }},
		{name: "max_retries", kind: Int4, value: func(t **rota.Template) sqlite.Value { return integerOf((*t).Spec.Policy.MaxRetries) }},
		{name: "concurrency_key", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).Spec.ConcurrencyKey) }},
		{name: "state", kind: Text, value: func(t **rota.Template) sqlite.Value { return notNullText(string((*t).State)) }, notNull: true},
		{name: "created_by", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).CreatedBy) }},
		{name: "owner", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).Owner) }},
	}, templateTimes()...),
	paths: []accessPath[*rota.Template]{
		{key: "template_name", rows: 1, read: func(q *query, w readRequest) pages[*rota.Template] {
			name := w.equal["template_name"].Text()
			if name == "" {
				return noRows[*rota.Template]
			}
			return singleRow(q, func(v rota.View) (*rota.Template, error) { return v.Template(q.ctx, name) }, asRead[*rota.Template])
		}},
		{order: []orderTerm{{column: "template_name"}}, rows: schedulesEstimate, read: templatesByName},
	},
}

func templateTimes() []column[*rota.Template] {
	return append(
		timeColumns("created_at", func(t **rota.Template) time.Time { return (*t).CreatedAt }),
		timeColumns("updated_at", func(t **rota.Template) time.Time { return (*t).UpdatedAt })...,
	)
}

func templatesByName(q *query, w readRequest) pages[*rota.Template] {
	return paged(q, w, templatesAfter(q), asRead[*rota.Template])
}

func templatesAfter(q *query) func(rota.View, int, **rota.Template) ([]*rota.Template, error) {
	return func(v rota.View, limit int, last **rota.Template) ([]*rota.Template, error) {
		ask := rota.NameQuery{Limit: limit}
		if last != nil {
			ask.After = (*last).Name
		}
		return v.Templates(q.ctx, ask)
	}
}

// templates caches the templates of sys.jobs. A scan in name order also needs templates in name order; then one read
// returns many.
type templates struct {
	known     boundedMap[string, *rota.Template]
	last      string // name requested last
	ascending int    // requests in a row in ascending order
}

// ascendingMin is how many ascending requests make get read whole pages.
const ascendingMin = 8

var noTemplate = &rota.Template{}

func (t *templates) get(q *query, name string) *rota.Template {
	if found := t.known.get(name); found != nil {
		return found
	}
	view, err := q.store()
	var found *rota.Template
	if err == nil {
		found, err = t.read(q, view, name)
	}
	t.last = name
	if err != nil {
		_ = q.fail(err)
		return noTemplate
	}
	return found
}

func (t *templates) read(q *query, view rota.View, name string) (*rota.Template, error) {
	q.reads++
	if t.ascending++; name < t.last {
		t.ascending = 0
	}
	if t.ascending > ascendingMin && t.known.small() {
		list, err := view.Templates(q.ctx, rota.NameQuery{After: t.last, Limit: pageMaxFull})
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			t.known.put(one.Name, one)
			if one.Name == name {
				return one, nil
			}
		}
	}
	found, err := view.Template(q.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		found, err = noTemplate, nil
	}
	if err == nil {
		t.known.put(name, found)
	}
	return found, err
}
