package session

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// transaction holds the commands since BEGIN. COMMIT applies them; dry runs before that check them.
type transaction struct {
	commands      []rota.Command
	writes        int // statements that write
	bytes         int // of commands and changes, at most
	changes       *overlay
	readOnly      bool
	level         string // isolation level; empty: not given
	failed        bool
	implicit      bool // begun without BEGIN
	noticeSent    bool // the notice that queries do not see its changes was sent
	queried       bool // a query ran in it
	savepoints    []savepoint
	savedSettings map[string]string  // settings when it began
	savedLocals   map[string]*string // values before SET LOCAL; nil: default
}

// writesMax bounds a transaction, because COMMIT sends it as one command.
const writesMax = 1000

func (s *Session) begin(readOnly bool) {
	s.tx = &transaction{changes: newOverlay(), readOnly: readOnly || s.readOnly(), savedSettings: maps.Clone(s.settings)}
}

// end ends the transaction; done states whether it was committed.
func (s *Session) end(done bool) {
	if s.tx != nil {
		s.restoreSettings(s.tx, done)
		s.memory.Release(s.tx.bytes)
	}
	s.tx = nil
}

func (s *Session) beginWork(q *ddl.Begin) (*Answer, error) {
	if s.tx != nil && !s.tx.implicit {
		return tagAnswer("BEGIN").notice("there is already a transaction in progress"), nil
	}
	if s.tx != nil && s.tx.writes > 0 {
		return nil, newError(StateActiveTransaction, "send the statements before BEGIN separately", "BEGIN must not follow statements that write in the same text")
	}
	s.begin(false)
	if q.ReadOnly != nil {
		s.tx.readOnly = *q.ReadOnly
	}
	s.tx.level = strings.ToLower(q.Level)
	return tagAnswer("BEGIN"), nil
}

func (s *Session) commitWork(ctx context.Context) (*Answer, error) {
	tx := s.tx
	switch {
	case tx == nil || tx.implicit && tx.writes == 0:
		s.end(true)
		return tagAnswer("COMMIT").notice("there is no transaction in progress"), nil
	case tx.failed:
		s.end(false)
		return tagAnswer("ROLLBACK").notice("the transaction failed and was rolled back"), nil
	}
	err := s.commit(ctx, tx)
	s.end(err == nil)
	if err != nil {
		return nil, err
	}
	return tagAnswer("COMMIT"), nil
}

func (s *Session) rollbackWork() (*Answer, error) {
	a := tagAnswer("ROLLBACK")
	if s.tx == nil {
		a.notice("there is no transaction in progress")
	}
	s.end(false)
	return a, nil
}

// commit applies all commands or none.
func (s *Session) commit(ctx context.Context, tx *transaction) error {
	if len(tx.commands) == 0 {
		return nil
	}
	if err := recomputeNext(tx.commands, s.console.config.Clock()); err != nil {
		return err
	}
	_, err := s.send(ctx, tx.commands, false)
	if keyReplaced(err) {
		return newError(StateConflict, "run the transaction again", "could not serialize access: the key that seals secrets was replaced during the transaction")
	}
	return conflictError(err)
}

// conflictError converts errChanged to a serialization error.
func conflictError(err error) error {
	if errors.Is(err, errChanged) {
		return newError(StateConflict, "run the transaction again", "could not serialize access: another session changed a job that the transaction changes")
	}
	return err
}

// recomputeNext computes the first fires of schedules again, because time has passed.
func recomputeNext(commands []rota.Command, now time.Time) error {
	for _, c := range commands {
		put, is := c.(*rota.PutSchedule)
		if !is {
			continue
		}
		fresh, err := rota.Declare(put.Meta, put.Name, put.Spec, now)
		if err != nil {
			return err
		}
		put.Anchor, put.Next = fresh.Anchor, fresh.Next
	}
	return nil
}

// write applies a statement, or in a transaction checks it with a dry run and keeps it for COMMIT.
func (s *Session) write(ctx context.Context, statement ddl.Statement) (*Answer, error) {
	tx := s.tx
	switch {
	case tx == nil && s.readOnly():
		return nil, newError(StateReadOnly, "SET default_transaction_read_only = off", "cannot execute %s in a read-only session", statement.Tag())
	case tx == nil:
		return s.writeNow(ctx, statement)
	}
	switch {
	case tx.readOnly:
		return nil, newError(StateReadOnly, "begin a transaction with BEGIN READ WRITE", "cannot execute %s in a read-only transaction", statement.Tag())
	case tx.writes == writesMax:
		return nil, newError(StateLimit, "commit it and begin another", "the transaction already has %d statements that write, which is the limit", writesMax)
	}
	plan, err := s.planner(ctx, tx.changes).plan(statement)
	if err != nil {
		return nil, conflictError(err)
	}
	if len(plan.commands) == 0 {
		return plan.answer(nil), nil
	}
	if err := s.chargeCommands(tx, plan.commands); err != nil {
		return nil, err
	}
	tried := append(related(tx.commands, plan.commands), plan.commands...)
	replies, err := s.send(ctx, tried, true)
	if err != nil {
		return nil, conflictError(plan.failed(err))
	}
	tx.commands = append(tx.commands, plan.commands...)
	tx.writes++
	tx.changes.record(tried, replies)
	return plan.answer(replies[len(replies)-len(plan.commands):]), nil
}

