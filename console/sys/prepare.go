package sys

import (
	"errors"
	"strings"

	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/pgcatalog"
	tree "github.com/rotajobs/rota/console/query"
)

// Asker is the session on whose behalf a query is asked. Its zero value is nobody in
// particular.
type Asker struct {
	User    string
	PID     int                                          // the number of the session
	Setting func(name string) (value string, known bool) // nil: none is changed
	Set     func(name, value string, local bool) error   // nil: none can be
	Version string                                       // of the program
}

// Query is one of which it is known what it takes and gives.
type Query struct {
	Columns []Column
	Params  []kind.Kind

	meaning *dialect.Statement
	read    *tree.Query
	given   []kind.Kind // what the caller knew of the parameters
	names   names
}

// Prepare says what a query takes and gives. Of the parameters whose kinds are not
// given they are found out, or are texts. An error is an *Error. No store is asked.
func (c *Catalogue) Prepare(text string, params []kind.Kind, who Asker) (*Query, error) {
	read, err := tree.Parse(text)
	if err != nil {
		return nil, refusal(err)
	}
	zone := who.zone()
	q := &Query{read: read, given: params, names: names{path: who.path(), written: zone, shown: zone}}
	if err := q.translate(); err != nil {
		return nil, err
	}
	return q, nil
}

// translate says what the query means.
func (q *Query) translate() error {
	meaning, err := dialect.Translate(q.read, q.names, q.given)
	if err != nil {
		return refusal(err)
	}
	q.Columns, q.Params, q.meaning = meaning.Columns, meaning.Params, meaning
	return nil
}

// shownIn is the query for a session that has changed its time zone since. The times that
// it writes stay what they were when it was prepared, as they do in PostgreSQL.
func (q *Query) shownIn(zone string) (*Query, error) {
	if zone == q.names.shown {
		return q, nil
	}
	other := *q
	other.names.shown = zone
	if err := other.translate(); err != nil {
		return nil, err
	}
	return &other, nil
}

// refusal is an error of those who read a query, or know the catalogue.
func refusal(err error) error {
	var syntax *tree.Error
	var sense *dialect.Error
	var call *pgcatalog.Error
	switch {
	case errors.As(err, &call):
		return &Error{State: call.State, Message: call.Message, Hint: call.Hint, Offset: -1}
	case errors.As(err, &syntax):
		return &Error{State: syntax.State, Message: syntax.Message, Hint: syntax.Hint, Offset: syntax.Offset}
	case errors.As(err, &sense):
		return &Error{State: sense.State, Message: sense.Message, Hint: sense.Hint, Offset: sense.Offset}
	}
	return err
}

// path are the schemas that a session looks in, behind pg_catalog.
func (a *Asker) path() []string {
	text := schema
	if a.Setting != nil {
		if value, known := a.Setting("search_path"); known {
			text = value
		}
	}
	var path []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if bare, quoted := strings.CutPrefix(part, `"`); quoted {
			part = strings.ReplaceAll(strings.TrimSuffix(bare, `"`), `""`, `"`)
		}
		if part != "" && part != "$user" {
			path = append(path, part)
		}
	}
	return path
}

// zone is the session's time zone.
func (a *Asker) zone() string {
	if a.Setting == nil {
		return ""
	}
	zone, _ := a.Setting("TimeZone")
	return zone
}

// names are what a query may speak of.
type names struct {
	path           []string
	written, shown string // time zones
}

// Table finds a table by its names.
func (n names) Table(in, name string) (*dialect.Table, bool) {
	if in != "" {
		t, known := known()[in+"."+name]
		return t, known
	}
	for _, s := range append([]string{catalogSchema}, n.path...) {
		if t, known := known()[s+"."+name]; known {
			return t, true
		}
	}
	return nil, false
}

// Functions finds those of PostgreSQL's catalogue.
func (n names) Functions(name string) []dialect.Signature { return catalogSignatures()[name] }

// Zones are the time zones of the session.
func (n names) Zones() (written, shown string) { return n.written, n.shown }

// Tables are those of our own, which are what people look for.
func (n names) Tables() []string {
	list := TableNames()
	for i, name := range list {
		list[i] = schema + "." + name
	}
	return list
}
