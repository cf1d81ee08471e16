package pgwire

import (
	"sync/atomic"

	"github.com/rotajobs/rota/console"
)

// names are the statements and portals that a client has named, within bounds.
type names struct {
	statements map[string]*console.Prepared
	portals    map[string]*portal
	bytes      int // of texts and arguments
	most       int
	kept       *allowance // of rows that are yet to be fetched
}

// portal is a statement with its arguments, and what of its answer was not sent yet.
type portal struct {
	statement *console.Prepared
	args      []any
	bytes     int
	formats   []int16
	answer    *console.Answer // nil: it was not run
	columns   []column
	sent      int // rows
	done      bool
	held      int // bytes of those that are yet to be fetched
}

// The bounds of what a client may keep here.
const (
	statementsMost = 1000
	portalsMost    = 100
)

func newNames(message int, all *atomic.Int64) names {
	return names{statements: map[string]*console.Prepared{}, portals: map[string]*portal{}, most: 2 * message, kept: &allowance{all: all}}
}

func (n *names) statement(name string) (*console.Prepared, error) {
	if p := n.statements[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, refuse(stateNoStatement, "", "unnamed prepared statement does not exist")
	}
	return nil, refuse(stateNoStatement, "", "prepared statement %q does not exist", name)
}

func (n *names) portal(name string) (*portal, error) {
	if p := n.portals[name]; p != nil {
		return p, nil
	}
	return nil, refuse(stateNoPortal, "a portal ends with its transaction", "portal %q does not exist", name)
}

// mayKeep says whether a statement of that name and length can be kept.
func (n *names) mayKeep(name string, length int) error {
	if name == "" {
		n.closeStatement("")
	}
	switch {
	case n.statements[name] != nil:
		return refuse(stateDuplicate, "", "prepared statement %q already exists", name)
	case len(n.statements) >= statementsMost:
		return refuse(stateLimit, "close those that are not needed", "a connection has at most %d prepared statements", statementsMost)
	}
	return n.fits(length)
}

func (n *names) fits(length int) error {
	if n.bytes+length > n.most {
		return refuse(stateLimit, "close those that are not needed", "the prepared statements and portals of a connection have at most %d bytes", n.most)
	}
	return nil
}

func (n *names) keep(name string, p *console.Prepared) {
	n.statements[name] = p
	n.bytes += len(p.Text)
}

// open keeps a portal. The one without a name makes room for the next.
func (n *names) open(name string, p *portal) error {
	if name == "" {
		n.closePortal("")
	}
	switch {
	case n.portals[name] != nil:
		return refuse(statePortalTwice, "", "cursor %q already exists", name)
	case len(n.portals) >= portalsMost:
		return refuse(stateLimit, "close those that are not needed", "a connection has at most %d portals", portalsMost)
	}
	if err := n.fits(p.bytes); err != nil {
		return err
	}
	n.portals[name] = p
	n.bytes += p.bytes
	return nil
}

func (n *names) closeStatement(name string) {
	if p := n.statements[name]; p != nil {
		n.bytes -= len(p.Text)
		delete(n.statements, name)
	}
}

func (n *names) closePortal(name string) {
	if p := n.portals[name]; p != nil {
		n.bytes -= p.bytes
		n.kept.release(p)
		delete(n.portals, name)
	}
}

// forget closes the statement of a name, or all of them.
func (n *names) forget(name string) {
	if name != "" {
		n.closeStatement(name)
		return
	}
	for name := range n.statements {
		n.closeStatement(name)
	}
}

// forgetPortals closes all portals but one, when the transaction has ended that
// they belong to.
func (n *names) forgetPortals(but *portal) {
	for name, p := range n.portals {
		if p != but {
			n.closePortal(name)
		}
	}
}

// forgetUnnamed closes what has no name, as a text of statements does.
func (n *names) forgetUnnamed() {
	n.closeStatement("")
	n.closePortal("")
}
