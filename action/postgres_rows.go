package action

import (
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// read reads the whole result of a statement and keeps its first rows.
func (r *postgresRun) read(result *pgconn.ResultReader) error {
	var shown *Rows
	fields := result.FieldDescriptions()
	for result.NextRow() {
		if shown == nil {
			fields = result.FieldDescriptions()
			shown = newRows(columnsOf(fields))
		}
		if shown.full() {
			shown.Truncated = true
			continue
		}
		row := make([]any, len(fields))
		for i, text := range result.Values() {
			row[i] = postgresValue(fields[i].DataTypeOID, text)
		}
		shown.add(row)
	}
	if fields = result.FieldDescriptions(); shown == nil && len(fields) > 0 {
		shown = newRows(columnsOf(fields))
	}
	tag, err := result.Close()
	if err != nil {
		return err
	}
	if shown != nil {
		r.result.rows = shown
	}
	if tag.Insert() || tag.Update() || tag.Delete() || isMergeOrCopy(tag.String()) {
		r.result.affected += tag.RowsAffected()
	}
	r.result.statements++
	return nil
}

func isMergeOrCopy(tag string) bool {
	return len(tag) > 5 && (tag[:5] == "MERGE" || tag[:5] == "COPY ")
}

func columnsOf(fields []pgconn.FieldDescription) []string {
	columns := make([]string, len(fields))
	for i, field := range fields {
		columns[i] = validText([]byte(field.Name))
	}
	return columns
}

// postgresValue converts a value from the server's text by its type.
func postgresValue(oid uint32, text []byte) any {
	if text == nil {
		return nil
	}
	switch oid {
	case pgtype.BoolOID:
		return string(text) == "t"
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID, pgtype.OIDOID:
		return number(string(text))
	case pgtype.TimestamptzOID:
		return zonedTime(string(text))
	case pgtype.TimestampOID:
		return localTime(string(text))
	}
	return validText(text)
}
