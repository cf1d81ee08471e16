package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// SQL clients use definition ids, and the history of a schedule outlives it. So the names of all
// definitions are kept. A name is written with the first schedule that has it.
const (
	sqlDefinition = `
SELECT name
FROM rota_definitions
WHERE id = ?`
	sqlInsertDefinition = `
INSERT OR ROLLBACK INTO rota_definitions (id, name)
SELECT ?1, ?2
WHERE NOT EXISTS (SELECT 1 FROM rota_definitions WHERE id = ?1)`
)

func (w *writer) writeDefinition(name string) error {
	return w.change(sqlInsertDefinition, func(s *sqlite.Stmt) {
		bindID(s, 1, rota.DefinitionID(name))
		s.BindText(2, name)
	})
}

// Definition returns the name of a definition id.
func (s *reader) Definition(ctx context.Context, id rota.ID) (name string, err error) {
	err = s.withSnapshot(ctx, "definition", func(conn *sqlite.Conn) error {
		return query(conn, sqlDefinition, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) },
			func(stmt *sqlite.Stmt) { name = stmt.ColumnText(0) })
	})
	if err == nil && name == "" {
		return "", noDefinition(id)
	}
	return name, err
}

func noDefinition(id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: "definition", Reason: "no definition has the id " + id.String(),
		Hint: "check the id; rota schedule list shows the schedules",
	}
}
