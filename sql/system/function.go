package system

import (
	"strings"

	"zombiezen.com/go/sqlite"
)

// addClock registers what depends on the store and on times: now() and the collation of timestamps.
func (d *memoryDB) addClock() error {
	if err := d.conn.SetCollation(timeCollation, func(a, b string) int { return strings.Compare(normalizedTime(a), normalizedTime(b)) }); err != nil {
		return err
	}
	return d.conn.CreateFunction("now", &sqlite.FunctionImpl{Scalar: d.now, AllowIndirect: true})
}

// now is the time of the statement, which is the store's.
func (d *memoryDB) now(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
	view, err := d.query.store()
	if err != nil {
		return null, d.query.fail(err)
	}
	return timestamp(view.Now()), nil
}
