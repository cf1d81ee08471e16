package session

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota/sql/ddl"
)

// savepoint is the state of a transaction at a SAVEPOINT statement.
type savepoint struct {
	name     string
	commands int
	writes   int
	changes  *overlay
	settings map[string]string
}

// savepointsMax bounds the savepoints of a transaction.
const savepointsMax = 1000

func (s *Session) savepoint(q *ddl.Savepoint) (*Answer, error) {
	tx, err := s.explicitTransaction("SAVEPOINT")
	if err != nil {
		return nil, err
	}
	if len(tx.savepoints) == savepointsMax {
		return nil, newError(StateLimit, "release some with RELEASE SAVEPOINT", "the transaction already has %d savepoints, which is the limit", savepointsMax)
	}
	tx.savepoints = append(tx.savepoints, savepoint{
		name: q.Name, commands: len(tx.commands), writes: tx.writes, changes: tx.changes.clone(), settings: maps.Clone(s.settings),
	})
	return tagAnswer("SAVEPOINT"), nil
}

func (s *Session) release(q *ddl.Release) (*Answer, error) {
	tx, err := s.explicitTransaction("RELEASE SAVEPOINT")
	if err != nil {
		return nil, err
	}
	at, err := tx.savepointIndex(q.Name)
	if err != nil {
		return nil, err
	}
	tx.savepoints = tx.savepoints[:at]
	return tagAnswer("RELEASE"), nil
}

// rollbackTo discards the statements since a savepoint and keeps the savepoint.
func (s *Session) rollbackTo(q *ddl.RollbackTo) (*Answer, error) {
	tx, err := s.explicitTransaction("ROLLBACK TO SAVEPOINT")
	if err != nil {
		return nil, err
	}
	at, err := tx.savepointIndex(q.Name)
	if err != nil {
		return nil, err
	}
	p := tx.savepoints[at]
	tx.savepoints = tx.savepoints[:at+1]
	tx.commands, tx.writes, tx.changes, tx.failed = slices.Clip(tx.commands[:p.commands]), p.writes, p.changes.clone(), false
	s.settings = maps.Clone(p.settings)
	return tagAnswer("ROLLBACK"), nil
}

// explicitTransaction returns the transaction that BEGIN opened.
func (s *Session) explicitTransaction(what string) (*transaction, error) {
	if s.tx == nil || s.tx.implicit {
		return nil, newError(StateNoTransaction, "begin a transaction with BEGIN", "%s can only be used in transaction blocks", what)
	}
	return s.tx, nil
}

// savepointIndex finds the last savepoint of a name.
func (tx *transaction) savepointIndex(name string) (int, error) {
	for i := len(tx.savepoints) - 1; i >= 0; i-- {
		if tx.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, newError(StateNoSavepoint, "set it with SAVEPOINT", "there is no savepoint %s", name)
}
