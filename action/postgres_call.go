package action

import (
	"context"
	"fmt"
	"strings"
)

// postgresKinds finds the kinds of the routines with a name and a number of arguments.
// Procedures need CALL, functions SELECT.
const postgresKinds = `SELECT DISTINCT p.prokind
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = $1
AND CASE WHEN $2 = '' THEN pg_catalog.pg_function_is_visible(p.oid) ELSE n.nspname = $2 END
AND p.prokind IN ('f', 'p')
AND $3::text::int >= p.pronargs - p.pronargdefaults
AND ($3::text::int <= coalesce(cardinality(p.proallargtypes), p.pronargs) OR p.provariadic <> 0)
ORDER BY p.prokind DESC`

// call calls a procedure, or selects from a function. The arguments are bound,
// and the server converts them to the types of the parameters.
func (r *postgresRun) call(ctx context.Context) error {
	name, err := parseName(r.w.call.Procedure, '"')
	if err != nil {
		return err
	}
	args, err := r.w.call.texts()
	if err != nil {
		return err
	}
	verb, err := r.verb(ctx, name, len(args))
	if err != nil {
		return err
	}
	signs := make([]string, len(args))
	for i := range signs {
		signs[i] = fmt.Sprint("$", i+1)
	}
	text := fmt.Sprintf("%s %s(%s)", verb, name.quoted('"'), strings.Join(signs, ", "))
	if err := r.read(r.conn.ExecParams(ctx, text, args, nil, nil, nil)); err != nil {
		return postgresFailure("", piece{}, err)
	}
	return r.checkTransaction()
}

func (r *postgresRun) verb(ctx context.Context, name routine, args int) (string, error) {
	look := [][]byte{[]byte(name.name), []byte(name.schema), fmt.Append(nil, args)}
	result := r.conn.ExecParams(ctx, postgresKinds, look, nil, nil, nil).Read()
	switch {
	case result.Err != nil:
		return "", postgresFailure("", piece{}, result.Err)
	case len(result.Rows) == 0:
		return "", &sqlFailure{
			code: undefinedFunction, text: fmt.Sprintf("there is no procedure and no function %s that takes %d arguments", name.quoted('"'), args),
			hint: "create it, or correct its name, its schema or the args; an OUT parameter counts as an argument of a procedure: pass null for it",
		}
	case string(result.Rows[0][0]) == "p":
		return "CALL", nil
	}
	return "SELECT * FROM", nil
}

const undefinedFunction = "42883"
