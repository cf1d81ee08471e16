package system

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/catalog"
	"github.com/rotajobs/rota/sql/translate"
)

// query is one running statement: its view of the store and what it has read.
type query struct {
	ctx    context.Context
	source *Source
	view   rota.View // nil: nothing was read yet
	err    error     // error of a store or function; SQLite would keep only its text
	reads  int       // number of reads of the store
	rows   int64     // number of rows read

	plans    []plan          // of the scans; SQLite knows them by their number
	common   map[string]bool // names of common table expressions, in lower case
	session  Session
	charged  int   // bytes of the rows and aggregates that the query keeps
	valueMax int32 // bytes of one value

	cachedScans map[string]any // rows of complete scans, because joins repeat them
	cachedBytes int            // of cachedScans and of scans that are being collected
	templates   templates
	attempts    boundedMap[rota.ID, *rota.Job] // earlier attempts of executions
	principals  boundedMap[string, *rota.Principal]
	roles       *catalog.Roles // nil: not read yet
}

func newQuery(ctx context.Context, from *Source, of *translate.Statement, session Session) *query {
	q := &query{ctx: ctx, source: from, session: session, common: map[string]bool{}, cachedScans: map[string]any{}}
	for _, name := range of.CommonTables {
		q.common[strings.ToLower(name)] = true
	}
	return q
}

// env returns the session for functions such as current_user.
func (q *query) env() *catalog.Env {
	return &catalog.Env{
		User: cmp.Or(q.session.User, "admin"), Database: Database, PID: q.session.PID, Version: q.session.Version,
		SearchPath: q.session.path(), Setting: q.session.Setting, Set: q.session.Set, Roles: q.catalogRoles,
	}
}

// Source is where rows come from that are not in the store.
type Source struct {
	Nodes   func(context.Context) ([]Node, error)   // nil: there are none to show
	Metrics func(context.Context) ([]Metric, error) // nil: none but those of the store
}

// store returns the view that all reads of the query use.
func (q *query) store() (rota.View, error) {
	if q.view != nil {
		return q.view, nil
	}
	view, err := q.session.View(q.ctx)
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

// chargedMax limits the bytes of the pages of rows that scans have read and of the values that aggregates keep. Values
// of SQLite and cached rows have limits of their own.
const chargedMax = 64 << 20

// charge counts bytes that the query keeps. It fails the query if there are too many.
func (q *query) charge(n int) error {
	if q.charged += n; q.charged <= chargedMax {
		return nil
	}
	return q.fail(&Error{
		State: StateLimit, Offset: -1, Message: fmt.Sprintf("the query keeps more than %d MiB of rows and aggregated values", chargedMax>>20),
		Hint: "aggregate fewer rows, or join fewer tables with large documents",
	})
}

// release counts bytes that the query no longer keeps.
func (q *query) release(n int) { q.charged -= n }

// close closes the view.
func (q *query) close() {
	if q.view != nil {
		_ = q.view.Close()
		q.view = nil
	}
}

// paged reads pages of a view until one is not full. It drops the rows of a page after pageBytes and reads them again
// with the next page, so that a scan keeps few bytes although a row may have 1 MiB.
func paged[R, T any](q *query, w readRequest, read func(rota.View, int, *T) ([]T, error), row func(T) R) pages[R] {
	size, last, done, bytes := w.page(), (*T)(nil), false, 0
	return func() ([]R, error) {
		if done {
			return nil, nil
		}
		view, err := q.store()
		if err != nil {
			return nil, err
		}
		limit := size(bytes)
		list, err := read(view, limit, last)
		switch {
		case rota.CodeOf(err) == rota.Invalid: // a condition has a value that no row can have, such as an invalid name
			done = true
			return nil, nil
		case err != nil:
			return nil, err
		}
		done = len(list) < limit
		if len(list) == 0 {
			return nil, nil
		}
		rows := make([]R, 0, len(list))
		bytes = 0
		for _, one := range list {
			size := documentBytes(one)
			if len(rows) > 0 && bytes+size > pageBytes {
				done, bytes = false, bytes+size*(len(list)-len(rows)) // the estimate for the next page
				break
			}
			rows = append(rows, row(one))
			bytes += size
		}
		last = new(list[len(rows)-1]) // not a pointer into the list, which would keep all of it
		return rows, nil
	}
}

// documentBytes is the size of the documents of a row.
func documentBytes(row any) int {
	switch r := row.(type) {
	case *rota.Job:
		n := len(r.Params)
		if r.Run != nil {
			n += len(r.Run.Result) + len(r.Run.Progress) + len(r.Run.Error)
		}
		return n
	case *rota.Template:
		return len(r.Spec.Params) + len(r.Spec.Description)
	case *rota.Schedule:
		return len(r.Spec.Params) + len(r.Spec.Description)
	case *rota.Principal:
		return len(r.Spec.Verifier) + grantBytes*(len(r.Spec.Grants)+len(r.Spec.Roles))
	case *rota.AuditEntry:
		return len(r.Detail) + len(r.Changes)
	case run:
		return documentBytes(r.Job)
	case execution:
		return documentBytes(r.Job)
	case job:
		return documentBytes(r.Schedule)
	case event:
		return documentBytes(r.AuditEntry)
	}
	return 0
}

// grantBytes is about the memory of one grant or membership of a principal.
const grantBytes = 128

// singleRow reads one row of a view, or none if it does not exist.
func singleRow[R, T any](q *query, read func(rota.View) (T, error), row func(T) R) pages[R] {
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

// concat returns the pages of first, and then those of then.
func concat[R any](first, then pages[R]) pages[R] {
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

// filtered keeps the rows that pick selects. It reads pages until one has a row, because an empty page ends the scan.
func filtered[R any](of pages[R], pick func(R) bool) pages[R] {
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

// asRead returns its argument, for tables whose rows are the values read.
func asRead[T any](t T) T { return t }
