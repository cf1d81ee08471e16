package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// column is one column of a table.
type column struct {
	head        string
	shrinks     bool // cut on a narrow terminal
	shrinksLast bool // cut only after all other measures; ids, which users copy, are never cut
	state       bool // coloured on a terminal
	optional    bool // left out if no row has a value
}

// columnMin is the width that a cut column keeps.
const columnMin = 8

// table holds the rows of the table format. Scripts use JSON.
type table struct {
	columns   []column
	rows      [][]string
	dropOrder []string // heads of columns to drop on a narrow terminal, the least important first
	none      string   // text for a table without rows; empty: the heads alone
}

// newTable creates a table with these column heads. The prefix "~" marks a column that may be cut, "^" one that is cut
// only after columns were dropped, "!" one with a state, and "?" one that is left out if no row has a value.
func newTable(heads ...string) *table {
	t := &table{}
	for _, head := range heads {
		c := column{head: head}
		c.head, c.shrinks = strings.CutPrefix(c.head, "~")
		c.head, c.shrinksLast = strings.CutPrefix(c.head, "^")
		c.head, c.state = strings.CutPrefix(c.head, "!")
		c.head, c.optional = strings.CutPrefix(c.head, "?")
		t.columns = append(t.columns, c)
	}
	return t
}

// mayDrop names the columns to drop on a narrow terminal, the least important first.
func (t *table) mayDrop(heads ...string) *table {
	t.dropOrder = heads
	return t
}

// orElse sets the text for a table without rows.
func (t *table) orElse(none string) *table {
	t.none = none
	return t
}

// add adds a row. Cells are sanitized, since they come from a server.
func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = sanitize(cell)
	}
	t.rows = append(t.rows, cells)
}

// printTable prints the rows aligned under their heads, within the width of the terminal. It prints no borders and no
// trailing spaces, so that copied text is clean.
func (a *app) printTable(w io.Writer, t *table) {
	if len(t.rows) == 0 && t.none != "" {
		fmt.Fprintln(w, t.none)
		return
	}
	t, widths := t.withoutEmpty().fit(a.width())
	var b strings.Builder
	for i, c := range t.columns {
		t.pad(&b, i, widths, cutText(c.head, widths[i]), false)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			t.pad(&b, i, widths, cutText(cell, widths[i]), a.useColour() && t.columns[i].state)
		}
	}
	_, _ = io.WriteString(w, trimLines(b.String()))
}

// pad writes one cell with its padding, and a line break after the last cell.
func (t *table) pad(b *strings.Builder, i int, widths []int, text string, coloured bool) {
	space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
	if coloured {
		text = paintState(text)
	}
	b.WriteString(text)
	if i == len(t.columns)-1 {
		b.WriteString(space + "\n")
		return
	}
	b.WriteString(space + "  ")
}

// fit fits a table to the width of the terminal: it cuts the "~" columns from the right, then drops columns in
// dropOrder, then cuts the "^" columns. Other columns keep their width, even if the table stays too wide.
func (t *table) fit(width int) (*table, []int) {
	widths := t.widths()
	if width == 0 {
		return t, widths
	}
	for _, head := range t.dropOrder {
		if t.shrink(widths, width, func(c column) bool { return c.shrinks }) {
			return t, widths
		}
		t = t.without(head)
		widths = t.widths()
	}
	if !t.shrink(widths, width, func(c column) bool { return c.shrinks }) {
		t.shrink(widths, width, func(c column) bool { return c.shrinksLast })
	}
	return t, widths
}

// widths returns the width that each column needs.
func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c.head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

// shrink cuts the columns that may accepts, from the right, and reports whether the table fits then.
func (t *table) shrink(widths []int, width int, may func(column) bool) bool {
	over := 2*(len(widths)-1) - width
	for _, w := range widths {
		over += w
	}
	for i, c := range slices.Backward(t.columns) {
		if over > 0 && may(c) {
			kept := max(widths[i]-over, min(widths[i], columnMin))
			over -= widths[i] - kept
			widths[i] = kept
		}
	}
	return over <= 0
}

// withoutEmpty returns the table without optional columns that have no value.
func (t *table) withoutEmpty() *table {
	order := t.dropOrder
	for i, c := range slices.Backward(t.columns) {
		if c.optional && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			t = t.without(c.head)
			order = slices.DeleteFunc(slices.Clone(order), func(head string) bool { return head == c.head })
		}
	}
	t.dropOrder = order
	return t
}

// without returns the table without one column.
func (t *table) without(head string) *table {
	at := slices.IndexFunc(t.columns, func(c column) bool { return c.head == head })
	less := &table{columns: slices.Delete(slices.Clone(t.columns), at, at+1)}
	for _, row := range t.rows {
		less.rows = append(less.rows, slices.Delete(slices.Clone(row), at, at+1))
	}
	return less
}

func cutText(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

func trimLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// keyValues is the description of one object: a label and a value on each line. Empty values are left out.
type keyValues struct{ labels, values []string }

func (s *keyValues) add(label, value string) {
	if value != "" {
		s.labels, s.values = append(s.labels, label), append(s.values, sanitize(value))
	}
}

// block adds a value that may have several lines.
func (s *keyValues) block(label, value string) {
	if value = sanitizeLines(value); value != "" {
		s.labels, s.values = append(s.labels, label), append(s.values, value)
	}
}

// printKeyValues aligns the values behind their labels. It never cuts a value.
func (a *app) printKeyValues(w io.Writer, s *keyValues) {
	width := 0
	for _, label := range s.labels {
		width = max(width, utf8.RuneCountInString(label))
	}
	var b strings.Builder
	for i, label := range s.labels {
		value := s.values[i]
		if (label == "state" || label == "status") && a.useColour() {
			value = paintState(value)
		}
		value = strings.ReplaceAll(value, "\n", "\n"+strings.Repeat(" ", width+2))
		b.WriteString(label + strings.Repeat(" ", width-utf8.RuneCountInString(label)+2) + value + "\n")
	}
	_, _ = io.WriteString(w, trimLines(b.String()))
}
