package console

import (
	"context"

	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/sys"
	"github.com/rotajobs/rota/ddl"
)

// Prepared is a statement that was read, and of which it is known what it takes and
// gives.
type Prepared struct {
	Text    string
	Params  []kind.Kind  // what its arguments are
	Columns []sys.Column // nil: it answers with no rows
	Empty   bool         // there is no statement in the text

	statement ddl.Statement
	offset    int
	query     *sys.Query // nil: it is none
}

// Prepare reads a text of one statement, or none. Of the arguments whose kind the
// caller knows it is said; the others are found out, or are texts.
func (s *Session) Prepare(_ context.Context, text string, params []kind.Kind) (*Prepared, error) {
	list, err := parse(text)
	switch {
	case err != nil:
		return nil, s.fail(err)
	case len(list) == 0:
		return &Prepared{Text: text, Empty: true}, nil
	case len(list) > 1:
		return nil, s.fail(refuse(StateSyntax, "send each statement separately", "cannot prepare %d statements at once", len(list)))
	}
	p := &Prepared{Text: text, statement: list[0].statement, offset: list[0].offset}
	if err := s.goesOn(p.statement); err != nil {
		return nil, s.fail(asError(err, text, p.offset))
	}
	if err := s.describe(p, params); err != nil {
		return nil, s.fail(asError(err, text, p.offset))
	}
	return p, nil
}

// describe finds out what a statement takes and gives.
func (s *Session) describe(p *Prepared, params []kind.Kind) (err error) {
	switch q := p.statement.(type) {
	case *ddl.Select:
		return s.describeQuery(p, q.Text, params)
	case *ddl.ShowJobs:
		return s.describeQuery(p, sqlShowJobs, nil)
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
	s.heads = heads{first: s.mint()}
	answer, err := s.do(ctx, p, args)
	if err != nil {
		failed := asError(err, p.Text, p.offset)
		if s.open != nil && s.open.implicit {
			s.end(false)
		}
		return nil, s.fail(failed)
	}
	return answer, nil
}

func (s *Session) do(ctx context.Context, p *Prepared, args []any) (*Answer, error) {
	if p.query == nil {
		return s.one(ctx, p.statement, args)
	}
	if err := s.goesOn(p.statement); err != nil {
		return nil, err
	}
	return s.answer(ctx, p.query, args)
}

// Gather begins a transaction that nobody asked for: what is executed from now on is
// done together at Sync, or not at all. In a transaction it does nothing.
func (s *Session) Gather() {
	if s.open == nil {
		s.begin(false)
		s.open.implicit = true
	}
}

// Fail has an open transaction fail, for a reason that is the caller's. What was only
// gathered is dropped.
func (s *Session) Fail() {
	switch {
	case s.open == nil:
	case s.open.implicit:
		s.end(false)
	default:
		s.open.failed = true
	}
}

// Sync does what was gathered. A transaction that somebody began stays open.
func (s *Session) Sync(ctx context.Context) error {
	if s.open == nil || !s.open.implicit {
		return nil
	}
	return s.endImplicit(ctx)
}
