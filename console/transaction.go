package console

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/ddl"
)

// transaction is what was asked for since BEGIN. Nothing of it is done before
// COMMIT; what it would change is known from trying it dry.
type transaction struct {
	commands []rota.Command
	size     int // statements that write
	seen     *overlay
	readOnly bool
	level    string // what it was said to see of others; empty: nothing was said
	failed   bool
	implicit bool // nobody said BEGIN
	told     bool // that queries do not see what it changes
	asked    bool // a query was answered in it
	places   []savepoint
	before   map[string]string  // the settings when it began
	locals   map[string]*string // how those stood that are set until it ends
}

// stepsMost bounds a transaction: it is one command in the end.
const stepsMost = 1000

func (s *Session) begin(readOnly bool) {
	s.open = &transaction{seen: newOverlay(), readOnly: readOnly || s.readOnly(), before: maps.Clone(s.settings)}
}

// end ends the transaction, and says whether it was done.
func (s *Session) end(done bool) {
	if s.open != nil {
		s.settle(s.open, done)
	}
	s.open = nil
}

func (s *Session) beginWork(q *ddl.Begin) (*Answer, error) {
	if s.open != nil && !s.open.implicit {
		return done("BEGIN").notice("there is already a transaction in progress"), nil
	}
	if s.open != nil && s.open.size > 0 {
		return nil, refuse(StateNested, "send the statements before BEGIN separately", "BEGIN must not follow statements that write in the same text")
	}
	s.begin(false)
	if q.ReadOnly != nil {
		s.open.readOnly = *q.ReadOnly
	}
	s.open.level = strings.ToLower(q.Level)
	return done("BEGIN"), nil
}

func (s *Session) commitWork(ctx context.Context) (*Answer, error) {
	tx := s.open
	switch {
	case tx == nil || tx.implicit && tx.size == 0:
		s.end(true)
		return done("COMMIT").notice("there is no transaction in progress"), nil
	case tx.failed:
		s.end(false)
		return done("ROLLBACK").notice("the transaction failed and was rolled back"), nil
	}
	err := s.commit(ctx, tx)
	s.end(err == nil)
	if err != nil {
		return nil, err
	}
	return done("COMMIT"), nil
}

func (s *Session) rollbackWork() (*Answer, error) {
	a := done("ROLLBACK")
	if s.open == nil {
		a.notice("there is no transaction in progress")
	}
	s.end(false)
	return a, nil
}

// commit does everything, or nothing.
func (s *Session) commit(ctx context.Context, tx *transaction) error {
	if len(tx.commands) == 0 {
		return nil
	}
	if err := renew(tx.commands, s.console.config.Clock()); err != nil {
		return err
	}
	_, err := s.send(ctx, tx.commands, false)
	return overtaken(err)
}

// overtaken says that a transaction was, by somebody who changed the same.
func overtaken(err error) error {
	if errors.Is(err, errMoved) {
		return refuse(StateConflict, "run the transaction again", "could not serialize access: another session changed a job that the transaction changes")
	}
	return err
}

