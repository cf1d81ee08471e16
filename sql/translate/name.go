package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/query"
)

// nameOf is PostgreSQL's name of an unnamed column of the answer.
func nameOf(e query.Expr) string {
	name, _ := columnName(e)
	if name == "" {
		return "?column?"
	}
	return name
}

// columnName returns a column name and its strength: 2 from the expression itself, 1 from a
// type.
func columnName(e query.Expr) (string, int) {
	switch e := e.(type) {
	case *query.Column:
		return e.Path[len(e.Path)-1].Text, 2
	case *query.Field:
		return e.Name.Text, 2
	case *query.Index:
		return columnName(e.X)
	case *query.Call:
		return e.Path[len(e.Path)-1].Text, 2
	case *query.Collate:
		return columnName(e.X)
	case *query.Cast:
		if name, good := columnName(e.X); good > 1 {
			return name, good
		}
		return typeName(e.Type), 1
	case *query.Case:
		if e.Else != nil {
			if name, good := columnName(e.Else); good > 1 {
				return name, good
			}
		}
		return "case", 1
	case *query.Array:
		return "array", 2
	case *query.Row:
		return "row", 2
	case *query.Exists:
		return "exists", 2
	case *query.Extract:
		return "extract", 2
	case *query.Zone:
		return "timezone", 2
	case *query.Scalar:
		return queryColumnName(e.Query.Body)
	}
	return "", 0
}

// queryColumnName is the name of the first column of a query.
func queryColumnName(body query.Body) (string, int) {
	switch body := body.(type) {
	case *query.Select:
		if len(body.Items) == 0 {
			return "", 0
		}
		if body.Items[0].Alias != nil {
			return body.Items[0].Alias.Text, 2
		}
		return columnName(body.Items[0].Expr)
	case *query.Compound:
		return queryColumnName(body.Left)
	case *query.Values:
		return "column1", 2
	case *query.Query:
		return queryColumnName(body.Body)
	}
	return "", 0
}

// typeNames maps other names of types to PostgreSQL's names.
var typeNames = map[string]string{
	"integer": "int4", "int": "int4", "bigint": "int8", "smallint": "int2", "double precision": "float8", "float": "float8", "real": "float4",
	"boolean": "bool", "character varying": "varchar", "char varying": "varchar", "character": "bpchar", "char": "bpchar", "decimal": "numeric", "dec": "numeric",
	"timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp", "time without time zone": "time",
}

func typeName(t *query.Type) string {
	if known, is := typeNames[t.Name]; is && !t.Quoted {
		return known
	}
	return strings.TrimSpace(t.Name)
}
