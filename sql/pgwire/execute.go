package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/session"
)

// execute runs a portal, or continues with its remaining rows.
func (c *conn) execute(m *pgproto3.Execute) error {
	p, err := c.prepared.portal(m.Portal)
	if err != nil {
		return err
	}
	if p.statement.Empty {
		c.out.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	switch {
	case p.answer == nil:
		err = c.runPortal(p)
	case p.done && p.columns == nil:
		err = errorf(stateWrongState, "bind the statement again", "portal %q cannot be run", m.Portal)
	default:
		err = c.checkPortal(m.Portal, p)
	}
	if err != nil {
		return err
	}
	return c.fetch(p, int(int32(m.MaxRows)))
}

// checkPortal closes a portal whose remaining rows were read with other rights than the user has now.
func (c *conn) checkPortal(name string, p *portal) error {
	now, err := c.rights()
	if err != nil || now.Equal(p.rights) {
		return err
	}
	c.prepared.closePortal(name)
	return errorf(stateWrongState, "bind the statement again", "portal %q is closed: the rights of user %s have changed", name, c.user)
}

// runPortal runs the statement of a portal. All statements between two Syncs form one
// transaction. Usually there is only one, which then runs alone; so runPortal checks the next
// message first and starts an implicit transaction only if it is not a Sync.
func (c *conn) runPortal(p *portal) error {
	if err := c.checkRate(); err != nil {
		return err
	}
	before := c.session.Status()
	if before == session.Idle && !c.implicitTransaction {
		alone, err := c.nextIsSync()
		if err != nil {
			return err
		}
		if !alone {
			c.session.BeginImplicit()
			c.implicitTransaction = true
		}
	}
	rights, err := c.rights() // before the statement reads, so that a change meanwhile is noticed
	if err != nil {
		return err
	}
	ctx, done := c.startStatement()
	defer done()
	a, err := c.session.Execute(ctx, p.statement, p.args)
	if err != nil {
		return cancelReason(ctx, err)
	}
	p.answer, p.rights = a, rights
	c.prepared.dropArguments(p)
	if a.Columns != nil {
		p.columns = c.columns(a.Columns, p.formatsOf(len(a.Columns)))
	}
	c.afterStatement(a)
	c.trackTransaction(p, before)
	return nil
}

// trackTransaction updates the connection after a statement that started or ended a
// transaction.
func (c *conn) trackTransaction(p *portal, before session.Status) {
	after := c.session.Status()
	switch tag := p.answer.Tag; {
	case tag == "BEGIN" || tag == "START TRANSACTION" || after == session.Idle:
		c.implicitTransaction = false // the client started a transaction, or it has ended
	}
	if before != session.Idle && after == session.Idle {
		c.prepared.closePortals(p)
	}
}

// formatsOf returns the requested formats if they match the number of columns; the columns can
// differ from the described ones.
func (p *portal) formatsOf(columns int) []int16 {
	if len(p.formats) == columns {
		return p.formats
	}
	return nil
}

// nextIsSync reports whether the next message is a Sync. A client that has sent neither Sync
// nor Flush does not wait for an answer yet, so the server can wait for its next message.
func (c *conn) nextIsSync() (bool, error) {
	if err := c.waitForMessage(); err != nil {
		return false, err
	}
	return c.queue.next.kind == 'S', nil
}

// fetch sends rows of a portal, at most limit of them if limit is above 0. Like PostgreSQL it
// suspends the portal when the limit is reached, even if no rows remain.
func (c *conn) fetch(p *portal, limit int) error {
	sent := 0
	for p.sent < len(p.answer.Rows) && (limit <= 0 || sent < limit) && p.columns != nil {
		if err := c.sendRow(p.answer.Rows[p.sent], p.columns); err != nil {
			return err
		}
		p.answer.Drop(p.sent) // it need not stay in memory while the client reads others
		p.sent++
		sent++
	}
	if limit > 0 && sent == limit {
		c.out.send(&pgproto3.PortalSuspended{})
		return c.out.err
	}
	p.done = true
	p.release()
	c.out.send(&pgproto3.CommandComplete{CommandTag: commandTag(p.answer, sent)})
	return c.out.err
}

// sync commits the implicit transaction and ends the skipping of messages after an error.
func (c *conn) sync() error {
	c.skippingToSync = false
	if err := c.commitImplicit(); err != nil {
		return err
	}
	c.ready()
	return nil
}

// commitImplicit commits the implicit transaction, if there is one.
func (c *conn) commitImplicit() error {
	if !c.implicitTransaction {
		return nil
	}
	c.implicitTransaction = false
	ctx, done := c.startStatement()
	defer done()
	return cancelReason(ctx, c.session.Sync(ctx))
}
