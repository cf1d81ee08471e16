package action

import (
	"context"
	"strings"
)

// StatementMax is the size of the text of a job of type sql, in bytes.
const StatementMax = 256 << 10

// SQL is one or several statements, executed in one transaction.
type SQL struct {
	Statement string `json:"statement" jsonschema:"minLength=1,maxLength=262144,description=one or several statements\\, separated by semicolons"`
	Target    string `json:"target,omitempty" jsonschema:"maxLength=64,description=the database\\, by its name in the configuration; default main"`
	RunAs     string `json:"run_as,omitempty" jsonschema:"maxLength=128,description=the role to run as"`
}

// JobType names the type.
func (SQL) JobType() string { return "sql" }

func (r *runner) sql(ctx context.Context, p SQL) error {
	if err := checkStatement(p.Statement); err != nil {
		return err
	}
	return r.run(ctx, orDefault(p.Target, MainTarget), p.RunAs, &work{script: p.Statement})
}

// checkStatement checks what the schema cannot: the size in bytes, and NUL.
func checkStatement(text string) error {
	switch {
	case len(text) > StatementMax:
		return permanentFailure(codeParams, "statement: it has %d bytes, and may have %d; put the rest into a procedure and call it", len(text), StatementMax)
	case strings.ContainsRune(text, 0):
		return permanentFailure(codeParams, "statement: it contains a NUL character; remove it")
	}
	return nil
}
