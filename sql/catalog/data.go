package catalog

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The data files hold PostgreSQL's built-in objects. A test writes them from a PostgreSQL server:

//go:generate go test -run TestDataEqualsPostgres . -update

//go:embed data
var dataFiles embed.FS

// dataTable is a data file: a line with the names of the columns, and a line for each row. The
// fields of a line are separated by tabs.
type dataTable struct {
	columns []string
	rows    []dataRow
}

// dataRow is a row of a data file.
type dataRow struct {
	columns, fields []string
}

// readData reads data/NAME.tsv. It panics if the file is broken, because the file is a part of
// the program.
func readData(name string) *dataTable {
	text := readFile(name + ".tsv")
	t := &dataTable{rows: make([]dataRow, 0, strings.Count(text, "\n"))}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if t.columns == nil {
			t.columns = fields
			continue
		}
		if len(fields) != len(t.columns) {
			panic(fmt.Sprintf("catalog: data/%s.tsv, row %d: %d fields, want %d", name, len(t.rows)+1, len(fields), len(t.columns)))
		}
		t.rows = append(t.rows, dataRow{t.columns, fields})
	}
	return t
}

func readFile(name string) string {
	text, err := dataFiles.ReadFile("data/" + name)
	if err != nil {
		panic("catalog: " + err.Error())
	}
	return string(text)
}

// text returns a field by the name of its column.
func (r dataRow) text(column string) string {
	at := slices.Index(r.columns, column)
	if at < 0 {
		panic("catalog: no column " + column + " in a data file")
	}
	return r.fields[at]
}

func (r dataRow) number(column string) int64 { return parseNumber(r.text(column)) }

func (r dataRow) bool(column string) bool { return r.text(column) == "t" }

// parseNumber parses a number of a data file.
func parseNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("catalog: " + err.Error())
	}
	return n
}
