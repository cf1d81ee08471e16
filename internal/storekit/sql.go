package storekit

import (
	"strconv"
	"strings"
)

// The statements of this package have PostgreSQL's placeholders, $1 and so on.

func insertSQL[T any](table string, columns []*Column[T]) string {
	places := make([]string, len(columns))
	for i := range places {
		places[i] = place(i)
	}
	return "\nINSERT INTO " + table + " (" + strings.Join(columnNames(columns), ", ") + ")\nVALUES (" + strings.Join(places, ", ") + ")"
}

func onConflict[T any](keys, changed []*Column[T]) string {
	conflict := "\nON CONFLICT (" + strings.Join(columnNames(keys), ", ") + ") DO "
	if len(changed) == 0 {
		return conflict + "NOTHING"
	}
	set := columnNames(changed)
	for i, name := range set {
		set[i] = name + " = excluded." + name
	}
	return conflict + "UPDATE\nSET " + strings.Join(set, ", ")
}

func updateSQL[T any](table string, keys, changed []*Column[T]) string {
	set := columnNames(changed)
	for i, name := range set {
		set[i] = name + " = " + place(len(keys)+i)
	}
	return "\nUPDATE " + table + "\nSET " + strings.Join(set, ", ") + whereKey(keys)
}

func whereKey[T any](keys []*Column[T]) string {
	conditions := columnNames(keys)
	for i, name := range conditions {
		conditions[i] = name + " = " + place(i)
	}
	return "\nWHERE " + strings.Join(conditions, " AND ")
}

func columnNames[T any](columns []*Column[T]) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return names
}

// place returns the placeholder of the parameter with an index.
func place(i int) string { return "$" + strconv.Itoa(i+1) }
