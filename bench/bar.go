package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// bar is the limit for a figure: for the ratio of a subject to another, or for the value of a subject.
type bar struct {
	caseName, subject string
	against           string  // another subject of the case; empty if the bar applies to the value itself
	least, most       float64 // limit; one of them is 0
	goal              bool    // not a promise: a miss is reported but not enforced
}

// value returns the median over the runs of the figure that the bar limits. A ratio is computed within each run, so
// that both sides were measured under the same noise.
func (b bar) value(r *report) (float64, bool) {
	of := r.row(b.caseName, b.subject)
	if of == nil {
		return 0, false
	}
	if b.against == "" {
		return median(of.values), true
	}
	to := r.row(b.caseName, b.against)
	if to == nil || len(to.values) != len(of.values) {
		return 0, false
	}
	ratios := make([]float64, len(of.values))
	for i := range ratios {
		ratios[i] = of.values[i] / to.values[i]
	}
	return median(ratios), true
}

func (b bar) met(value float64) bool {
	return !math.IsNaN(value) && (b.least == 0 || value >= b.least) && (b.most == 0 || value <= b.most)
}

func (b bar) verdict(value float64) string {
	switch {
	case b.least == 0 && b.most == 0:
		return ""
	case b.met(value):
		return "ok"
	case b.goal:
		return "missed (aim)"
	}
	return "MISSED"
}

func (b bar) limit() string {
	switch {
	case b.least != 0:
		return "≥ " + number(b.least)
	case b.most != 0:
		return "≤ " + number(b.most)
	}
	return "–"
}

func (r *report) printBars(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\ncase\tbar\tis\twanted\tverdict")
	for _, b := range r.bars {
		about := b.subject
		if b.against != "" {
			about += " ÷ " + b.against
		}
		value, known := b.value(r)
		if !known {
			fmt.Fprintf(table, "%s\t%s\t–\t%s\tnot measured\n", b.caseName, about, b.limit())
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", b.caseName, about, number(value), b.limit(), b.verdict(value))
	}
	_ = table.Flush()
}

// missed reports whether a promised bar was missed or not measured.
func (r *report) missed() bool {
	for _, b := range r.bars {
		if value, known := b.value(r); !known || !b.goal && !b.met(value) {
			return true
		}
	}
	return false
}
