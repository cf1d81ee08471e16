package httpapi

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

// NewSQLResult converts the result of one statement.
func NewSQLResult(a *session.Answer) api.SQLResult {
	v := api.SQLResult{Columns: []api.SQLColumn{}, Rows: make([][]api.SQLValue, len(a.Rows)), Tag: a.Tag, Notices: append([]string{}, a.Notices...)}
	for i, c := range a.Columns {
		kind := string(c.Kind)
		if kind == "" {
			kind = columnKind(a.Rows, i)
		}
		v.Columns = append(v.Columns, api.SQLColumn{Name: c.Name, Type: kind})
	}
	for i, row := range a.Rows {
		v.Rows[i] = make([]api.SQLValue, len(row))
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
func sqlValue(value any) api.SQLValue {
	switch v := value.(type) {
	case nil:
		return api.SQLValue("null")
	case bool:
		return api.SQLValue(strconv.FormatBool(v))
	case int64:
		return api.SQLValue(strconv.FormatInt(v, 10))
	case float64:
		if math.IsInf(v, 0) { // JSON has no infinity
			return api.SQLText(map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0])
		}
		return api.SQLValue(strconv.FormatFloat(v, 'g', -1, 64))
	case []byte:
		return api.SQLText(`\x` + hex.EncodeToString(v))
	}
	return api.SQLText(fmt.Sprint(value))
}
