package sys

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

var templateTable = &table[*rota.Template]{
	name: "templates", key: func(t **rota.Template) string { return (*t).Name },
	columns: append([]column[*rota.Template]{
		{name: "template_name", kind: Text, value: func(t **rota.Template) sqlite.Value { return word((*t).Name) }, must: true},
		{name: "job_type", kind: Text, value: func(t **rota.Template) sqlite.Value { return word(jobType((*t).Spec.Type)) }, must: true},
		{name: "type", kind: Text, value: func(t **rota.Template) sqlite.Value { return word((*t).Spec.Type) }, must: true},
		{name: "description", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).Spec.Description) }},
		{name: "params", kind: JSON, value: func(t **rota.Template) sqlite.Value { return document((*t).Spec.Params) }},
		{name: "priority", kind: Integer, value: func(t **rota.Template) sqlite.Value { return integerOf((*t).Spec.Priority) }},
		{name: "max_retries", kind: Integer, value: func(t **rota.Template) sqlite.Value { return integerOf((*t).Spec.Policy.MaxRetries) }},
		{name: "concurrency_key", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).Spec.ConcurrencyKey) }},
		{name: "state", kind: Text, value: func(t **rota.Template) sqlite.Value { return word(string((*t).State)) }, must: true},
		{name: "created_by", kind: Text, value: func(t **rota.Template) sqlite.Value { return text((*t).CreatedBy) }},
	}, templateTimes()...),
	ways: []way[*rota.Template]{
		{by: "template_name", rows: 1, read: func(q *query, w want) pages[*rota.Template] {
			name := w.is["template_name"].Text()
			if name == "" {
				return nothing[*rota.Template]
			}
			return one(q, func(v rota.View) (*rota.Template, error) { return v.Template(q.ctx, name) }, same[*rota.Template])
		}},
		{order: []term{{column: "template_name"}}, rows: schedulesGuess, read: templatesByName},
	},
}

func templateTimes() []column[*rota.Template] {
	return append(
		timed("created_at", func(t **rota.Template) time.Time { return (*t).CreatedAt }),
		timed("updated_at", func(t **rota.Template) time.Time { return (*t).UpdatedAt })...,
	)
}

func templatesByName(q *query, w want) pages[*rota.Template] {
	return paged(q, w, func(v rota.View, limit int, last **rota.Template) ([]*rota.Template, error) {
		ask := rota.NameQuery{Limit: limit}
		if last != nil {
			ask.After = (*last).Name
		}
		return v.Templates(q.ctx, ask)
	}, same[*rota.Template])
}

// templates are those that rows of sys.jobs asked for. A walk by name asks for
// them by name as well, and then one read brings many.
type templates struct {
	known map[string]*rota.Template
	last  string // the name that was asked for last
	climb int    // how many in a row came behind the one before
}

// A walk that asks for so many in the order of their names goes by name.
const templatesFew = 8

var noTemplate = &rota.Template{}

func (t *templates) get(q *query, name string) *rota.Template {
	if found := t.known[name]; found != nil {
		return found
	}
	view, err := q.store()
	if err == nil {
		err = t.read(q, view, name)
	}
	t.last = name
	if err != nil {
		_ = q.fail(err)
		return noTemplate
	}
	return t.known[name]
}

func (t *templates) read(q *query, view rota.View, name string) error {
	q.reads++
	if t.known == nil || len(t.known) > 10*pageMost {
		t.known = map[string]*rota.Template{}
	}
	if t.climb++; name < t.last {
		t.climb = 0
	}
	if t.climb > templatesFew {
		list, err := view.Templates(q.ctx, rota.NameQuery{After: t.last, Limit: pageMost})
		if err != nil {
			return err
		}
		for _, one := range list {
			t.known[one.Name] = one
		}
		if t.known[name] != nil {
			return nil
		}
	}
	found, err := view.Template(q.ctx, name)
	if rota.CodeOf(err) == rota.NotFound {
		found, err = noTemplate, nil
	}
	t.known[name] = found
	return err
}
