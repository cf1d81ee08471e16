package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/session"
)

// parse prepares a statement under a name.
func (c *conn) parse(m *pgproto3.Parse) error {
	if err := checkUTF8(m.Query); err != nil {
		return err
	}
	if err := c.prepared.checkStatement(m.Name); err != nil {
		return err
	}
	params, err := kindsOf(m.ParameterOIDs)
	if err != nil {
		return err
	}
	ctx, done := c.startStatement()
	defer done()
	p, err := c.session.Prepare(ctx, m.Query, params)
	if err != nil {
		return cancelReason(ctx, err)
	}
	if err := c.prepared.addStatement(m.Name, p); err != nil {
		return err
	}
	c.out.send(&pgproto3.ParseComplete{})
	return nil
}

// kindsOf converts the parameter types that the client specified.
func kindsOf(oids []uint32) ([]kind.Kind, error) {
	list := make([]kind.Kind, len(oids))
	for i, oid := range oids {
		if oid == 0 {
			continue
		}
		k, known := kind.OfOID(oid)
		if !known {
			return nil, errorf(stateNotSupported, "send it as text and cast it in the statement", "parameter $%d has the unknown type OID %d", i+1, oid)
		}
		list[i] = k
	}
	return list, nil
}

// bind creates a portal from a statement and its arguments.
func (c *conn) bind(m *pgproto3.Bind) error {
	statement, err := c.prepared.statement(m.PreparedStatement)
	if err != nil {
		return err
	}
	if len(m.Parameters) != len(statement.Params) {
		return errorf(stateProtocol, "", "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), m.PreparedStatement, len(statement.Params))
	}
	formats, err := formatsFor(m.ParameterFormatCodes, len(m.Parameters), "parameter")
	if err != nil {
		return err
	}
	p := &portal{statement: statement, args: make([]any, len(m.Parameters)), bytes: statement.Bytes()}
	for i, raw := range m.Parameters {
		if p.args[i], err = argument(i+1, statement.Params[i], formats[i], raw); err != nil {
			return err
		}
		p.bytes += argumentBytes + len(raw)
	}
	if p.formats, err = formatsFor(m.ResultFormatCodes, len(statement.Columns), "result"); err != nil {
		return err
	}
	if err := c.prepared.addPortal(m.DestinationPortal, p); err != nil {
		return err
	}
	c.out.send(&pgproto3.BindComplete{})
	return nil
}

// argumentBytes is the memory of an argument in addition to its text.
const argumentBytes = 32

// formatsFor expands the format codes of a message: none means text, a single one applies to
// all values.
func formatsFor(codes []int16, count int, what string) ([]int16, error) {
	for _, code := range codes {
		if code != pgproto3.TextFormat && code != pgproto3.BinaryFormat {
			return nil, errorf(stateBadValue, "", "unsupported format code: %d", code)
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
		return nil, errorf(stateProtocol, "", "bind message has %d %s formats but %d %ss", len(codes), what, count, what)
	}
	return all, nil
}

// describe sends the parameters and columns of a statement, or the columns of a portal.
func (c *conn) describe(m *pgproto3.Describe) error {
	switch m.ObjectType {
	case 'S':
		p, err := c.prepared.statement(m.Name)
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
		p, err := c.prepared.portal(m.Name)
		if err != nil {
			return err
		}
		c.describeRows(p.statement, p.formats)
	default:
		return errorf(stateProtocol, "", "invalid DESCRIBE message subtype %d", m.ObjectType)
	}
	return nil
}

func (c *conn) describeRows(p *session.Prepared, formats []int16) {
	if p.Columns == nil {
		c.out.send(&pgproto3.NoData{})
		return
	}
	c.out.send(rowDescription(c.columns(p.Columns, formats)))
}

// close closes a statement or a portal. Closing one that does not exist is not an error.
func (c *conn) close(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		c.prepared.closeStatement(m.Name)
	case 'P':
		c.prepared.closePortal(m.Name)
	default:
		return errorf(stateProtocol, "", "invalid CLOSE message subtype %d", m.ObjectType)
	}
	c.out.send(&pgproto3.CloseComplete{})
	return nil
}
