package main

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// column is one column of a table.
type column struct {
	head        string
	shrinks     bool // may be cut where the terminal is narrow; what is typed into the next command never is
	shrinksLast bool // may be cut, too, if nothing else helps
	state       bool // coloured on a terminal
}

// columnMin is what a column that is cut still shows.
const columnMin = 8

// table is rows for people. Scripts take JSON.
type table struct {
	columns   []column
	rows      [][]string
	dropOrder []string // heads of what is left out where it does not fit, the least important first
}

// newTable names the columns. A head with a "~" before it may be cut, one with a "^" only if nothing else helps, one with
// a "!" is a state.
func newTable(heads ...string) *table {
	t := &table{}
	for _, head := range heads {
		c := column{head: head}
		c.head, c.shrinks = strings.CutPrefix(c.head, "~")
		c.head, c.shrinksLast = strings.CutPrefix(c.head, "^")
		c.head, c.state = strings.CutPrefix(c.head, "!")
		t.columns = append(t.columns, c)
	}
	return t
}

// mayDrop names the columns that a narrow terminal does without, the least important first.
func (t *table) mayDrop(heads ...string) *table {
	t.dropOrder = heads
	return t
}

// add adds a row. What comes from a server is shown as text, whatever it holds.
func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = sanitize(cell)
	}
	t.rows = append(t.rows, cells)
}

// printTable aligns rows under their heads, as wide as the terminal is, without borders and without spaces at the end of
// a line, so that what people copy and scripts cut is the text alone.
func (a *app) printTable(w io.Writer, t *table) error {
	t, widths := t.fit(a.width())
	var b strings.Builder
	for i, c := range t.columns {
		t.pad(&b, i, widths, cutText(c.head, widths[i]), false)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			t.pad(&b, i, widths, cutText(cell, widths[i]), a.useColour() && t.columns[i].state)
		}
	}
	_, err := io.WriteString(w, trimLines(b.String()))
	return err
}

// pad writes one cell, and the end of its line after the last.
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

// fit makes a table as narrow as the terminal: the wide columns give way, the last one first, then those that can be
// spared are left out, then names are cut. What must stay copyable stays whole, whatever the width.
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

// widths is how wide each column wants to be.
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

// shrink takes from the columns that may be cut, and reports whether that was enough.
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

// without is the table with one column less.
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

// keyValues is the facts of one thing, a line each, or a block of lines under the first. Facts that are empty are left out.
type keyValues struct{ labels, values []string }

func (s *keyValues) add(label, value string) {
	if value != "" {
		s.labels, s.values = append(s.labels, label), append(s.values, sanitize(value))
	}
}

// block adds a fact that may take more than one line.
func (s *keyValues) block(label, value string) {
	if value = sanitizeLines(value); value != "" {
		s.labels, s.values = append(s.labels, label), append(s.values, value)
	}
}

// printKeyValues aligns the facts behind their labels. It cuts nothing: whoever asks for one thing wants all of it.
func (a *app) printKeyValues(w io.Writer, s *keyValues) error {
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
	_, err := io.WriteString(w, trimLines(b.String()))
	return err
}
