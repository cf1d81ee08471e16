package sys

import (
	"cmp"
	"context"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/console/pgcatalog"
)

// query is one statement that is under way: the state of the store that it sees,
// and what it has read of it.
type query struct {
	ctx   context.Context
	from  *Source
	view  rota.View // nil: nothing was read yet
	err   error     // what went wrong below SQLite, which would only tell its text
	reads int       // how often a store was asked
	rows  int64     // how many rows it gave

	common   map[string]bool // the names that the statement gives to queries, in lower case
	who      Asker
	gathered int // bytes, into arrays and documents

	walked    map[string]any // the rows of walks through tables, which joins make again and again
	kept      int            // how many they are
	templates templates
}

func newQuery(ctx context.Context, from *Source, of *Query, who Asker) *query {
	q := &query{ctx: ctx, from: from, who: who, common: map[string]bool{}, walked: map[string]any{}}
	for _, name := range of.meaning.Commons {
		q.common[strings.ToLower(name)] = true
	}
	return q
}

// env is the session, for functions that tell of it.
func (q *query) env() *pgcatalog.Env {
	return &pgcatalog.Env{
		User: cmp.Or(q.who.User, "admin"), Database: Database, PID: q.who.PID, Version: q.who.Version,
		SearchPath: q.who.path(), Setting: q.who.Setting, Set: q.who.Set,
	}
}

// Source is where rows come from.
type Source struct {
	View    func(context.Context) (rota.View, error)
	Nodes   func(context.Context) ([]Node, error)   // nil: there are none to show
	Metrics func(context.Context) ([]Metric, error) // nil: none but those of the store
}

// store is the one state that all reads of the query see.
func (q *query) store() (rota.View, error) {
	if q.view != nil {
		return q.view, nil
	}
	view, err := q.from.View(q.ctx)
	if err != nil {
		return nil, err
	}
	q.view = view
	return view, nil
}

// fail keeps the error that ends the query.
func (q *query) fail(err error) error {
	if q.err == nil {
		q.err = err
	}
	return err
}

// close gives the state back.
func (q *query) close() {
	if q.view != nil {
		_ = q.view.Close()
		q.view = nil
	}
}

// paged asks a view for page after page until one is not full.
func paged[R, T any](q *query, w want, read func(rota.View, int, *T) ([]T, error), row func(T) R) pages[R] {
	size, last, done := w.page(), (*T)(nil), false
	return func() ([]R, error) {
		if done {
			return nil, nil
		}
		view, err := q.store()
		if err != nil {
			return nil, err
		}
		limit := size()
		list, err := read(view, limit, last)
		switch {
		case rota.CodeOf(err) == rota.Invalid: // it is asked for what nothing can be called
			done = true
			return nil, nil
		case err != nil:
			return nil, err
		}
		done = len(list) < limit
		if len(list) == 0 {
			return nil, nil
		}
		last = &list[len(list)-1]
		rows := make([]R, len(list))
		for i, one := range list {
			rows[i] = row(one)
		}
		return rows, nil
	}
}

// one asks a view for a single row. What is not found is no row.
func one[R, T any](q *query, read func(rota.View) (T, error), row func(T) R) pages[R] {
	return once(func() ([]R, error) {
		view, err := q.store()
		if err != nil {
			return nil, err
		}
		found, err := read(view)
		switch {
		case rota.CodeOf(err) == rota.NotFound || rota.CodeOf(err) == rota.Invalid:
			return nil, nil
		case err != nil:
			return nil, err
		}
		return []R{row(found)}, nil
	})
}

// once yields everything at once.
func once[R any](read func() ([]R, error)) pages[R] {
	done := false
	return func() ([]R, error) {
		if done {
			return nil, nil
		}
		done = true
		return read()
	}
}

// behind reads what comes first, and then what comes behind it.
func behind[R any](first, then pages[R]) pages[R] {
	over := false
	return func() ([]R, error) {
		if !over {
			if rows, err := first(); len(rows) > 0 || err != nil {
				return rows, err
			}
			over = true
		}
		return then()
	}
}

// picked leaves out some rows, and goes on until there is one, since a page
// without rows is the end.
func picked[R any](of pages[R], pick func(R) bool) pages[R] {
	return func() (rows []R, err error) {
		for len(rows) == 0 {
			list, err := of()
			if len(list) == 0 || err != nil {
				return nil, err
			}
			for _, one := range list {
				if pick(one) {
					rows = append(rows, one)
				}
			}
		}
		return rows, nil
	}
}

// same is a row that is what was read.
func same[T any](t T) T { return t }
