package httpapi

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

// SQLRequest is one or several SQL statements.
type SQLRequest struct {
	Statement string     `json:"statement" minLength:"1" doc:"One statement, or several separated by semicolons, which run as one transaction. At most 1 MiB."`
	Args      []SQLValue `json:"args,omitempty" doc:"Values for $1, $2 … of a query; the request may then contain only one statement. Each value is a string, a number, true, false or null."`
}

// SQLAnswer is the result of the last statement, and of each if there are several.
type SQLAnswer struct {
	SQLResult
	Results []SQLResult `json:"results,omitempty" doc:"Result of each statement, if there are several."`
}

// SQLResult is the result of one statement.
type SQLResult struct {
	Columns []SQLColumn  `json:"columns" nullable:"false" doc:"Columns; empty if the statement returns no rows."`
	Rows    [][]SQLValue `json:"rows" nullable:"false" doc:"Rows, with one value per column. A bytea value is a string: \\x and hexadecimal digits."`
	Tag     string       `json:"tag" doc:"Command tag." example:"SELECT 3"`
	Notices []string     `json:"notices" nullable:"false" doc:"Notices that are not errors."`
}

// SQLColumn is one column of a result.
type SQLColumn struct {
	Name string `json:"name" doc:"Name of the column." example:"job_name"`
	Type string `json:"type" doc:"PostgreSQL type of the column." example:"text"`
}

// NewSQLResult converts the result of one statement.
func NewSQLResult(a *session.Answer) SQLResult {
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

// kindBytes is the type of byte strings. No column of the catalog has it, but an expression may.
const kindBytes = "bytea"

// columnKind derives the type of a column from its values; the default is text.
func columnKind(rows [][]any, column int) string {
	kind := ""
	for _, row := range rows {
		one := ""
		switch row[column].(type) {
		case nil:
			continue
		case int64:
			one = string(system.Integer)
		case float64:
			one = string(system.Float)
		case bool:
			one = string(system.Boolean)
		case []byte:
			one = kindBytes
		default:
			one = string(system.Text)
		}
		switch {
		case kind == "" || kind == one:
			kind = one
		case kind == string(system.Integer) && one == string(system.Float) || kind == string(system.Float) && one == string(system.Integer):
			kind = string(system.Float)
		default:
			return string(system.Text)
		}
	}
	if kind == "" {
		return string(system.Text)
	}
	return kind
}

// sqlValue encodes a value as JSON.
func sqlValue(value any) SQLValue {
	switch v := value.(type) {
	case nil:
		return SQLValue("null")
	case bool:
		return SQLValue(strconv.FormatBool(v))
	case int64:
		return SQLValue(strconv.FormatInt(v, 10))
	case float64:
		if math.IsInf(v, 0) { // JSON has no infinity
			return quoted(map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0])
		}
		return SQLValue(strconv.FormatFloat(v, 'g', -1, 64))
	case []byte:
		return quoted(`\x` + hex.EncodeToString(v))
	}
	return quoted(fmt.Sprint(value))
}
