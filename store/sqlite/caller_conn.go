package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// callerConn executes statements in a transaction of a caller, by way of database/sql. The driver of
// the caller prepares each statement again. The statements are not interrupted: SQLite would roll
// back the whole transaction.
type callerConn struct {
	tx          *sql.Tx
	changed     int // rows that the last statement has changed
	injectFault func(statement int) error
	writes      int // statements that have written, for injectFault
}

// read executes a query.
func (c *callerConn) read(sql string, each func(storekit.Row) error, args []any) error {
	values := parameters{list: make([]any, 0, len(args))}
	for _, arg := range args {
		storekit.Pass(&values, arg)
	}
	return c.query(rewriteForCaller(sql), each, values.list)
}

func (c *callerConn) query(text string, each func(storekit.Row) error, args []any) error {
	rows, err := c.tx.QueryContext(context.Background(), text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	r := newCallerRow(len(names))
	for rows.Next() {
		if err := rows.Scan(r.targets...); err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// change executes a statement that changes rows.
func (c *callerConn) change(sql string, args []any) error {
	return c.changeRows(sql, func(p storekit.Param) {
		for _, arg := range args {
			storekit.Pass(p, arg)
		}
	})
}

// changeRows executes a statement that changes rows and whose parameters bind passes.
func (c *callerConn) changeRows(sql string, bind func(storekit.Param)) error {
	if c.injectFault != nil {
		c.writes++
		if err := c.injectFault(c.writes); err != nil {
			return err
		}
	}
	var values parameters
	bind(&values)
	result, err := c.tx.ExecContext(context.Background(), rewriteForCaller(sql), values.list...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	c.changed = int(n)
	return err
}

// exec executes statements without parameters and rows, up to the first that fails.
func (c *callerConn) exec(text string) error {
	_, err := c.tx.ExecContext(context.Background(), text)
	return err
}

// heads reads the first jobs of a type queue.
func (c *callerConn) heads(name string, limit int) (jobs []*rota.Job, err error) {
	err = c.read(sqlHeads, func(r storekit.Row) error {
		jobs = append(jobs, storekit.ScanJob(r))
		return nil
	}, []any{name, limit})
	return jobs, err
}

// text returns the only value of a query.
func (c *callerConn) text(query string, args ...any) (text string, err error) {
	rows := 0
	err = c.query(query, func(r storekit.Row) error {
		rows, text = rows+1, r.Text(0)
		return nil
	}, args)
	if err == nil && rows != 1 {
		err = fmt.Errorf("%d rows instead of one: %s", rows, query)
	}
	return text, err
}

// parameters collects the values of parameters for database/sql. It implements storekit.Param.
type parameters struct{ list []any }

func (p *parameters) add(value any) { p.list = append(p.list, value) }

func (p *parameters) Null()            { p.add(nil) }
func (p *parameters) Text(text string) { p.add(text) }
func (p *parameters) Int(n int64)      { p.add(n) }
func (p *parameters) Small(n int)      { p.add(int64(n)) }
func (p *parameters) Float(f float64)  { p.add(f) }
func (p *parameters) Bool(is bool)     { p.add(is) }
func (p *parameters) ID(id rota.ID)    { p.add(id[:]) }
func (p *parameters) Bytes(all []byte) { p.add(all) }
