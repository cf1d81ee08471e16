package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

// SQL clients name a definition by its id, and history outlives it. So every name that ever existed
// is kept, written with the first schedule of that name.
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

// Definition returns the name of a definition id.
func (s *reader) Definition(ctx context.Context, id rota.ID) (name string, err error) {
	err = s.query(ctx, "definition", statement{sql: sqlDefinition, params: []param{idParam(id)}, eachRow: func(r row) error {
		name = r.Text(0)
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
		Hint: "check the id; rota schedule list shows the schedules",
	}
}
