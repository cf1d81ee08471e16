package session

import (
	"context"

	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/system"
)

// Prepared is a parsed statement with the types of its parameters and columns.
type Prepared struct {
	Text    string
	Params  []kind.Kind     // types of the arguments
	Columns []system.Column // nil: the statement returns no rows
	Empty   bool            // the text has no statement

	statement ddl.Statement
	span      span
	query     *system.Query // nil: not a query
}

// Prepare parses a text of at most one statement. Parameter types that the caller does not give are inferred, with
// text as the default.
func (s *Session) Prepare(ctx context.Context, text string, params []kind.Kind) (*Prepared, error) {
	list, failed := s.parse(text)
	if failed != nil {
		return nil, s.fail(failed)
	}
	s.memory.Release(statementBytes * len(list))
	switch {
	case len(list) == 0:
		return &Prepared{Text: text, Empty: true}, nil
	case len(list) > 1:
		return nil, s.fail(newError(StateSyntax, "send each statement separately", "cannot prepare %d statements at once", len(list)))
	}
	p := &Prepared{Text: text, statement: list[0].statement, span: list[0].span}
	err := s.checkNotAborted(p.statement)
	if err == nil {
		err = s.checkScope(ctx, p.statement)
	}
	if err == nil {
		err = s.describe(p, params)
	}
	if err != nil {
		return nil, s.fail(asError(err, text, p.span.start))
	}
	return p, nil
}

// Bytes is about the memory of the statement.
func (p *Prepared) Bytes() int {
	return preparedBytes + 3*len(p.Text) + columnBytes*(len(p.Columns)+len(p.Params)) // the text, and the values of a parsed statement
}

const (
	preparedBytes = 1 << 10
	columnBytes   = 128
)

// describe sets the types of the parameters and columns.
func (s *Session) describe(p *Prepared, params []kind.Kind) (err error) {
	switch q := p.statement.(type) {
	case *ddl.Select:
		return s.describeQuery(p, q.Text, params)
	case *ddl.ShowJobs:
		return s.describeQuery(p, sqlShowJobs, nil)
	case *ddl.ShowUsers:
		return s.describeQuery(p, sqlShowUsers, nil)
	case *ddl.ShowRoles:
		return s.describeQuery(p, sqlShowRoles, nil)
	case *ddl.ShowGrants: // running it checks the name, so that the query is not kept
		err = s.describeQuery(p, s.showGrantsText(q), nil)
		p.query = nil
		return err
	case *ddl.ShowCreateJob:
		p.Columns = createColumns
	case *ddl.ExplainRun:
		p.Columns = explainColumns
	case *ddl.ExecuteJob:
		p.Columns = runColumns
	case *ddl.Show:
		p.Columns = showColumns(q.Name)
		if q.Name == "all" {
			p.Columns = allColumns
		}
	}
	if len(params) > 0 {
		return noArguments(p.statement)
	}
	return nil
}

func (s *Session) describeQuery(p *Prepared, text string, params []kind.Kind) (err error) {
	p.query, err = s.console.catalogue.Prepare(text, params, s.sysSession())
	if err != nil {
		return err
	}
	p.Columns, p.Params = p.query.Columns, p.query.Params
	return nil
}

// Execute runs a statement that was prepared. Arguments are int64, float64, bool,
// string, []byte, time.Time and nil. Errors are *Error.
func (s *Session) Execute(ctx context.Context, p *Prepared, args []any) (*Answer, error) {
	if p.Empty {
		return &Answer{}, nil
	}
	return s.perform(p.Text, p.span, func() (*Answer, error) {
		if p.query == nil {
			return s.runStatement(ctx, p.statement, args)
		}
		if err := s.checkNotAborted(p.statement); err != nil {
			return nil, err
		}
		return s.answer(ctx, p.query, args)
	})
}

// BeginImplicit begins a transaction without BEGIN: Sync applies the statements executed until then together or not at
// all. In a transaction it does nothing.
func (s *Session) BeginImplicit() {
	if s.tx == nil {
		s.begin(false)
		s.tx.implicit = true
	}
}

// Fail marks the open transaction as failed, for example after a protocol error. It rolls back an implicit transaction.
func (s *Session) Fail() {
	switch {
	case s.tx == nil:
	case s.tx.implicit:
		s.end(false)
	default:
		s.tx.failed = true
	}
}

// Sync commits an implicit transaction. A transaction that BEGIN opened stays open.
func (s *Session) Sync(ctx context.Context) error {
	if s.tx == nil || !s.tx.implicit {
		return nil
	}
	return s.endImplicit(ctx)
}
