package sqlite

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

const (
	// SQLite's own check covers all tables of the file, including those of its user, because a
	// damaged page can belong to any table.
	sqlIntegrity = `PRAGMA integrity_check(100)`
	sqlSchema    = `
SELECT type || ' ' || name, sql
FROM sqlite_schema
WHERE name GLOB 'rota_*'
ORDER BY name`
)

// checkIntegrity runs SQLite's own check.
func (v verified) checkIntegrity(report func(rota.Violation)) error {
	return v.Each(sqlIntegrity, func(r storekit.Row) error {
		if text := r.Text(0); text != "ok" {
			report(rota.Violation{Check: rota.CheckFile, Rows: []string{"file"}, Detail: strings.ReplaceAll(text, "\n", "; ")})
		}
		return nil
	})
}

// checkSchema compares the tables, indexes and triggers with those of a new file.
func (v verified) checkSchema(report func(rota.Violation)) error {
	want, err := newSchema()
	if err != nil {
		return err
	}
	is, err := schemaOf(v.conn)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		sql, exists := is[name]
		switch {
		case !exists:
			report(rota.Violation{Check: rota.CheckSchema, Rows: []string{name}, Detail: "it is missing"})
		case sql != want[name]:
			report(rota.Violation{Check: rota.CheckSchema, Rows: []string{name}, Detail: "its definition differs from that of this version"})
		}
	}
	return nil
}

// newSchema is the schema of a new file.
var newSchema = sync.OnceValues(func() (map[string]string, error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := migrate(conn); err != nil {
		return nil, err
	}
	return schemaOf(conn)
})

func schemaOf(conn *sqlite.Conn) (map[string]string, error) {
	schema := map[string]string{}
	err := query(conn, sqlSchema, func(r storekit.Row) error {
		schema[r.Text(0)] = r.Text(1)
		return nil
	})
	return schema, err
}
