package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota/httpapi"
)

// expandedMode says when a row is written as lines.
type expandedMode string

const (
	expandedOff  expandedMode = "off"
	expandedOn   expandedMode = "on"
	expandedAuto expandedMode = "auto" // where a row is wider than the terminal
)

// sqlPrinter runs statements and prints what they give.
type sqlPrinter struct {
	*app
	timing       bool
	expanded     expandedMode
	lastWasTable bool // the last thing that was written is a table
}

// writeAll writes what each statement of a request gave.
func (s *sqlPrinter) writeAll(v httpapi.SQLAnswer) error {
	all := v.Results
	if len(all) == 0 {
		all = []httpapi.SQLResult{v.SQLResult}
	}
	for _, one := range all {
		if err := s.write(one); err != nil {
			return err
		}
	}
	return nil
}

// write writes what one statement gave: its rows, or what was done.
func (s *sqlPrinter) write(v httpapi.SQLResult) error {
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

// writeRows writes rows one way or the other, and how many they are.
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

// grid is rows as text. A cell may have several lines.
type grid struct {
	heads  []string
	right  []bool // numbers stand to the right
	states []bool // coloured on a terminal
	rows   [][][]string
	widths []int
	colour bool
}

func newGrid(v httpapi.SQLResult) *grid {
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

// cellText is a value as people read it: null is nothing.
func cellText(v httpapi.SQLValue) string {
	switch {
	case len(v) == 0 || string(v) == "null":
		return ""
	case v[0] != '"':
		return string(v)
	}
	var text string
	_ = json.Unmarshal(v, &text) // the whole answer was read
	return sanitizeLines(text)
}

// width is how wide the table is.
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

// separate writes what stands before a cell.
func (g *grid) separate(b *strings.Builder, column int, first, others string) {
	if column == 0 {
		b.WriteString(first)
	} else {
		b.WriteString(others)
	}
}

// writeRow writes as many lines as the highest cell has. A plus behind a line says that the cell goes on in the next, but
// for an only row, whose text people copy.
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

// writeExpanded writes each row as lines, a column on each.
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

// numeric are the types whose values stand on the right.
var numeric = map[string]bool{
	"bigint": true, "integer": true, "smallint": true, "double precision": true, "real": true, "numeric": true, "oid": true,
}
