package console

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota/ddl"
)

// savepoint is a place in a transaction that one can go back to.
type savepoint struct {
	name     string
	commands int
	size     int
	seen     *overlay
	settings map[string]string
}

// savepointsMost bounds what a transaction remembers.
const savepointsMost = 1000

func (s *Session) savepoint(q *ddl.Savepoint) (*Answer, error) {
	tx, err := s.block("SAVEPOINT")
	if err != nil {
		return nil, err
	}
	if len(tx.places) == savepointsMost {
		return nil, refuse(StateLimit, "release some with RELEASE SAVEPOINT", "the transaction already has %d savepoints, which is the limit", savepointsMost)
	}
	tx.places = append(tx.places, savepoint{
		name: q.Name, commands: len(tx.commands), size: tx.size, seen: tx.seen.clone(), settings: maps.Clone(s.settings),
	})
	return done("SAVEPOINT"), nil
}

func (s *Session) release(q *ddl.Release) (*Answer, error) {
	tx, err := s.block("RELEASE SAVEPOINT")
	if err != nil {
		return nil, err
	}
	at, err := tx.place(q.Name)
	if err != nil {
		return nil, err
	}
	tx.places = tx.places[:at]
	return done("RELEASE"), nil
}

// rollbackTo takes back what was asked for since a savepoint, which stays.
func (s *Session) rollbackTo(q *ddl.RollbackTo) (*Answer, error) {
	tx, err := s.block("ROLLBACK TO SAVEPOINT")
	if err != nil {
		return nil, err
	}
	at, err := tx.place(q.Name)
	if err != nil {
		return nil, err
	}
	p := tx.places[at]
	tx.places = tx.places[:at+1]
	tx.commands, tx.size, tx.seen, tx.failed = slices.Clip(tx.commands[:p.commands]), p.size, p.seen.clone(), false
	s.settings = maps.Clone(p.settings)
	return done("ROLLBACK"), nil
}

// block is the transaction that somebody began.
func (s *Session) block(what string) (*transaction, error) {
	if s.open == nil || s.open.implicit {
		return nil, refuse(StateNoBlock, "begin a transaction with BEGIN", "%s can only be used in transaction blocks", what)
	}
	return s.open, nil
}

// place finds the last savepoint of a name.
func (tx *transaction) place(name string) (int, error) {
	for i := len(tx.places) - 1; i >= 0; i-- {
		if tx.places[i].name == name {
			return i, nil
		}
	}
	return 0, refuse(StateNoSavepoint, "set it with SAVEPOINT", "there is no savepoint %s", name)
}
