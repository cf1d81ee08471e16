package pgwire

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
)

// answer answers one message. Its error ends the connection; errors of statements
// are answered.
func (c *conn) answer(f frame) error {
	if c.skipping && f.kind != 'S' {
		return nil
	}
	err := c.handle(f)
	if err == nil {
		return nil
	}
	var last *fatal
	if errors.As(err, &last) || c.out.err != nil || c.ctx.Err() != nil {
		return c.ending(err)
	}
	c.complain(err)
	switch f.kind {
	case 'Q', 'F', 'S':
		c.ready()
	case 'd', 'c', 'f': // nobody waits for an answer to these
	default:
		c.skipping = true
	}
	return nil
}

// ending is why the connection ends: the server's end is told to the client.
func (c *conn) ending(err error) error {
	if errors.Is(context.Cause(c.ctx), errShutdown) {
		return fatally(stateShutdown, "", "%s", errShutdown)
	}
	return err
}

func (c *conn) handle(f frame) error {
	switch f.kind {
	case 'Q':
		return with(f, &pgproto3.Query{}, c.query)
	case 'P':
		return with(f, &pgproto3.Parse{}, c.parse)
	case 'B':
		return with(f, &pgproto3.Bind{}, c.bind)
	case 'D':
		return with(f, &pgproto3.Describe{}, c.describe)
	case 'E':
		return with(f, &pgproto3.Execute{}, c.execute)
	case 'C':
		return with(f, &pgproto3.Close{}, c.close)
	case 'H':
		c.out.flush()
		return nil
	case 'S':
		return c.sync()
	case 'F':
		return refuse(stateNotSupported, "call it in a SELECT", "the function call protocol is not supported")
	case 'd', 'c', 'f': // what is left of a COPY that was refused
		return nil
	}
	return fatally(stateProtocol, "", "message type %d is not expected now", f.kind)
}

// with decodes a message and has it answered.
func with[M pgproto3.FrontendMessage](f frame, m M, do func(M) error) error {
	if err := m.Decode(f.body); err != nil {
		return refuse(stateProtocol, "", "invalid message format")
	}
	return do(m)
}

// complain answers an error, and sees to it that a transaction does not go on as if
// nothing had happened.
func (c *conn) complain(err error) {
	m, ours := response(err)
	if ours {
		c.server.config.Logger.Error("a statement failed", "err", err)
	}
	c.out.send(m)
	c.session.Fail() // of a message that is wrong the console has not heard
	c.gathering = false
}

// query answers a text of statements.
func (c *conn) query(m *pgproto3.Query) error {
	if err := wellFormed(m.String); err != nil {
		return err
	}
	c.names.forgetUnnamed()
	ctx, done := c.statement()
	defer done()
	none := true
	err := c.session.Run(ctx, m.String, nil, func(a *console.Answer) error {
		none = false
		return c.tell(a)
	})
	if err != nil {
		return because(ctx, err)
	}
	if none {
		c.out.send(&pgproto3.EmptyQueryResponse{})
	}
	if err := c.finish(); err != nil {
		return err
	}
	c.ready()
	return nil
}

// tell sends the answer to one statement in full, as text.
func (c *conn) tell(a *console.Answer) error {
	c.heed(a)
	if a.Columns != nil {
		columns := c.columns(a.Columns, nil)
		c.out.send(described(columns))
		for _, row := range a.Rows {
			if err := c.out.row(row, columns); err != nil {
				return err
			}
		}
	}
	c.out.send(&pgproto3.CommandComplete{CommandTag: []byte(a.Tag)})
	return c.out.err
}

// heed passes on what is good to know, and forgets what the statement has the
// client's names forget.
func (c *conn) heed(a *console.Answer) {
	if name, some := forgets(a); some {
		c.names.forget(name)
	}
	c.setClock()
	if level, _ := c.session.Setting("client_min_messages"); level == "warning" || level == "error" {
		return
	}
	for _, text := range a.Notices {
		c.out.send(&pgproto3.NoticeResponse{Severity: "NOTICE", SeverityUnlocalized: "NOTICE", Code: "00000", Message: clean(text)})
	}
}

// forgets says whether prepared statements are to be forgotten: the one of a name,
// or all.
func forgets(a *console.Answer) (name string, some bool) {
	if a.Forget == nil {
		return "", false
	}
	return *a.Forget, true
}

// wellFormed refuses texts that are not in the one encoding.
func wellFormed(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return refuse(stateEncoding, "set client_encoding to UTF8 and send it so", "invalid byte sequence for encoding \"UTF8\"")
}

// tagOf is the tag of a part of the rows: PostgreSQL counts those of the last fetch.
func tagOf(a *console.Answer, rows int) []byte {
	if strings.HasPrefix(a.Tag, "SELECT ") {
		return strconv.AppendInt([]byte("SELECT "), int64(rows), 10)
	}
	return []byte(a.Tag)
}
