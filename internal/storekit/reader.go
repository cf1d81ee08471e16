package storekit

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Reader implements the reads of a store that execute queries and build an answer. A store embeds
// it, and so does its view.
type Reader struct{ on Connection }

// Connection is what Reader reads from.
type Connection struct {
	// Query executes one query.
	Query func(ctx context.Context, act, sql string, each func(Row) error, args ...any) error
	// Snapshot calls use with a connection on which all queries read one snapshot.
	Snapshot func(ctx context.Context, act string, use func(Querier) error) error
	// Now returns the time of the store's clock, or zero if the queries read it themselves.
	Now func() time.Time

	Reads *Reads
}

// NewReader returns the reads on a connection.
func NewReader(on Connection) Reader { return Reader{on} }

// clock returns the time of the store's clock.
func (s *Reader) clock(ctx context.Context) (now time.Time, err error) {
	err = s.on.Query(ctx, "clock", "\nSELECT "+s.on.Reads.Clock, func(r Row) error {
		now = r.Time(0)
		return nil
	}, s.on.Now())
	return now, err
}

// Querier executes queries in order, if possible in one round trip.
type Querier interface {
	Query(queries ...Query) error
	// AuditEntries reads the audit entries that have one of some ids, in any order, with the columns of
	// Audit.
	AuditEntries(ids []rota.ID, each func(Row) error) error
}

// Query is a query, the function that is called with each of its rows, and its arguments.
type Query struct {
	SQL  string
	Each func(Row) error
	Args []any
}

// pageDefault is the length of a page if the caller states none.
const pageDefault = 100

// PageLimit returns the length of a page.
func PageLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return pageDefault, nil
	case limit < 0 || limit > rota.PageMax:
		return 0, rota.Invalidf("limit", "is %d; allowed are 1 to %d, or 0 for %d", limit, rota.PageMax, pageDefault)
	}
	return limit, nil
}

// Before returns the id below which a page begins; zero is above all ids.
func Before(id rota.ID) rota.ID {
	if id.IsZero() {
		return rota.ID(slices.Repeat([]byte{0xff}, len(id)))
	}
	return id
}

const notInternalType = ` AND (name < 'rota.' OR name >= 'rota/')`

// Type returns a type by its name.
func (s *Reader) Type(ctx context.Context, name string) (*rota.Type, error) {
	return readNamed(ctx, s, Types, "type", name)
}

// Types lists types by name, without internal types.
func (s *Reader) Types(ctx context.Context, q rota.NameQuery) ([]*rota.Type, error) {
	return readNames(ctx, s, Types, "types", q, notInternalType)
}

// Template returns a template by its name.
func (s *Reader) Template(ctx context.Context, name string) (*rota.Template, error) {
	return readNamed(ctx, s, Templates, "template", name)
}

// Templates lists templates by name.
func (s *Reader) Templates(ctx context.Context, q rota.NameQuery) ([]*rota.Template, error) {
	return readNames(ctx, s, Templates, "templates", q, "")
}

// Schedule returns a schedule by its name.
func (s *Reader) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	return readNamed(ctx, s, Schedules, "schedule", name)
}

// Throttle returns the limits in force.
func (s *Reader) Throttle(ctx context.Context) (*rota.Throttle, error) {
	return readSingle(ctx, s, Throttle, "limits")
}

// Webhooks returns the webhooks that receive all events.
func (s *Reader) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	return readSingle(ctx, s, Webhooks, "webhooks")
}

var sqlReservations = Reservations.Select() + `
WHERE id < $1
ORDER BY id DESC
LIMIT $2`

// Reservations lists reservations, newest first.
func (s *Reader) Reservations(ctx context.Context, before rota.ID, limit int) ([]*rota.Reservation, error) {
	most, err := PageLimit(limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, Reservations, "reservations", sqlReservations, Before(before), most)
}

const sqlDefinition = `
SELECT name
FROM rota_definitions
WHERE id = $1`

// Definition returns the name of a definition id. SQL clients name a definition by its id, and
// history outlives it. So the store keeps every name, written with the first schedule that has it.
func (s *Reader) Definition(ctx context.Context, id rota.ID) (name string, err error) {
	err = s.on.Query(ctx, "definition", sqlDefinition, func(r Row) error {
		name = r.Text(0)
		return nil
	}, id)
	if err == nil && name == "" {
		return "", &rota.Error{
			Code: rota.NotFound, Act: "definition", Reason: "no definition has the id " + id.String(),
			Hint: "check the id; rota schedule list shows the schedules",
		}
	}
	return name, err
}

// readAll reads rows of a table.
func readAll[T any](ctx context.Context, s *Reader, t *Table[T], act, sql string, args ...any) (all []*T, err error) {
	err = s.on.Query(ctx, act, sql, ScanInto(t, func(one *T) { all = append(all, one) }), args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// readNamed reads the row of a name, or returns a NotFound error.
func readNamed[T any](ctx context.Context, s *Reader, t *Table[T], what, name string) (*T, error) {
	if !utf8.ValidString(name) || strings.Contains(name, "\x00") { // PostgreSQL refuses such an argument
		return nil, notFound(what, name)
	}
	var found *T
	err := s.on.Query(ctx, what, t.ByKey(), func(r Row) (err error) {
		found, err = t.Scan(r)
		return err
	}, name)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, notFound(what, name)
	}
	return found, nil
}

func notFound(what, name string) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: what, Reason: "there is no " + what + " " + name,
		Hint: "rota " + what + " list shows the " + what + "s",
	}
}

// readNames reads a page of rows by name.
func readNames[T any](ctx context.Context, s *Reader, t *Table[T], act string, q rota.NameQuery, condition string) ([]*T, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, t, act, pageByName(t, condition), q.After, limit)
}

func pageByName[T any](t *Table[T], condition string) string {
	return t.Select() + `
WHERE name > $1` + condition + `
ORDER BY name
LIMIT $2`
}

// readSingle reads the only row of a table, or returns an empty one.
func readSingle[T any](ctx context.Context, s *Reader, t *Table[T], act string) (*T, error) {
	all, err := readAll(ctx, s, t, act, t.ByKey())
	if err != nil || len(all) == 0 {
		return new(T), err
	}
	return all[0], nil
}
