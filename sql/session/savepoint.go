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
	tx, at, err := s.findSavepoint("RELEASE SAVEPOINT", q.Name)
	if err != nil {
		return nil, err
	}
	tx.savepoints = tx.savepoints[:at]
	return tagAnswer("RELEASE"), nil
}

// rollbackTo discards the statements since a savepoint and keeps the savepoint.
func (s *Session) rollbackTo(q *ddl.RollbackTo) (*Answer, error) {
	tx, at, err := s.findSavepoint("ROLLBACK TO SAVEPOINT", q.Name)
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

// findSavepoint finds the last savepoint of a name in the transaction that BEGIN opened.
func (s *Session) findSavepoint(what, name string) (tx *transaction, at int, err error) {
	if tx, err = s.explicitTransaction(what); err != nil {
		return nil, 0, err
	}
	for i, savepoint := range slices.Backward(tx.savepoints) {
		if savepoint.name == name {
			return tx, i, nil
		}
	}
	return nil, 0, newError(StateNoSavepoint, "set it with SAVEPOINT", "there is no savepoint %s", name)
}
