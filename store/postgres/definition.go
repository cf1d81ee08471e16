package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

// A definition goes by an id in SQL, and history outlives it: so the names that
// there ever were are kept, each written with the first schedule that has it.
const (
	sqlDefinition = `
SELECT name
FROM rota_definitions
WHERE id = $1`
	sqlInsertDefinition = `
INSERT INTO rota_definitions (id, name)
VALUES ($1, $2)
ON CONFLICT (id) DO NOTHING`
)

func writeDefinition(name string) statement {
	return statement{sql: sqlInsertDefinition, params: []param{idParam(rota.DefinitionID(name)), textNotNull(name)}}
}

// Definition returns the name that an id stands for.
func (s *reader) Definition(ctx context.Context, id rota.ID) (name string, err error) {
	err = s.query(ctx, "definition", statement{sql: sqlDefinition, params: []param{idParam(id)}, eachRow: func(r row) error {
		name = r.text(0)
		return nil
	}})
	if err == nil && name == "" {
		return "", noDefinition(id)
	}
	return name, err
}

func noDefinition(id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: "definition", Reason: "no definition has the id " + id.String(),
		Hint: "list the schedules to see what is there",
	}
}
