package pgwire

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

// handle answers one message. A returned error ends the connection; errors of statements are
// sent to the client.
func (c *conn) handle(f frame) error {
	if c.skippingToSync && f.kind != 'S' {
		return nil
	}
	err := c.dispatch(f)
	if err == nil {
		return nil
	}
	var fatalErr *fatal
	if errors.As(err, &fatalErr) || c.out.err != nil || c.ctx.Err() != nil {
		return c.closeReason(err)
	}
	c.sendError(err)
	switch f.kind {
	case 'Q', 'F', 'S':
		c.ready()
	case 'd', 'c', 'f': // the client expects no answer to these
	default:
		c.skippingToSync = true
	}
	return nil
}

// closeReason returns the error that ends the connection. On shutdown it is the error that the
// client reads.
func (c *conn) closeReason(err error) error {
	if errors.Is(context.Cause(c.ctx), errShutdown) {
		return fatalf(stateShutdown, "", "%s", errShutdown)
	}
	return err
}

func (c *conn) dispatch(f frame) error {
	if f.refusal != nil {
		return f.refusal
	}
	switch f.kind {
	case 'Q':
		return decodeAnd(f, &pgproto3.Query{}, c.query)
	case 'P':
		return decodeAnd(f, &pgproto3.Parse{}, c.parse)
	case 'B':
		return decodeAnd(f, &pgproto3.Bind{}, c.bind)
	case 'D':
		return decodeAnd(f, &pgproto3.Describe{}, c.describe)
	case 'E':
		return decodeAnd(f, &pgproto3.Execute{}, c.execute)
	case 'C':
		return decodeAnd(f, &pgproto3.Close{}, c.close)
	case 'H':
		c.out.flush()
		return nil
	case 'S':
		return c.sync()
	case 'F':
		return errorf(stateNotSupported, "call the function in a SELECT", "the function call protocol is not supported")
	case 'd', 'c', 'f': // the rest of a refused COPY
		return nil
	}
	return fatalf(stateProtocol, "", "unexpected message type %d", f.kind)
}

// decodeAnd decodes a message and calls its handler.
func decodeAnd[M pgproto3.FrontendMessage](f frame, m M, do func(M) error) error {
	if err := m.Decode(f.body); err != nil {
		return errorf(stateProtocol, "", "invalid message format")
	}
	return do(m)
}

// sendError sends an error and marks the open transaction as failed.
func (c *conn) sendError(err error) {
	m, internal := response(err)
	if internal {
		c.server.config.Logger.Error("a statement failed with an internal error", "error", err)
	}
	c.out.send(m)
	c.session.Fail() // the console has not seen a message that was wrong
	c.implicitTransaction = false
}

// query answers a simple query, which can contain several statements.
func (c *conn) query(m *pgproto3.Query) error {
	if err := checkUTF8(m.String); err != nil {
		return err
	}
	c.prepared.closeUnnamed()
	ctx, done := c.startStatement()
	defer done()
	if err := c.checkRate(); err != nil {
		return err
	}
	none := true
	err := c.session.Run(ctx, m.String, nil, func(a *session.Answer) error {
		if !none { // it may have committed: it counts, but cannot be refused any more
			c.server.config.Rate.Count(c.user)
		}
		none = false
		return c.sendAnswer(a)
	})
	if err != nil {
		return cancelReason(ctx, err)
	}
	if none {
		c.out.send(&pgproto3.EmptyQueryResponse{})
	}
	if err := c.commitImplicit(); err != nil {
		return err
	}
	c.ready()
	return nil
}

// sendAnswer sends the complete answer of one statement in text format.
func (c *conn) sendAnswer(a *session.Answer) error {
	defer a.Release()
	c.afterStatement(a)
	if a.Columns != nil {
		columns := c.columns(a.Columns, nil)
		c.out.send(rowDescription(columns))
		for i, row := range a.Rows {
			if err := c.sendRow(row, columns); err != nil {
				return err
			}
			a.Drop(i) // it need not stay in memory while the client reads others
		}
	}
	c.out.send(&pgproto3.CommandComplete{CommandTag: []byte(a.Tag)})
	return c.out.err
}

// sendRow sends one row. A long row is in memory a second time, encoded, until the client has read it.
func (c *conn) sendRow(row []any, columns []column) error {
	n := 2 * system.RowBytes(row) // the text of bytes has two digits for each
	if n <= 2*flushBytes {
		return c.out.row(row, columns)
	}
	memory := c.session.Memory()
	if err := memory.Charge(n); err != nil {
		return err
	}
	defer memory.Release(n)
	c.server.encoding.Lock()
	err := c.out.encodeRow(row, columns)
	c.server.encoding.Unlock()
	if err != nil {
		return err
	}
	c.out.flush()
	return c.out.err
}

// afterStatement drops the prepared statements that the statement deallocated, updates the time
// zone and sends notices.
func (c *conn) afterStatement(a *session.Answer) {
	if a.Deallocate != nil {
		c.prepared.deallocate(*a.Deallocate)
	}
	c.updateTimeZone()
	if level, _ := c.session.Setting("client_min_messages"); level == "warning" || level == "error" {
		return
	}
	for _, text := range a.Notices {
		c.out.send(&pgproto3.NoticeResponse{Severity: "NOTICE", SeverityUnlocalized: "NOTICE", Code: "00000", Message: cutAtNUL(text)})
	}
}

// checkUTF8 rejects texts that are not valid UTF-8.
func checkUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return errorf(stateEncoding, "send the text encoded as UTF8", "invalid byte sequence for encoding \"UTF8\"")
}

// commandTag is the tag of a partial fetch: like PostgreSQL, it counts the rows of the last
// fetch.
func commandTag(a *session.Answer, rows int) []byte {
	if strings.HasPrefix(a.Tag, "SELECT ") {
		return strconv.AppendInt([]byte("SELECT "), int64(rows), 10)
	}
	return []byte(a.Tag)
}
