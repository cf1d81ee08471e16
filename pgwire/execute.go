package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
)

// execute runs a portal, or goes on with the rows that were left.
func (c *conn) execute(m *pgproto3.Execute) error {
	p, err := c.names.portal(m.Portal)
	if err != nil {
		return err
	}
	if p.statement.Empty {
		c.out.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	if p.answer == nil {
		if err := c.run(p); err != nil {
			return err
		}
	} else if p.done && p.columns == nil {
		return refuse(stateNotNow, "bind the statement again", "portal %q cannot be run", m.Portal)
	}
	return c.fetch(p, int(int32(m.MaxRows)))
}

// run runs a portal. What stands between two Syncs is one transaction. Mostly that
// is one statement, which is then run by itself; so the next message is looked at
// first, and only if it is no Sync is a transaction begun that nobody asked for.
func (c *conn) run(p *portal) error {
	before := c.session.Status()
	if before == console.Idle && !c.gathering {
		alone, err := c.alone()
		if err != nil {
			return err
		}
		if !alone {
			c.session.Gather()
			c.gathering = true
		}
	}
	ctx, done := c.statement()
	defer done()
	a, err := c.session.Execute(ctx, p.statement, p.args)
	if err != nil {
		return because(ctx, err)
	}
	p.answer, p.args = a, nil
	if a.Columns != nil {
		p.columns = c.columns(a.Columns, p.formatsOf(len(a.Columns)))
	}
	c.heed(a)
	c.follow(p, before)
	return nil
}

// follow keeps up with a statement that has begun or ended a transaction.
func (c *conn) follow(p *portal, before console.Status) {
	after := c.session.Status()
	switch tag := p.answer.Tag; {
	case tag == "BEGIN" || tag == "START TRANSACTION" || after == console.Idle:
		c.gathering = false // somebody has asked for it, or it is over
	}
	if before != console.Idle && after == console.Idle {
		c.names.forgetPortals(p)
	}
}

// formatsOf are the formats of the columns that came, should they be others than
// those that were described.
func (p *portal) formatsOf(columns int) []int16 {
	if len(p.formats) == columns {
		return p.formats
	}
	return nil
}

// alone says whether the next message ends the transaction. A client that has sent
// neither Sync nor Flush waits for nothing, so it can be waited for.
func (c *conn) alone() (bool, error) {
	if err := c.wait(); err != nil {
		return false, err
	}
	next, _, _ := c.inbox.peek()
	return next == 'S', nil
}

// fetch sends rows of a portal, at most a number of them if it is above 0. If the
// number is reached nobody knows yet whether there are more, as with PostgreSQL.
func (c *conn) fetch(p *portal, most int) error {
	sent := 0
	for p.sent < len(p.answer.Rows) && (most <= 0 || sent < most) && p.columns != nil {
		row := p.answer.Rows[p.sent]
		p.sent++
		if err := c.out.row(row, p.columns); err != nil {
			return err
		}
		sent++
	}
	if most > 0 && sent == most {
		if err := c.names.kept.hold(p); err != nil {
			return err
		}
		c.out.send(&pgproto3.PortalSuspended{})
		return c.out.err
	}
	p.done = true
	c.names.kept.release(p)
	c.out.send(&pgproto3.CommandComplete{CommandTag: tagOf(p.answer, sent)})
	return c.out.err
}

// sync ends what was sent together.
func (c *conn) sync() error {
	c.skipping = false
	if err := c.finish(); err != nil {
		return err
	}
	c.ready()
	return nil
}

// finish does what was gathered.
func (c *conn) finish() error {
	if !c.gathering {
		return nil
	}
	c.gathering = false
	ctx, done := c.statement()
	defer done()
	return because(ctx, c.session.Sync(ctx))
}
