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
	user    string // who speaks
	mint    func() rota.Meta
	open    *transaction // nil: each statement stands by itself
	heads   heads        // of the statement that is run
	sending func() error // nil: nobody wants to know
	again   bool         // what is run was run before, under the same ids

	settings map[string]string // those that were changed
	brief    bool              // nothing comes after what is asked first
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
		return s.fail(refuse(StateNoParams, "send each statement separately", "arguments belong to one statement, but the text has %d", len(list)))
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
				s.end(false)
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
	s.heads = heads{first: s.mint()}
	err := s.commit(ctx, s.open)
	s.end(err == nil)
	if err != nil {
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
	if err := s.goesOn(statement); err != nil {
		return nil, err
	}
	if q, is := statement.(*ddl.Select); is {
		return s.query(ctx, q.Text, args)
	}
	if len(args) > 0 {
		return nil, noArguments(statement)
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
		return nil, refuse(StateNotSupported, "EXPLAIN JOB RUN id explains why a run does not run", "EXPLAIN of a query is not supported")
	case *ddl.Security:
		return nil, notYet(q.Tag())
	}
	if answer, err := s.about(statement); answer != nil || err != nil {
		return answer, err
	}
	return s.write(ctx, statement)
}

// goesOn refuses what cannot be done in a transaction that has failed.
func (s *Session) goesOn(statement ddl.Statement) error {
	if s.Status() != Failed {
		return nil
	}
	switch statement.(type) {
	case *ddl.Commit, *ddl.Rollback, *ddl.RollbackTo:
		return nil
	}
	return refuse(StateInFailed, "end it with ROLLBACK", "current transaction is aborted, commands ignored until end of transaction block")
}

func noArguments(statement ddl.Statement) error {
	return refuse(StateNoParams, "write the values into the statement", "%s takes no arguments", statement.Tag())
}

// about runs what is about the session or the transaction; it answers nothing to
// anything else.
func (s *Session) about(statement ddl.Statement) (*Answer, error) {
	switch q := statement.(type) {
	case *ddl.Set:
		return s.set(q)
	case *ddl.SetMode:
		return s.setMode(q)
	case *ddl.Reset:
		return s.reset(q, q.Tag())
	case *ddl.Discard:
		return s.discard(q)
	case *ddl.Deallocate:
		return s.deallocate(q)
	case *ddl.NoOp:
		return done(q.Tag()), nil
	case *ddl.Savepoint:
		return s.savepoint(q)
	case *ddl.Release:
		return s.release(q)
	case *ddl.RollbackTo:
		return s.rollbackTo(q)
	}
	return nil, nil
}

// notYet rejects statements about users and privileges, which are parsed but not supported yet.
func notYet(tag string) *Error {
	return refuse(StateNotSupported, "the only user is admin, and it may do everything", "%s is not supported yet", tag)
}