// chargeCommands counts the memory of commands until the transaction ends. It counts them twice, because the changes of
// the transaction contain what they define.
func (s *Session) chargeCommands(tx *transaction, commands []rota.Command) error {
	bytes := 0
	for _, c := range commands {
		_, n := rota.Weigh(c)
		bytes += 2 * n
	}
	if err := s.memory.Charge(bytes); err != nil {
		return err
	}
	tx.bytes += bytes
	return nil
}

// triesMax is how often a statement is planned again because another client changed what it
// had read.
const triesMax = 5

func (s *Session) writeNow(ctx context.Context, statement ddl.Statement) (*Answer, error) {
	var last error
	for try := range triesMax {
		assumeNew := try == 0 && createsNewJob(statement) && !s.resent
		answer, err := s.try(ctx, statement, assumeNew)
		if !errors.Is(err, errChanged) && !createdConcurrently(statement, err) && !keyReplaced(err) && !(assumeNew && rota.CodeOf(err) == rota.Conflict) {
			return answer, err
		}
		last = err
	}
	if errors.Is(last, errChanged) {
		last = newError(StateConflict, "run the statement again", "other sessions keep changing the job while the statement runs")
	}
	return nil, last
}

// try plans a statement and applies it.
func (s *Session) try(ctx context.Context, statement ddl.Statement, assumeNew bool) (*Answer, error) {
	p := s.planner(ctx, newOverlay())
	p.assumeNew = assumeNew
	plan, err := p.plan(statement)
	if err != nil {
		return nil, err
	}
	if len(plan.commands) == 0 {
		return plan.answer(nil), nil
	}
	replies, err := s.send(ctx, plan.commands, false)
	if err != nil {
		return nil, plan.failed(err)
	}
	return plan.answer(replies), nil
}

// keyReplaced reports that a rotation has replaced the key of the store after a value was sealed with it. Planned again, the statement
// seals the value again.
func keyReplaced(err error) bool {
	var e *rota.Error
	return errors.As(err, &e) && e.Code == rota.Conflict && fieldOf(e) == "sealed"
}

// createdConcurrently reports that another client has created the job, user or role that the statement creates. Planned
// again, the statement finds it.
func createdConcurrently(statement ddl.Statement, err error) bool {
	var e *rota.Error
	_, is := statement.(*ddl.CreateJob)
	if q, principal := statement.(*ddl.Security); principal {
		is = q.IfNotExists
	}
	return is && errors.As(err, &e) && e.Code == rota.Conflict && memberPrefix.ReplaceAllString(e.Field, "") == "name"
}

// createsNewJob reports whether a statement creates a job that must not exist. The first try assumes that it does not
// exist and reads nothing.
func createsNewJob(statement ddl.Statement) bool {
	q, is := statement.(*ddl.CreateJob)
	return is && q.Mode == ddl.Create && !q.IfNotExists
}

// statementMetas returns the Meta of each command of a statement. The first is that of the statement, and the ids of
// the others derive from it, so that a statement that is planned or sent again has the same ids.
type statementMetas struct {
	base  rota.Meta
	count int
}

func (h *statementMetas) next() rota.Meta {
	head := h.base
	if h.count > 0 {
		head.ID = head.ID.Derive([]byte("part " + strconv.Itoa(h.count)))
	}
	h.count++
	return head
}

// send sends commands as one rota.All. A single command is sent alone, unless it is a dry run.
func (s *Session) send(ctx context.Context, commands []rota.Command, dry bool) ([]rota.Reply, error) {
	store := s.store
	if s.beforeSend != nil && !dry {
		if err := s.beforeSend(); err != nil {
			return nil, err
		}
	}
	if len(commands) == 1 && !dry {
		reply, err := rota.Do[rota.Reply](ctx, store, commands[0])
		if err != nil {
			return nil, versionError(err)
		}
		return []rota.Reply{reply}, nil
	}
	all := &rota.All{Meta: s.metas.next(), Members: commands, Dry: dry}
	reply, err := rota.Do[*rota.AllDone](ctx, store, all)
	if err != nil {
		return nil, versionError(err)
	}
	return reply.Replies, nil
}

var errChanged = errors.New("what was read has changed since")

// versionError returns errChanged if the store rejected the version of a command, and any other error unchanged.
func versionError(err error) error {
	var e *rota.Error
	if errors.As(err, &e) && e.Code == rota.Conflict && memberPrefix.ReplaceAllString(e.Field, "") == "version" {
		return errChanged
	}
	return err
}
