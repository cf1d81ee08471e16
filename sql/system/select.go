package system

import (
	"fmt"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
)

// run answers one query.
func (d *memoryDB) run(q *translate.Statement, args []any, to func([]any) error) error {
	d.conn.SetInterrupt(d.query.ctx.Done())
	d.query.valueMax = valueLimit(q)
	d.conn.Limit(sqlite.LimitLength, d.query.valueMax)
	stmt, _, err := d.conn.PrepareTransient(q.Text)
	if err != nil {
		return d.explain(err)
	}
	defer stmt.Finalize()
	if err := d.bind(stmt, q.Params, args); err != nil {
		return err
	}
	return d.step(stmt, q.Columns, to)
}

func (d *memoryDB) bind(stmt *sqlite.Stmt, params []Kind, args []any) error {
	if len(params) != len(args) {
		return &Error{
			State: StateParams, Offset: -1, Message: fmt.Sprintf("the statement has %d parameters, but %d arguments were given", len(params), len(args)),
			Hint: "pass one argument for each parameter",
		}
	}
	for i := range min(len(args), stmt.BindParamCount()) {
		var v any
		var err error
		d.large.do(textBytes(args[i]), func() { v, err = d.argumentValue(params[i], args[i]) })
		if err != nil {
			return badArgument(i, err)
		}
		switch v := v.(type) {
		case nil:
			stmt.BindNull(i + 1)
		case int64:
			stmt.BindInt64(i+1, v)
		case float64:
			stmt.BindFloat(i+1, v)
		case string:
			stmt.BindText(i+1, v)
		case []byte:
			stmt.BindBytes(i+1, v)
		}
	}
	return nil
}

func (d *memoryDB) step(stmt *sqlite.Stmt, columns []Column, to func([]any) error) error {
	for {
		some, err := stmt.Step()
		switch {
		case d.query.err != nil:
			return d.query.err
		case err != nil:
			return d.stepError(err)
		case !some:
			return nil
		}
		if err := to(d.row(stmt, columns)); err != nil {
			return err
		}
	}
}

func (d *memoryDB) row(stmt *sqlite.Stmt, columns []Column) []any {
	values := make([]any, len(columns))
	for i := range values {
		switch stmt.ColumnType(i) {
		case sqlite.TypeInteger:
			values[i] = d.number(stmt.ColumnInt64(i), columns[i].Kind)
		case sqlite.TypeFloat:
			values[i] = stmt.ColumnFloat(i)
			if columns[i].Kind == kind.Numeric {
				values[i] = translate.RoundNumeric(stmt.ColumnFloat(i)) // the same on each interface
			}
		case sqlite.TypeText:
			values[i] = stmt.ColumnText(i)
		case sqlite.TypeBlob:
			b := make([]byte, stmt.ColumnLen(i))
			stmt.ColumnBytes(i, b)
			values[i] = b
		}
	}
	return values
}

// number converts a number to the boolean or name of its kind. A number that is neither stays a number, because
// another part of a UNION may have returned it.
func (d *memoryDB) number(n int64, k Kind) any {
	if k == Boolean && (n == 0 || n == 1) {
		return n != 0
	}
	if name, is := builtCatalog().FormatOID(d.query.env, k, n); is {
		return Named{n, name}
	}
	return n
}

// Named is a number of the catalogue that is shown as a name, such as
// a regclass.
type Named struct {
	Number int64
	Name   string
}

func (n Named) String() string { return n.Name }
