package httpapi

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/console/sys"
)

// SQLRequest is one statement of SQL, or several.
type SQLRequest struct {
	Statement string     `json:"statement" minLength:"1" doc:"One statement, or several with semicolons between them: they are then done together or not at all. At most 1 MiB."`
	Args      []SQLValue `json:"args,omitempty" doc:"What stands for $1, $2 … in a query, which is then the only statement. Each a text, a number, true, false or null."`
}

// SQLAnswer is what statements gave: the last of them, and each if there were several.
type SQLAnswer struct {
	SQLResult
	Results []SQLResult `json:"results,omitempty" doc:"What each statement gave, if there were several."`
}

// SQLResult is what one statement gave.
type SQLResult struct {
	Columns []SQLColumn  `json:"columns" nullable:"false" doc:"None if the statement answers with no rows."`
	Rows    [][]SQLValue `json:"rows" nullable:"false" doc:"In each a value for each column. What is bytea is a text: \\x and hexadecimal digits."`
	Tag     string       `json:"tag" doc:"What was done." example:"SELECT 3"`
	Notices []string     `json:"notices" nullable:"false" doc:"What is good to know, and no error."`
}

// SQLColumn is one column of an answer.
type SQLColumn struct {
	Name string `json:"name" doc:"What it is called." example:"job_name"`
	Type string `json:"type" doc:"What PostgreSQL calls what it holds." example:"text"`
}

// NewSQLResult shows what one statement gave.
func NewSQLResult(a *console.Answer) SQLResult {
	v := SQLResult{Columns: []SQLColumn{}, Rows: make([][]SQLValue, len(a.Rows)), Tag: a.Tag, Notices: append([]string{}, a.Notices...)}
	for i, c := range a.Columns {
		kind := string(c.Kind)
		if kind == "" {
			kind = columnKind(a.Rows, i)
		}
		v.Columns = append(v.Columns, SQLColumn{Name: c.Name, Type: kind})
	}
	for i, row := range a.Rows {
		v.Rows[i] = make([]SQLValue, len(row))
		for j, value := range row {
			v.Rows[i][j] = sqlValue(value)
		}
	}
	return v
}

// kindBytes is what no column of the catalogue holds and an expression may.
const kindBytes = "bytea"

// columnKind tells what a column holds by its values: what is nothing else is text.
func columnKind(rows [][]any, column int) string {
	kind := ""
	for _, row := range rows {
		one := ""
		switch row[column].(type) {
		case nil:
			continue
		case int64:
			one = string(sys.Integer)
		case float64:
			one = string(sys.Float)
		case bool:
			one = string(sys.Boolean)
		case []byte:
			one = kindBytes
		default:
			one = string(sys.Text)
		}
		switch {
		case kind == "" || kind == one:
			kind = one
		case kind == string(sys.Integer) && one == string(sys.Float) || kind == string(sys.Float) && one == string(sys.Integer):
			kind = string(sys.Float)
		default:
			return string(sys.Text)
		}
	}
	if kind == "" {
		return string(sys.Text)
	}
	return kind
}

// sqlValue is a value as JSON has it.
func sqlValue(value any) SQLValue {
	switch v := value.(type) {
	case nil:
		return SQLValue("null")
	case bool:
		return SQLValue(strconv.FormatBool(v))
	case int64:
		return SQLValue(strconv.FormatInt(v, 10))
	case float64:
		if math.IsInf(v, 0) { // a number of PostgreSQL, not of JSON
			return quoted(map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0])
		}
		return SQLValue(strconv.FormatFloat(v, 'g', -1, 64))
	case []byte:
		return quoted(`\x` + hex.EncodeToString(v))
	}
	return quoted(fmt.Sprint(value))
}
