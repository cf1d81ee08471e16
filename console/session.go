package console

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/ddl"
)

// Session is one conversation: statement after statement, with at most one
// transaction open. It is for one goroutine at a time.
type Session struct {
	console *Console
	mint    func() rota.Meta
	open    *transaction // nil: each statement stands by itself
	heads   heads        // of the statement that is run
	sending func() error // nil: nobody wants to know
	again   bool         // what is run was run before, under the same ids
}

// Tell has sending called before something is sent that changes the store; its error
// ends the statement. Again says that what will be run was sent before, under the
// ids that are minted now: what was found right then is not held against what
// became of it since.
func (s *Session) Tell(sending func() error, again bool) { s.sending, s.again = sending, again }

// Status is how a session stands, as the PostgreSQL protocol has it.
type Status byte

// The statuses.
const (
	Idle   Status = 'I'
	Open   Status = 'T'
	Failed Status = 'E' // until ROLLBACK nothing more is done
)

// Status says whether a transaction is open.
func (s *Session) Status() Status {
	switch {
	case s.open == nil:
		return Idle
	case s.open.failed:
		return Failed
	}
	return Open
}

// Run runs statements that are separated by semicolons and hands over the answer
// to each. A text that is wrong anywhere is refused before anything is done. Several
// statements are one transaction, unless they say otherwise: if one is refused,
// none of them was done. Arguments belong to a text of one query. Errors are
// *Error.
func (s *Session) Run(ctx context.Context, text string, args []any, each func(*Answer) error) error {
	list, err := parse(text)
	if err != nil {
		return s.fail(err)
	}
	if len(args) > 0 && len(list) != 1 {
		return s.fail(refuse(StateNoParams, "send each statement by itself", "arguments were given to %d statements", len(list)))
	}
	for _, one := range list {
		if s.open == nil && len(list) > 1 { // at the beginning, and behind a COMMIT or ROLLBACK
			s.begin(false)
			s.open.implicit = true
		}
		s.heads = heads{first: s.mint()}
		answer, err := s.one(ctx, one.statement, args)
		if err != nil {
			if s.open != nil && s.open.implicit {
				s.open = nil
			}
			return s.fail(asError(err, text, one.offset))
		}
		if err := each(answer); err != nil {
			return err
		}
	}
	if s.open != nil && s.open.implicit {
		return s.endImplicit(ctx)
	}
	return nil
}

// endImplicit does what several statements asked for together.
func (s *Session) endImplicit(ctx context.Context) error {
	tx := s.open
	s.open, s.heads = nil, heads{first: s.mint()}
	if err := s.commit(ctx, tx); err != nil {
		return asError(err, "", 0)
	}
	return nil
}

// fail keeps a transaction from going on after an error.
func (s *Session) fail(err *Error) error {
	if s.open != nil {
		s.open.failed = true
	}
	return err
}

// Answers runs statements and returns all answers.
func (s *Session) Answers(ctx context.Context, text string, args ...any) (all []*Answer, err error) {
	err = s.Run(ctx, text, args, func(a *Answer) error {
		all = append(all, a)
		return nil
	})
	return all, err
}

type placed struct {
	statement ddl.Statement
	offset    int
}

// parse reads all statements of a text.
func parse(text string) (list []placed, _ *Error) {
	sources, err := ddl.Split(text)
	if err != nil {
		return nil, asError(err, text, 0)
	}
	for _, one := range sources {
		statement, err := ddl.Parse(one.Text)
		if err != nil {
			return nil, asError(err, text, one.Offset)
		}
		list = append(list, placed{statement, one.Offset})
	}
	return list, nil
}

// one runs one statement.
func (s *Session) one(ctx context.Context, statement ddl.Statement, args []any) (*Answer, error) {
	if s.Status() == Failed {
		switch statement.(type) {
		case *ddl.Commit, *ddl.Rollback:
		default:
			return nil, refuse(StateInFailed, "end it with ROLLBACK", "the transaction has failed, and nothing more is done in it")
		}
	}
	if q, is := statement.(*ddl.Select); is {
		return s.query(ctx, q.Text, args)
	}
	if len(args) > 0 {
		return nil, refuse(StateNoParams, "write the values into the statement", "%s takes no arguments", statement.Tag())
	}
	switch q := statement.(type) {
	case *ddl.Begin:
		return s.beginWork(q)
	case *ddl.Commit:
		return s.commitWork(ctx)
	case *ddl.Rollback:
		return s.rollbackWork()
	case *ddl.ShowJobs:
		return s.query(ctx, sqlShowJobs, nil)
	case *ddl.ShowCreateJob:
		return s.showCreate(ctx, q.Name)
	case *ddl.Show:
		return s.show(q.Name)
	case *ddl.ExplainRun:
		return s.explainRun(ctx, q.ID)
	case *ddl.ExplainQuery:
		return nil, refuse(StateNotSupported, "EXPLAIN JOB RUN id says why a run is where it is", "how a query is run cannot be explained")
	case *ddl.Security:
		return nil, notYet(q.Tag())
	}
	return s.write(ctx, statement)
}

// notYet refuses what is parsed and has no meaning yet.
func notYet(tag string) *Error {
	return refuse(StateNotSupported, "there is one user, admin, who may do everything", "%s is not supported yet", tag)
}
