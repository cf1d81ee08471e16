package session

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// Session runs statements one after another, with at most one open transaction. One goroutine at a time uses it.
type Session struct {
	console    *Console
	store      rota.Store
	memory     *Memory
	user       string // name of the user
	newMeta    func() rota.Meta
	tx         *transaction   // nil: no transaction is open
	metas      statementMetas // command ids of the running statement
	beforeSend func() error   // called before a write; may be nil
	resent     bool           // the statements were sent before with the same ids
	admin      adminState

	settings      map[string]string // changed settings
	singleRequest bool              // the session ends after one request
}

// BeforeSend sets a hook that is called before each write to the store; its error fails the statement. Resent states
// that the statements were sent before with the same command ids: the session then does not report changes made since,
// such as a job that no longer exists.
func (s *Session) BeforeSend(hook func() error, resent bool) {
	s.beforeSend, s.resent = hook, resent
}

// Status is the transaction status of a session, as in the PostgreSQL protocol.
type Status byte

// The statuses.
const (
	Idle   Status = 'I'
	Open   Status = 'T'
	Failed Status = 'E' // statements fail until ROLLBACK
)

// Status returns the transaction status.
func (s *Session) Status() Status {
	switch {
	case s.tx == nil:
		return Idle
	case s.tx.failed:
		return Failed
	}
	return Open
}

// Run runs statements that are separated by semicolons and passes each answer to each. It parses the whole text before
// it runs the first statement, and refuses it if the token of the session may not run all statements. Several statements are one implicit transaction, unless they contain BEGIN or COMMIT.
// Arguments are allowed only with a single query. Errors are *Error.
func (s *Session) Run(ctx context.Context, text string, args []any, each func(*Answer) error) error {
	list, err := s.parse(text)
	if err != nil {
		return s.fail(err)
	}
	defer s.memory.Release(statementBytes * len(list))
	if len(args) > 0 && len(list) != 1 {
		return s.fail(newError(StateProtocol, "send each statement separately", "arguments belong to one statement, but the text has %d", len(list)))
	}
	for _, one := range list {
		if err := s.checkScope(ctx, one.statement); err != nil {
			return s.fail(asError(err, text, one.start))
		}
	}
	for _, one := range list {
		if s.tx == nil && len(list) > 1 { // at the beginning and after COMMIT or ROLLBACK
			s.begin(false)
			s.tx.implicit = true
		}
		answer, err := s.perform(text, one.span, func() (*Answer, error) { return s.runStatement(ctx, one.statement, args) })
		if err != nil {
			return err
		}
		if err := each(answer); err != nil {
			return err
		}
	}
	if s.tx != nil && s.tx.implicit {
		return s.endImplicit(ctx)
	}
	return nil
}

// perform runs one statement of a text. An error is an *Error and ends an implicit transaction.
func (s *Session) perform(text string, in span, run func() (*Answer, error)) (*Answer, error) {
	s.metas = statementMetas{base: s.newMeta()}
	answer, err := run()
	if err == nil {
		return answer, nil
	}
	failed := asError(err, text, in.start).locate(text, in)
	if s.tx != nil && s.tx.implicit {
		s.end(false)
	}
	return nil, s.fail(failed)
}

// endImplicit commits an implicit transaction.
func (s *Session) endImplicit(ctx context.Context) error {
	s.metas = statementMetas{base: s.newMeta()}
	err := s.commit(ctx, s.tx)
	s.end(err == nil)
	if err != nil {
		return asError(err, "", 0)
	}
	return nil
}

// fail marks an open transaction as failed.
func (s *Session) fail(err *Error) error {
	if s.tx != nil {
		s.tx.failed = true
	}
	return err
}

// Answers runs statements and returns all answers.
func (s *Session) Answers(ctx context.Context, text string, args ...any) (all []*Answer, err error) {
	err = s.Run(ctx, text, args, func(a *Answer) error {
		all = append(all, a)
		return nil
	})
	if err != nil {
		for _, a := range all {
			a.Release()
		}
	}
	return all, err
}

type parsedStatement struct {
	statement ddl.Statement
	span
}

// span is the place of a statement in a text, in bytes.
type span struct{ start, stop int }

// statementBytes is about the memory of a parsed statement besides its text.
const statementBytes = 512

// parse reads all statements of a text. The caller releases their memory.
func (s *Session) parse(text string) (list []parsedStatement, _ *Error) {
	sources, err := ddl.Split(text)
	if err == nil {
		err = s.memory.Charge(statementBytes * len(sources))
	}
	if err != nil {
		return nil, asError(err, text, 0)
	}
	for _, one := range sources {
		statement, err := ddl.Parse(one.Text)
		if err != nil {
			s.memory.Release(statementBytes * len(sources))
			return nil, asError(err, text, one.Offset)
		}
		list = append(list, parsedStatement{statement, span{one.Offset, one.Offset + len(one.Text)}})
	}
	return list, nil
}

// runStatement runs one statement.
func (s *Session) runStatement(ctx context.Context, statement ddl.Statement, args []any) (*Answer, error) {
	if err := s.checkNotAborted(statement); err != nil {
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
		return nil, newError(StateNotSupported, "EXPLAIN JOB RUN id explains why a run does not run", "EXPLAIN of a query is not supported")
	case *ddl.ShowGrants:
		return s.showGrants(ctx, q)
	case *ddl.ShowUsers:
		return s.query(ctx, sqlShowUsers, nil)
	case *ddl.ShowRoles:
		return s.query(ctx, sqlShowRoles, nil)
	case *ddl.Set:
		return s.set(q)
	case *ddl.SetMode:
		return s.setMode(q)
	case *ddl.Reset:
		return s.reset(q, q.Tag())
	case *ddl.Discard:
		return s.discard(q)
	case *ddl.Deallocate:
		return &Answer{Tag: q.Tag(), Deallocate: &q.Name}, nil
	case *ddl.NoOp:
		return tagAnswer(q.Tag()), nil
	case *ddl.Savepoint:
		return s.savepoint(q)
	case *ddl.Release:
		return s.release(q)
	case *ddl.RollbackTo:
		return s.rollbackTo(q)
	}
	return s.write(ctx, statement)
}

// checkNotAborted rejects statements other than COMMIT and ROLLBACK in a failed transaction.
func (s *Session) checkNotAborted(statement ddl.Statement) error {
	if s.Status() != Failed {
		return nil
	}
	switch statement.(type) {
	case *ddl.Commit, *ddl.Rollback, *ddl.RollbackTo:
		return nil
	}
	return newError(StateAborted, "end it with ROLLBACK", "current transaction is aborted, commands ignored until end of transaction block")
}

func noArguments(statement ddl.Statement) error {
	return newError(StateProtocol, "write the values into the statement", "%s takes no arguments", statement.Tag())
}
