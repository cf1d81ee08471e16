package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// crontabView is the output as JSON and YAML.
type crontabView struct {
	File     string           `json:"file"`
	Source   string           `json:"source"`
	Form     string           `json:"form"` // user or system
	Guessed  string           `json:"guessed,omitempty"`
	Timezone string           `json:"timezone"` // time zone of lines without CRON_TZ
	Applied  bool             `json:"applied"`
	Lines    []crontabLine    `json:"lines"`
	Refused  []crontabRefusal `json:"refused"`
	Removed  []crontabRemoved `json:"removed"`
	Notes    []crontabNote    `json:"notes"`
}

func (m *crontabImport) view() crontabView {
	return crontabView{
		File: m.file, Source: m.source, Form: string(m.read.Form), Guessed: m.read.Why, Timezone: m.zone.name, Applied: m.applied,
		Lines: append([]crontabLine{}, m.lines...), Refused: append([]crontabRefusal{}, m.refused...), Removed: append([]crontabRemoved{}, m.removed...),
		Notes: append([]crontabNote{}, m.notes...),
	}
}

func (m *crontabImport) print(w io.Writer) {
	guessed := ""
	if m.read.Why != "" {
		guessed = ", because " + m.read.Why + "; override with --user or --system"
	}
	fmt.Fprintf(w, "%s is read as a %s crontab%s.\n", m.file, m.read.Form, guessed)
	fmt.Fprintf(w, "Time zone: %s, %s.\n\n", m.zone.name, m.zone.from)
	if len(m.lines) > 0 {
		t := newTable("LINE", "NAME", "~WHEN", "NEXT", "^ZONE", "BECOMES").mayDrop("ZONE", "NEXT")
		for _, l := range m.lines {
			t.add(fmt.Sprint(l.Line), l.Name, l.Describe, nextText(l.Next), l.Timezone, m.changeText(&l))
		}
		m.a.printTable(w, t)
		fmt.Fprintln(w)
	}
	for _, r := range m.refused {
		fmt.Fprintf(w, "%s\n", sanitize(linePrefix(r.Line)+"refused: "+strings.TrimSpace(r.Found+" "+r.Reason)+remedySuffix(r.Remedy)))
	}
	for _, r := range m.removed {
		fmt.Fprintf(w, "%s\n", sanitize(m.removedText(&r)))
	}
	for _, n := range m.notes {
		fmt.Fprintf(w, "%s\n", sanitize(linePrefix(n.Line)+n.Note))
	}
	if len(m.refused)+len(m.removed)+len(m.notes) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, m.summaryText())
}

func linePrefix(line int) string {
	if line == 0 {
		return "all: "
	}
	return fmt.Sprintf("line %d: ", line)
}

func remedySuffix(remedy string) string {
	if remedy == "" {
		return ""
	}
	return "; " + remedy
}

// nextText formats a time with its offset for the table.
func nextText(next string) string {
	at, err := time.Parse(time.RFC3339, next)
	if err != nil {
		return "-"
	}
	return at.Format("2006-01-02 15:04 -07:00")
}

// changeText describes the change of a line for the table.
func (m *crontabImport) changeText(l *crontabLine) string {
	held := ""
	if l.State == "PAUSED" || l.State == "DISABLED" {
		held = ", " + strings.ToLower(l.State)
	}
	switch l.Change {
	case "created":
		return "new " + l.Type + held
	case "changed":
		return "changed: " + strings.Join(l.Fields, ", ") + held
	case "unchanged":
		return "unchanged" + held
	}
	return l.Type + held
}

// summaryText is the last sentence of the report.
func (m *crontabImport) summaryText() string {
	all := plural(len(m.lines)+len(m.refused), "line", "lines")
	if m.offline != nil {
		return fmt.Sprintf("%s, %d refused. Dry run; the lines were not compared with the server: %s.", all, len(m.refused), m.offline)
	}
	counts := map[string]int{}
	for _, l := range m.lines {
		counts[l.Change]++
	}
	text := fmt.Sprintf("%s: %d new, %d changed, %d unchanged, %d refused.", all, counts["created"], counts["changed"], counts["unchanged"], len(m.refused))
	if len(m.removed) > 0 {
		text = strings.TrimSuffix(text, ".") + fmt.Sprintf(", %d removed.", len(m.removed))
	}
	switch {
	case len(m.lines)+len(m.refused)+len(m.removed) == 0:
		return "The crontab has no commands."
	case m.apply && !m.applied:
		return text + " Nothing was written."
	case !m.applied:
		return text + " Dry run: add --apply to create the schedules."
	case counts["created"]+counts["changed"] == 0 && len(m.removed) > 0 && m.prune:
		return text + " The removed schedules are disabled."
	case counts["created"]+counts["changed"] == 0:
		return text + " Nothing to do."
	}
	return text + " The schedules are stored" + m.twiceText()
}

// twiceText names the lines whose commands cron and Rota both run now, and those that Rota runs as soon as a worker does.
func (m *crontabImport) twiceText() string {
	var now, later []string
	var waiting []string // types that nothing runs
	for _, l := range m.lines {
		switch {
		case l.State != string(rota.ScheduleEnabled):
		case m.runs(l.Type):
			now = append(now, strconv.Itoa(l.Line))
		default:
			later = append(later, strconv.Itoa(l.Line))
			waiting = append(waiting, l.Type)
		}
	}
	text := "."
	if len(now) > 0 {
		text = fmt.Sprintf(": remove %s from the crontab, or the commands run twice.", linesText(now))
	}
	if len(later) > 0 {
		slices.Sort(waiting)
		text += fmt.Sprintf(" This server does not run jobs of type %s: the jobs of %s wait for a server or worker that does.", strings.Join(slices.Compact(waiting), ", "), linesText(later))
	}
	return text
}

// linesText is "line 3" or "lines 3, 5".
func linesText(numbers []string) string {
	if len(numbers) == 1 {
		return "line " + numbers[0]
	}
	return "lines " + strings.Join(numbers, ", ")
}
