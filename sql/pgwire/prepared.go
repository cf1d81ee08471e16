package pgwire

import (
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/session"
)

// preparedSet holds the prepared statements and portals of a client, within limits.
type preparedSet struct {
	statements map[string]*session.Prepared
	portals    map[string]*portal
	memory     *session.Memory
}

// portal is a statement with its arguments, and the rows of its answer that were not sent yet.
type portal struct {
	statement *session.Prepared
	args      []any
	bytes     int // of the statement and args; the session counts the rows
	formats   []int16
	answer    *session.Answer // nil: not run yet
	rights    access.Stamp    // with which the rows were read
	columns   []column
	sent      int // rows
	done      bool
}

// Limits of one client.
const (
	statementsMax = 1000
	portalsMax    = 100
)

func newPreparedSet(memory *session.Memory) preparedSet {
	return preparedSet{statements: map[string]*session.Prepared{}, portals: map[string]*portal{}, memory: memory}
}

func (n *preparedSet) statement(name string) (*session.Prepared, error) {
	if p := n.statements[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, errorf(stateNoStatement, "", "unnamed prepared statement does not exist")
	}
	return nil, errorf(stateNoStatement, "", "prepared statement %q does not exist", name)
}

func (n *preparedSet) portal(name string) (*portal, error) {
	if p := n.portals[name]; p != nil {
		return p, nil
	}
	return nil, errorf(stateNoPortal, "a portal is closed when its transaction ends; bind the statement again", "portal %q does not exist", name)
}

// checkStatement checks that a statement of that name can be added.
func (n *preparedSet) checkStatement(name string) error {
	if name == "" {
		n.closeStatement("")
	}
	switch {
	case n.statements[name] != nil:
		return errorf(stateDuplicateStatement, "", "prepared statement %q already exists", name)
	case len(n.statements) >= statementsMax:
		return errorf(stateLimit, "close prepared statements that are no longer needed", "too many prepared statements: a connection can have at most %d", statementsMax)
	}
	return nil
}

func (n *preparedSet) addStatement(name string, p *session.Prepared) error {
	if err := n.memory.Charge(p.Bytes()); err != nil {
		return err
	}
	n.statements[name] = p
	return nil
}

// addPortal adds a portal. A new unnamed portal replaces the previous one.
func (n *preparedSet) addPortal(name string, p *portal) error {
	if name == "" {
		n.closePortal("")
	}
	switch {
	case n.portals[name] != nil:
		return errorf(stateDuplicatePortal, "", "cursor %q already exists", name)
	case len(n.portals) >= portalsMax:
		return errorf(stateLimit, "close portals that are no longer needed", "too many portals: a connection can have at most %d", portalsMax)
	}
	if err := n.memory.Charge(p.bytes); err != nil {
		return err
	}
	n.portals[name] = p
	return nil
}

// dropArguments drops the arguments of a portal that has run.
func (n *preparedSet) dropArguments(p *portal) {
	n.memory.Release(p.bytes - p.statement.Bytes())
	p.args, p.bytes = nil, p.statement.Bytes()
}

func (n *preparedSet) closeStatement(name string) {
	if p := n.statements[name]; p != nil {
		n.memory.Release(p.Bytes())
		delete(n.statements, name)
	}
}

func (n *preparedSet) closePortal(name string) {
	if p := n.portals[name]; p != nil {
		n.memory.Release(p.bytes)
		p.release()
		delete(n.portals, name)
	}
}

// release drops the rows of a portal.
func (p *portal) release() {
	if p.answer != nil {
		p.answer.Release()
		p.sent = 0
	}
}

// deallocate closes the named statement, or all statements if the name is empty.
func (n *preparedSet) deallocate(name string) {
	if name != "" {
		n.closeStatement(name)
		return
	}
	for name := range n.statements {
		n.closeStatement(name)
	}
}

// closePortals closes all portals except one after their transaction ended.
func (n *preparedSet) closePortals(but *portal) {
	for name, p := range n.portals {
		if p != but {
			n.closePortal(name)
		}
	}
}

// closeUnnamed closes the unnamed statement and portal, as a simple query does.
func (n *preparedSet) closeUnnamed() {
	n.closeStatement("")
	n.closePortal("")
}
