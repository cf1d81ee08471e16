package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/console/kind"
)

// parse keeps a statement under a name.
func (c *conn) parse(m *pgproto3.Parse) error {
	if err := wellFormed(m.Query); err != nil {
		return err
	}
	if err := c.names.mayKeep(m.Name, len(m.Query)); err != nil {
		return err
	}
	params, err := kindsOf(m.ParameterOIDs)
	if err != nil {
		return err
	}
	ctx, done := c.statement()
	defer done()
	p, err := c.session.Prepare(ctx, m.Query, params)
	if err != nil {
		return because(ctx, err)
	}
	c.names.keep(m.Name, p)
	c.out.send(&pgproto3.ParseComplete{})
	return nil
}

// kindsOf are the kinds of the parameters that a client has said the type of.
func kindsOf(oids []uint32) ([]kind.Kind, error) {
	list := make([]kind.Kind, len(oids))
	for i, oid := range oids {
		if oid == 0 {
			continue
		}
		k, known := kind.OfOID(oid)
		if !known {
			return nil, refuse(stateNotSupported, "send it as text and cast it", "parameter $%d has the type %d, which is not known here", i+1, oid)
		}
		list[i] = k
	}
	return list, nil
}

// bind makes a portal of a statement and its arguments.
func (c *conn) bind(m *pgproto3.Bind) error {
	statement, err := c.names.statement(m.PreparedStatement)
	if err != nil {
		return err
	}
	if len(m.Parameters) != len(statement.Params) {
		return refuse(stateProtocol, "", "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), m.PreparedStatement, len(statement.Params))
	}
	formats, err := formatsFor(m.ParameterFormatCodes, len(m.Parameters), "parameter")
	if err != nil {
		return err
	}
	p := &portal{statement: statement, args: make([]any, len(m.Parameters))}
	for i, raw := range m.Parameters {
		if p.args[i], err = c.values.argument(i+1, statement.Params[i], formats[i], raw); err != nil {
			return err
		}
		p.bytes += len(raw)
	}
	if p.formats, err = formatsFor(m.ResultFormatCodes, len(statement.Columns), "result"); err != nil {
		return err
	}
	if err := c.names.open(m.DestinationPortal, p); err != nil {
		return err
	}
	c.out.send(&pgproto3.BindComplete{})
	return nil
}

// formatsFor spreads format codes over values: none means text, one is for all.
func formatsFor(codes []int16, count int, what string) ([]int16, error) {
	for _, code := range codes {
		if code != pgproto3.TextFormat && code != pgproto3.BinaryFormat {
			return nil, refuse(stateBadValue, "", "unsupported format code: %d", code)
		}
	}
	all := make([]int16, count)
	switch {
	case len(codes) == 1:
		for i := range all {
			all[i] = codes[0]
		}
	case len(codes) == count:
		copy(all, codes)
	case len(codes) != 0 && (what == "parameter" || count != 0):
		return nil, refuse(stateProtocol, "", "bind message has %d %s formats but %d %ss", len(codes), what, count, what)
	}
	return all, nil
}

// describe says what a statement takes and gives, or what a portal will give.
func (c *conn) describe(m *pgproto3.Describe) error {
	switch m.ObjectType {
	case 'S':
		p, err := c.names.statement(m.Name)
		if err != nil {
			return err
		}
		oids := make([]uint32, len(p.Params))
		for i, k := range p.Params {
			oids[i] = oidOf(k)
		}
		c.out.send(&pgproto3.ParameterDescription{ParameterOIDs: oids})
		c.describeRows(p, nil)
	case 'P':
		p, err := c.names.portal(m.Name)
		if err != nil {
			return err
		}
		c.describeRows(p.statement, p.formats)
	default:
		return refuse(stateProtocol, "", "invalid DESCRIBE message subtype %d", m.ObjectType)
	}
	return nil
}

func (c *conn) describeRows(p *console.Prepared, formats []int16) {
	if p.Columns == nil {
		c.out.send(&pgproto3.NoData{})
		return
	}
	c.out.send(described(c.columns(p.Columns, formats)))
}

// close forgets a statement or a portal; it is no error if it was not there.
func (c *conn) close(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		c.names.closeStatement(m.Name)
	case 'P':
		c.names.closePortal(m.Name)
	default:
		return refuse(stateProtocol, "", "invalid CLOSE message subtype %d", m.ObjectType)
	}
	c.out.send(&pgproto3.CloseComplete{})
	return nil
}
