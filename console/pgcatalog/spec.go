package pgcatalog

import (
	"strconv"
	"strings"
	"sync"
)

// spec is a relation of PostgreSQL's own, as the files columns_* have it.
type spec struct {
	schema, name string
	oid          int64
	kind         string // r: a table; v: a view
	shared       bool   // of all databases
	columns      []specColumn
}

type specColumn struct {
	name, typ string
	must      bool // never NULL
	plain     bool // of a view: texts that are ordered by no language, unlike those of other views
}

const (
	catalogSchema  = "pg_catalog"
	standardSchema = "information_schema"
)

// specs are all relations of PostgreSQL's own.
var specs = sync.OnceValue(func() (all []*spec) {
	for _, text := range []string{coreColumns, serverColumns, viewColumns, countColumns} {
		all = append(all, readSpecs(catalogSchema, text)...)
	}
	for _, text := range []string{standardColumns, standardColumnsMore} {
		all = append(all, readSpecs(standardSchema, text)...)
	}
	return all
})

// readSpecs reads relations: a line of its name, number and kind, and indented lines
// of its columns. One that is never NULL has an exclamation mark, one that is plain a
// tilde.
func readSpecs(schema, text string) (all []*spec) {
	for line := range strings.Lines(strings.TrimLeft(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if columns, more := strings.CutPrefix(line, "\t"); more {
			s := all[len(all)-1]
			s.columns = append(s.columns, readColumns(columns)...)
			continue
		}
		fields := strings.Fields(line)
		all = append(all, &spec{schema: schema, name: fields[0], oid: parseNumber(fields[1]), kind: fields[2], shared: len(fields) > 3})
	}
	return all
}

func readColumns(text string) (all []specColumn) {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, typ, _ := strings.Cut(one, " ")
		typ, must := strings.CutSuffix(typ, "!")
		typ, plain := strings.CutSuffix(typ, "~")
		all = append(all, specColumn{name, typ, must, plain})
	}
	return all
}

// parseNumber reads a number of the facts. What is none is a mistake in this package.
func parseNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("pgcatalog: " + err.Error())
	}
	return n
}

// splitLines are the lines of a text, each split at blanks.
func splitLines(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, fields)
		}
	}
	return all
}
