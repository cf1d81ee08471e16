package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// The size of a page, which is the size of a transaction of the target.
const (
	pageRows  = 2000
	pageBytes = 8 << 20
	firstRows = 100 // rows of the first page of a table, whose rows may be large
)

// copier is one run of a copy.
type copier struct {
	from   Source
	to     Target
	o      Options
	state  storekit.CopyState
	ids    map[*storekit.RowTable][]rota.ID // selected rows of tables that are copied by id
	total  int64
	result *Result
}

// plan selects the rows that are copied by id and counts all rows.
func (c *copier) plan(ctx context.Context) error {
	c.ids = map[*storekit.RowTable][]rota.ID{}
	for _, t := range storekit.RowTables {
		n, err := int64(0), error(nil)
		if !c.o.History && t.WaitingIDs != "" {
			c.ids[t], err = c.from.SelectIDs(ctx, t.WaitingIDs)
			n = int64(len(c.ids[t]))
		} else {
			n, err = c.from.CountRows(ctx, t, !c.o.History)
		}
		if err != nil {
			return err
		}
		c.total += n
	}
	return nil
}

// source returns the first query of the rows of a table in the source, and target that of the same
// rows in the target.
func (c *copier) source(t *storekit.RowTable) *storekit.RowQuery {
	q := c.target(t)
	q.Waiting = !c.o.History
	q.IDs, q.ByIDs = c.ids[t], q.Waiting && t.WaitingIDs != ""
	return q
}

func (c *copier) target(t *storekit.RowTable) *storekit.RowQuery {
	q := &storekit.RowQuery{Table: t, Limit: pageRows, Bytes: pageBytes}
	if c.o.pageRows > 0 {
		q.Limit = c.o.pageRows
	}
	if c.o.pageBytes > 0 {
		q.Bytes = c.o.pageBytes
	}
	return q
}

// copyTables copies the tables one after the other, from where the state says.
func (c *copier) copyTables(ctx context.Context) error {
	skip := c.state.Table != ""
	for _, t := range storekit.RowTables {
		if skip && t.Name != c.state.Table {
			continue
		}
		q := c.source(t)
		if skip {
			q.After, skip = c.state.After, false
		}
		if err := c.copyTable(ctx, q); err != nil {
			return err
		}
	}
	if skip {
		return refuse("begin again with --restart", "the unfinished copy has come to the table %s, which this version does not know", c.state.Table)
	}
	return nil
}

func (c *copier) copyTable(ctx context.Context, q *storekit.RowQuery) error {
	return eachPage(ctx, c.from, q, func(page *storekit.RowPage, last []byte) error {
		c.state.Table, c.state.After = q.Table.Name, last
		c.state.Rows += int64(page.Len())
		if err := c.to.Write(ctx, q.Table, &page.Rows, c.state); err != nil {
			return err
		}
		c.result.Written += int64(page.Len())
		c.report(Copying, q.Table, c.state.Rows)
		return nil
	})
}

// eachPage calls use with each page that has rows, and with the key of its last row. It asks for as many
// rows as fill a page if they are as large as those of the page before: PostgreSQL sends all rows of
// an answer, and those that do not fit are read again for the next page.
func eachPage(ctx context.Context, from reader, q *storekit.RowQuery, use func(page *storekit.RowPage, last []byte) error) error {
	rowsMax := q.Limit
	q.Limit = min(firstRows, rowsMax)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := from.ReadRows(ctx, q)
		if err != nil {
			return err
		}
		if page.Len() > 0 {
			if q.After, err = q.Table.Key(page.Row(page.Len() - 1)); err != nil {
				return err
			}
			if err := use(page, q.After); err != nil {
				return err
			}
			q.Limit = min(rowsMax, 1+q.Bytes*page.Len()/(len(page.Data)+1))
		}
		if !page.More {
			return nil
		}
	}
}

func (c *copier) report(step Step, t *storekit.RowTable, rows int64) {
	if c.o.Progress != nil {
		c.o.Progress(Progress{Step: step, Table: TableName(t), Rows: rows, Total: c.total})
	}
}

// compare reads the rows of both stores again and compares their number and checksum.
func (c *copier) compare(ctx context.Context) error {
	done := int64(0)
	for _, t := range storekit.RowTables {
		if !c.o.History && t.OnlyHistory() {
			continue // Restore has written them
		}
		want, err := checksum(ctx, c.from, c.source(t), func(rows int64) { c.report(Comparing, t, done+rows/2) })
		if err != nil {
			return err
		}
		is, err := checksum(ctx, c.to, c.target(t), func(rows int64) { c.report(Comparing, t, done+(want.Rows+rows)/2) })
		if err != nil {
			return err
		}
		if want != is {
			return refuse("stop every process that uses one of the stores, then begin again with --restart",
				"the table %s differs: %d rows with checksum %.8s in the source, %d with %.8s in the target; a store was changed during the copy or since it was interrupted",
				TableName(t), want.Rows, want.Checksum, is.Rows, is.Checksum)
		}
		done += is.Rows
		c.result.Tables = append(c.result.Tables, is)
	}
	c.result.Rows = done
	return nil
}

// checksum reads all rows of a query.
func checksum(ctx context.Context, from reader, q *storekit.RowQuery, progress func(rows int64)) (TableResult, error) {
	result, sum := TableResult{Table: TableName(q.Table)}, sha256.New()
	err := eachPage(ctx, from, q, func(page *storekit.RowPage, _ []byte) error {
		result.Rows += int64(page.Len())
		sum.Write(page.Data)
		progress(result.Rows)
		return nil
	})
	result.Checksum = hex.EncodeToString(sum.Sum(nil))
	return result, err
}

// ErrNotClean is returned if the copy violates an invariant, as its source does.
var ErrNotClean = errors.New("the source is not clean")

// verify checks the invariants of the target, whose triggers are on again.
func (c *copier) verify(ctx context.Context) error {
	if err := c.to.Restore(ctx); err != nil {
		return err
	}
	for v, err := range c.to.VerifyProgress(ctx, func(n rota.Checked) {
		if c.o.Progress != nil {
			c.o.Progress(Progress{Step: Verifying, Table: "jobs", Rows: int64(n.Jobs), Total: c.total})
		}
	}) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: the copy in %s violates the invariant %s: %s %v", ErrNotClean, c.to.Name(), v.Check, v.Detail, v.Rows)
	}
	return nil
}

// finish marks the source before it opens the target for use: of two stores that can be started,
// both would run the same jobs.
func (c *copier) finish(ctx context.Context) error {
	if c.o.Also != nil {
		if err := c.o.Also(ctx); err != nil {
			return err
		}
	}
	if !c.o.Keep {
		if err := c.from.MarkMoved(ctx, storekit.Moved{To: c.to.Name(), At: c.o.Now.UTC()}); err != nil {
			return err
		}
		c.result.Moved = true
	}
	return c.to.Finish(ctx)
}
