package action

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// statement executes one statement, reads all of its result sets, and keeps the first
// rows of the last one.
func (r *mariaRun) statement(ctx context.Context, text string, args ...any) error {
	rows, err := r.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	shown, err := readMaria(rows)
	if last := rows.Close(); err == nil {
		err = last
	}
	if err != nil {
		return err
	}
	r.result.statements++
	if shown != nil {
		r.result.rows = shown
	}
	if shown != nil && r.w.call == nil {
		if s := (&scanner{kind: dialectMaria, text: text}); changes(s) {
			r.result.affected += shown.seen // with RETURNING it returns each changed row
		}
		return nil // FOUND_ROWS() stays valid for the next statement
	}
	var affected int64
	err = r.conn.QueryRowContext(ctx, "SELECT ROW_COUNT()").Scan(&affected)
	r.result.affected += max(0, affected) // -1: the statement returns rows
	return err
}

// changes reports whether a statement changes rows.
func changes(s *scanner) bool {
	t := s.next()
	return t.kind == tokenWord && slices.Contains([]string{"INSERT", "REPLACE", "UPDATE", "DELETE"}, strings.ToUpper(s.text[t.start:s.at]))
}

func readMaria(rows *sql.Rows) (shown *Rows, err error) {
	for {
		kinds, err := rows.ColumnTypes()
		if err != nil {
			return nil, err
		}
		if len(kinds) > 0 {
			if shown, err = readSet(rows, kinds); err != nil {
				return nil, err
			}
		}
		if !rows.NextResultSet() {
			return shown, rows.Err()
		}
	}
}

func readSet(rows *sql.Rows, kinds []*sql.ColumnType) (*Rows, error) {
	columns, values, into := make([]string, len(kinds)), make([]sql.RawBytes, len(kinds)), make([]any, len(kinds))
	for i, kind := range kinds {
		columns[i], into[i] = validText([]byte(kind.Name())), &values[i]
	}
	shown := newRows(columns)
	for rows.Next() {
		shown.seen++
		if shown.full() {
			shown.Truncated = true
			continue
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]any, len(kinds))
		for i, value := range values {
			row[i] = mariaValue(kinds[i].DatabaseTypeName(), value)
		}
		shown.add(row)
	}
	return shown, rows.Err()
}

// mariaValue converts a value from the server's text by its type.
func mariaValue(kind string, text []byte) any {
	if text == nil {
		return nil
	}
	switch kind = strings.TrimPrefix(kind, "UNSIGNED "); kind {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "FLOAT", "DOUBLE", "DECIMAL":
		return number(string(text))
	case "BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BIT", "GEOMETRY":
		return bytesValue(text)
	case "DATETIME", "TIMESTAMP":
		return localTime(string(text))
	}
	return validText(text)
}
