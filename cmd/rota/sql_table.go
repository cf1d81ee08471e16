package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota/api"
)

// expandedMode sets when a row is printed as lines.
type expandedMode string

const (
	expandedOff  expandedMode = "off"
	expandedOn   expandedMode = "on"
	expandedAuto expandedMode = "auto" // if the table is wider than the terminal
)

// sqlPrinter runs statements and prints their results.
type sqlPrinter struct {
	*app
	timing       bool
	expanded     expandedMode
	lastWasTable bool // the last output was a table
}

// writeAll prints the result of each statement of a request.
func (s *sqlPrinter) writeAll(v api.SQLAnswer) error {
	all := v.Results
	if len(all) == 0 {
		all = []api.SQLResult{v.SQLResult}
	}
	for _, one := range all {
		if err := s.write(one); err != nil {
			return err
		}
	}
	return nil
}

// write prints the result of one statement: its rows or its command tag.
func (s *sqlPrinter) write(v api.SQLResult) error {
	for _, notice := range v.Notices {
		fmt.Fprintf(s.err, "NOTICE:  %s\n", sanitize(notice))
	}
	var b strings.Builder
	if s.lastWasTable {
		b.WriteString("\n")
	}
	s.lastWasTable = len(v.Columns) > 0
	switch {
	case s.lastWasTable:
		s.writeRows(&b, newGrid(v))
	case v.Tag != "":
		b.WriteString(sanitize(v.Tag) + "\n")
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}

// writeRows prints rows as a table or expanded, and their number.
func (s *sqlPrinter) writeRows(b *strings.Builder, g *grid) {
	g.colour = s.useColour()
	width := s.width()
	if s.expanded == expandedOn || s.expanded == expandedAuto && width > 0 && g.width() > width && len(g.rows) > 0 {
		g.writeExpanded(b)
	} else {
		g.writeTable(b)
	}
	fmt.Fprintf(b, "(%s)\n", plural(len(g.rows), "row", "rows"))
}

// grid is a result as text. A cell may have several lines.
type grid struct {
	heads  []string
	right  []bool // numbers are aligned to the right
	states []bool // coloured on a terminal
	rows   [][][]string
	widths []int
	colour bool
}

func newGrid(v api.SQLResult) *grid {
	g := &grid{}
	for _, c := range v.Columns {
		head := sanitize(c.Name)
		g.heads = append(g.heads, head)
		g.right = append(g.right, numeric[c.Type])
		g.states = append(g.states, c.Name == "state")
		g.widths = append(g.widths, utf8.RuneCountInString(head))
	}
	for _, row := range v.Rows {
		cells := make([][]string, len(g.heads))
		for i := range cells {
			if i < len(row) {
				cells[i] = strings.Split(cellText(row[i]), "\n")
			}
			for _, line := range cells[i] {
				g.widths[i] = max(g.widths[i], utf8.RuneCountInString(line))
			}
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// cellText formats a value; null is the empty text.
func cellText(v api.SQLValue) string {
	switch {
	case len(v) == 0 || string(v) == "null":
		return ""
	case v[0] != '"':
		return string(v)
	}
	var text string
	_ = json.Unmarshal(v, &text) // the answer was valid JSON
	return sanitizeLines(text)
}

// width is the width of the table.
func (g *grid) width() int {
	total := 0
	for _, w := range g.widths {
		total += w + 3
	}
	return total - 1
}

func (g *grid) writeTable(b *strings.Builder) {
	var t strings.Builder
	for i, head := range g.heads {
		g.separate(&t, i, " ", "| ")
		space := g.widths[i] - utf8.RuneCountInString(head)
		t.WriteString(strings.Repeat(" ", space/2) + head + strings.Repeat(" ", space-space/2+1))
	}
	t.WriteString("\n")
	for i, w := range g.widths {
		g.separate(&t, i, "", "+")
		t.WriteString(strings.Repeat("-", w+2))
	}
	t.WriteString("\n")
	for _, row := range g.rows {
		g.writeRow(&t, row)
	}
	b.WriteString(trimLines(t.String()))
}

// separate writes the separator before a cell.
func (g *grid) separate(b *strings.Builder, column int, first, others string) {
	if column == 0 {
		b.WriteString(first)
	} else {
		b.WriteString(others)
	}
}

// writeRow prints a row with as many lines as its longest cell. A plus marks a cell that continues on the next line,
// except in a single row, whose text users copy.
func (g *grid) writeRow(b *strings.Builder, row [][]string) {
	height := 1
	for _, cell := range row {
		height = max(height, len(cell))
	}
	for line := range height {
		for i, cell := range row {
			g.separate(b, i, " ", "| ")
			text, more := "", " "
			if line < len(cell) {
				text = cell[line]
			}
			if line+1 < len(cell) && len(g.rows) > 1 {
				more = "+"
			}
			space := strings.Repeat(" ", g.widths[i]-utf8.RuneCountInString(text))
			if g.right[i] {
				text = space + text
			} else {
				text = g.paint(i, text) + space
			}
			b.WriteString(text + more)
		}
		b.WriteString("\n")
	}
}

func (g *grid) paint(column int, text string) string {
	if g.colour && g.states[column] {
		return paintState(text)
	}
	return text
}

// writeExpanded prints each row as lines, with one column on each.
func (g *grid) writeExpanded(b *strings.Builder) {
	width := 0
	for _, head := range g.heads {
		width = max(width, utf8.RuneCountInString(head))
	}
	var t strings.Builder
	for n, row := range g.rows {
		head := fmt.Sprintf("-[ RECORD %d ]", n+1)
		t.WriteString(head + strings.Repeat("-", max(0, width+2-len(head))) + "\n")
		for i, cell := range row {
			for line, text := range cell {
				label := ""
				if line == 0 {
					label = g.heads[i]
				}
				t.WriteString(label + strings.Repeat(" ", width-utf8.RuneCountInString(label)) + " | " + g.paint(i, text) + "\n")
			}
		}
	}
	b.WriteString(trimLines(t.String()))
}

// numeric has the types that are aligned to the right.
var numeric = map[string]bool{
	"bigint": true, "integer": true, "smallint": true, "double precision": true, "real": true, "numeric": true, "oid": true,
}