// renew computes the first fires of schedules again, because time has passed.
func renew(commands []rota.Command, now time.Time) error {
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

// write does a statement now, or tries it dry and keeps it for COMMIT.
func (s *Session) write(ctx context.Context, statement ddl.Statement) (*Answer, error) {
	tx := s.open
	switch {
	case tx == nil && s.readOnly():
		return nil, refuse(StateReadOnly, "SET default_transaction_read_only = off", "cannot execute %s in a read-only session", statement.Tag())
	case tx == nil:
		return s.writeNow(ctx, statement)
	}
	switch {
	case tx.readOnly:
		return nil, refuse(StateReadOnly, "begin a transaction with BEGIN READ WRITE", "cannot execute %s in a read-only transaction", statement.Tag())
	case tx.size == stepsMost:
		return nil, refuse(StateLimit, "commit it and begin another", "the transaction already has %d statements that write, which is the limit", stepsMost)
	}
	plan, err := s.planner(ctx, tx.seen).plan(statement)
	if err != nil {
		return nil, overtaken(err)
	}
	if len(plan.commands) == 0 {
		return plan.answer(nil), nil
	}
	tried := append(related(tx.commands, plan.commands), plan.commands...)
	replies, err := s.send(ctx, tried, true)
	if err != nil {
		return nil, overtaken(err)
	}
	tx.commands = append(tx.commands, plan.commands...)
	tx.size++
	tx.seen.learn(tried, replies)
	return plan.answer(replies[len(replies)-len(plan.commands):]), nil
}

// triesMost is how often a statement is planned again because another client changed what it
// had read.
const triesMost = 5

func (s *Session) writeNow(ctx context.Context, statement ddl.Statement) (*Answer, error) {
	var last error
	for try := range triesMost {
		blind := try == 0 && makes(statement) && !s.again
		answer, err := s.try(ctx, statement, blind)
		if !errors.Is(err, errMoved) && !made(statement, err) && !(blind && rota.CodeOf(err) == rota.Conflict) {
			return answer, err
		}
		last = err
	}
	if errors.Is(last, errMoved) {
		last = refuse(StateConflict, "run the statement again", "other sessions keep changing the job while the statement runs")
	}
	return nil, last
}

// try plans a statement and does it.
func (s *Session) try(ctx context.Context, statement ddl.Statement, blind bool) (*Answer, error) {
	p := s.planner(ctx, newOverlay())
	p.blind = blind
	plan, err := p.plan(statement)
	if err != nil {
		return nil, err
	}
	if len(plan.commands) == 0 {
		return plan.answer(nil), nil
	}
	replies, err := s.send(ctx, plan.commands, false)
	if err != nil {
		return nil, err
	}
	return plan.answer(replies), nil
}

// made reports that another client has created the job that the statement creates. Planned
// again, the statement finds that job.
func made(statement ddl.Statement, err error) bool {
	var e *rota.Error
	_, is := statement.(*ddl.CreateJob)
	return is && errors.As(err, &e) && e.Code == rota.Conflict && inMember.ReplaceAllString(e.Field, "") == "name"
}

// makes says whether a statement makes a job that is not there, which is so most of the
// time: then nothing needs to be read first.
func makes(statement ddl.Statement) bool {
	q, is := statement.(*ddl.CreateJob)
	return is && q.Mode == ddl.Create && !q.IfNotExists
}

// heads are those of the commands of one statement. The first is the statement's
// own and the others are derived from it, so that a statement which is planned
// again, or sent again, gives the same commands whatever stands beside it.
type heads struct {
	first rota.Meta
	taken int
}

func (h *heads) take() rota.Meta {
	head := h.first
	if h.taken > 0 {
		head.ID = head.ID.Derive([]byte("part " + strconv.Itoa(h.taken)))
	}
	h.taken++
	return head
}

// send sends commands as one. A single one goes by itself, unless it is tried dry.
func (s *Session) send(ctx context.Context, commands []rota.Command, dry bool) ([]rota.Reply, error) {
	store := s.console.config.Store
	if s.sending != nil && !dry {
		if err := s.sending(); err != nil {
			return nil, err
		}
	}
	if len(commands) == 1 && !dry {
		reply, err := rota.Do[rota.Reply](ctx, store, commands[0])
		if err != nil {
			return nil, moved(err)
		}
		return []rota.Reply{reply}, nil
	}
	all := &rota.All{Meta: s.heads.take(), Members: commands, Dry: dry}
	reply, err := rota.Do[*rota.AllDone](ctx, store, all)
	if err != nil {
		return nil, moved(err)
	}
	return reply.Replies, nil
}

var errMoved = errors.New("what was read has changed since")

// moved tells the refusal of a command that had read something else.
func moved(err error) error {
	var e *rota.Error
	if errors.As(err, &e) && e.Code == rota.Conflict && inMember.ReplaceAllString(e.Field, "") == "version" {
		return errMoved
	}
	return err
}
