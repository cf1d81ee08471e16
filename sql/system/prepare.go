package system

import (
	"context"
	"errors"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/catalog"
	"github.com/rotajobs/rota/sql/kind"
	tree "github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

// Session describes the session that runs a query. The zero value is a session without user and settings.
type Session struct {
	View    func(context.Context) (rota.View, error) // of what the user may see
	User    string
	PID     int                                          // the number of the session
	Setting func(name string) (value string, known bool) // nil: none is changed
	Set     func(name, value string, local bool) error   // nil: none can be
	Version string                                       // of the program
}

// Query is a prepared query. It keeps only its text: the parsed query and its translation have many times the size.
type Query struct {
	Columns  []Column
	Params   []kind.Kind
	text     string
	known    []kind.Kind // parameter types that the caller gave
	resolver resolver
}

// Prepare parses and translates a query. Parameter types that are not given are inferred, with text as the default. An
// error is an *Error. Prepare does not read the store.
func (c *Catalogue) Prepare(text string, params []kind.Kind, session Session) (*Query, error) {
	zone := session.zone()
	q := &Query{text: text, known: params, resolver: resolver{path: session.path(), literalZone: zone, outputZone: zone}}
	s, err := c.translate(q)
	if err != nil {
		return nil, err
	}
	q.Columns, q.Params = s.Columns, s.Params
	return q, nil
}

// translate translates a query.
func (c *Catalogue) translate(q *Query) (s *translate.Statement, err error) {
	c.translations <- struct{}{}
	defer func() { <-c.translations }()
	c.large.do(len(q.text), func() {
		var read *tree.Query
		if read, err = tree.Parse(q.text); err == nil {
			s, err = translate.Translate(read, q.resolver, q.known)
		}
	})
	return s, err
}

// inZone returns the query for a session whose time zone may have changed since Prepare. Time literals in the text keep
// the zone of Prepare, as in PostgreSQL.
func (q *Query) inZone(zone string) *Query {
	other := *q
	other.resolver.outputZone = zone
	return &other
}

// asError converts an error of the catalogue to an *Error.
func asError(err error) error {
	var call *catalog.Error
	if errors.As(err, &call) {
		return &Error{State: call.State, Message: call.Message, Hint: call.Hint, Offset: -1}
	}
	return err
}

// path returns the search path of the session, without pg_catalog.
func (a *Session) path() []string {
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
func (a *Session) zone() string {
	if a.Setting == nil {
		return ""
	}
	zone, _ := a.Setting("TimeZone")
	return zone
}

// resolver finds the tables and functions that a query names.
type resolver struct {
	path                    []string
	literalZone, outputZone string // time zones
}

// Table finds a table by its names.
func (n resolver) Table(in, name string) (*translate.Table, bool) {
	if in != "" {
		t, known := tablesByName()[in+"."+name]
		return t, known
	}
	for _, s := range append([]string{catalogSchema}, n.path...) {
		if t, known := tablesByName()[s+"."+name]; known {
			return t, true
		}
	}
	return nil, false
}

// Functions finds those of PostgreSQL's catalogue.
func (n resolver) Functions(name string) []translate.Signature { return catalogSignatures()[name] }

// Zones are the time zones of the session.
func (n resolver) Zones() (written, shown string) { return n.literalZone, n.outputZone }

// Tables are those of our own, which are what people look for.
func (n resolver) Tables() []string {
	list := TableNames()
	for i, name := range list {
		list[i] = schema + "." + name
	}
	return list
}
