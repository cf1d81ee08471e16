package catalog

import (
	"strconv"
	"strings"
	"sync"
)

// spec is one of PostgreSQL's own relations, from the files columns_*.
type spec struct {
	schema, name string
	oid          int64
	kind         string // r: a table; v: a view
	shared       bool   // shared by all databases
	columns      []specColumn
}

type specColumn struct {
	name, typ string
	must      bool // never NULL
	plain     bool // of a view: text with collation C, unlike other views
}

const (
	catalogSchema  = "pg_catalog"
	standardSchema = "information_schema"
)

// specs are all of PostgreSQL's own relations.
var specs = sync.OnceValue(func() (all []*spec) {
	for _, text := range []string{coreColumns, serverColumns, viewColumns, countColumns} {
		all = append(all, readSpecs(catalogSchema, text)...)
	}
	for _, text := range []string{standardColumns, standardColumnsMore} {
		all = append(all, readSpecs(standardSchema, text)...)
	}
	return all
})

// readSpecs parses relations: a line with name, OID and kind, and indented lines with columns.
// An exclamation mark means NOT NULL, a tilde means collation C.
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

// parseNumber parses a number of the static data. An error is a bug in this package.
func parseNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("pgcatalog: " + err.Error())
	}
	return n
}

// splitLines splits the lines of a text into fields.
func splitLines(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, fields)
		}
	}
	return all
}
