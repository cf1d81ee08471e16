package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// report collects rows, and prints them when all runs are done.
type report struct {
	config config
	disk   disk
	rows   []*row
	noises map[string][]noise // by case, one per run
	bars   []bar
	texts  []text
}

// row is one subject of one case, with one value per run.
type row struct {
	caseName, subject, metric, unit string
	values                          []float64
}

// text is printed after the table: statements, plans and explanations.
type text struct{ title, body string }

func newReport(config config, disk disk) *report {
	return &report{config: config, disk: disk, noises: map[string][]noise{}}
}

// add adds the result of one run.
func (r *report) add(caseName, subject, metric string, value float64, unit string) {
	one := r.row(caseName, subject)
	if one == nil {
		one = &row{caseName: caseName, subject: subject, metric: metric, unit: unit}
		r.rows = append(r.rows, one)
	}
	one.values = append(one.values, value)
}

func (r *report) row(caseName, subject string) *row {
	i := slices.IndexFunc(r.rows, func(o *row) bool { return o.caseName == caseName && o.subject == subject })
	if i < 0 {
		return nil
	}
	return r.rows[i]
}

// The suffixes of cases that measure something other than speed.
const (
	processorTail = "/processor"
	writtenTail   = "/written"
)

// addUsage reports the jobs per second of a subject, and its processor time and written bytes per job.
func (r *report) addUsage(caseName, subject string, jobs int, took usage) {
	r.add(caseName, subject, "throughput", float64(jobs)/took.wall.Seconds(), "jobs/s")
	r.add(caseName+processorTail, subject, "processor time", took.processor.Seconds()*1e6/float64(jobs), "µs/job")
	r.add(caseName+writtenTail, subject, "bytes written", float64(took.written)/float64(jobs), "bytes/job")
}

func (r *report) addNoise(caseName string, n noise) {
	r.noises[caseName] = append(r.noises[caseName], n)
}

// explain adds a text, unless there is one with the same title.
func (r *report) explain(title, body string) {
	if !slices.ContainsFunc(r.texts, func(t text) bool { return t.title == title }) {
		r.texts = append(r.texts, text{title, strings.TrimSpace(body)})
	}
}

func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "\n%d interleaved runs on %s, every commit synced; medians\n", r.config.runs, r.disk.kind)
	if r.disk.memory {
		fmt.Fprintln(out, "WARNING: these files were in memory. Nothing was synced, and no figure below means anything.")
	}
	if r.config.scale != 1 {
		fmt.Fprintf(out, "WARNING: the scale is %g. The bars are for scale 1.\n", r.config.scale)
	}
	r.printRows(out)
	r.printBars(out)
	for _, t := range r.texts {
		fmt.Fprintf(out, "\n%s\n\n  %s\n", t.title, strings.ReplaceAll(t.body, "\n", "\n  "))
	}
}

func (r *report) printRows(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\ncase\tsubject\tmedian\tlowest – highest\tunit\tmetric\tfsync ms\tsteal %\tother %")
	previous := ""
	for _, o := range r.byCase() {
		name, noise := "", "\t\t"
		if o.caseName != previous {
			name, noise = o.caseName, r.noiseCells(o.caseName)
		}
		previous = o.caseName
		fmt.Fprintf(table, "%s\t%s\t%s\t%s – %s\t%s\t%s\t%s\n", name, o.subject, number(median(o.values)),
			number(slices.Min(o.values)), number(slices.Max(o.values)), o.unit, o.metric, noise)
	}
	_ = table.Flush()
}

// byCase returns the rows grouped by case, with cases and subjects in the order in which they were added.
func (r *report) byCase() (rows []*row) {
	for _, first := range r.rows {
		if slices.Contains(rows, first) {
			continue
		}
		for _, o := range r.rows {
			if o.caseName == first.caseName {
				rows = append(rows, o)
			}
		}
	}
	return rows
}

// noiseCells returns the noise of each run of a case, as cells of the table.
func (r *report) noiseCells(caseName string) string {
	all := r.noises[caseName]
	return join(all, func(n noise) string { return fmt.Sprintf("%.2f", n.fsync.Seconds()*1e3) }) + "\t" +
		join(all, func(n noise) string { return fmt.Sprintf("%.0f", n.steal) }) + "\t" +
		join(all, func(n noise) string { return fmt.Sprintf("%.0f", n.other) })
}

func join(all []noise, format func(noise) string) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = format(n)
	}
	return strings.Join(texts, " ")
}

// jsonRow is the JSON form of a row.
type jsonRow struct {
	Case    string  `json:"case"`
	Subject string  `json:"subject"`
	Metric  string  `json:"metric"`
	Value   float64 `json:"value"` // the median
	Unit    string  `json:"unit"`
	Runs    int     `json:"runs"`
}

func (r *report) writeJSON(path string) error {
	rows := make([]jsonRow, 0, len(r.rows))
	for _, o := range r.byCase() {
		rows = append(rows, jsonRow{o.caseName, o.subject, o.metric, median(o.values), o.unit, len(o.values)})
	}
	doc, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(doc, '\n'), 0o666)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// number formats a figure with three significant digits.
func number(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}
