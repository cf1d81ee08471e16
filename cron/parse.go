package cron

import (
	"strings"
	"time"
)

// TextMax limits the length of an expression in bytes. A list of all minutes of an hour takes 170.
const TextMax = 512

// Config is what an expression needs besides its text.
type Config struct {
	Zone string // IANA name of the zone in whose local time the fields are read; empty means UTC
	Name string // name of the schedule, from which H is computed; needed only if the expression has H
}

// Parse parses a five-field expression or one of the @ names. Every error is an *Error.
func Parse(text string, config Config) (Cron, error) {
	loc, err := LoadZone(config.Zone)
	if err != nil {
		return Cron{}, err
	}
	c, refusal := parse(text, config.Name)
	if refusal != nil {
		return Cron{}, refusal
	}
	c.loc = loc
	return c, nil
}

func parse(text, name string) (Cron, *Error) {
	text, err := cleanText(text)
	if err != nil {
		return Cron{}, err
	}
	fields, err := split(text)
	if err != nil {
		return Cron{}, err
	}
	c := Cron{text: text, loc: time.UTC}
	if err := c.fill(fields, name); err != nil {
		return Cron{}, err
	}
	return c, c.refuseNeverFiring(fields)
}

// whiteSpace is allowed around and between fields, because files and shells leave it there.
const whiteSpace = " \t\n\v\f\r"

// cleanText refuses text that is too long, not ASCII or empty, and reduces white space to single spaces.
func cleanText(text string) (string, *Error) {
	if len(text) > TextMax {
		return "", &Error{Field: "expression", Value: text, Reason: "is too long", Allowed: "up to " + countOf(TextMax, "byte")}
	}
	for _, r := range text {
		if (r < ' ' || r > '~') && !strings.ContainsRune(whiteSpace, r) {
			return "", &Error{
				Field: "expression", Value: text, Reason: "contains the character " + quoted(string(r)), Allowed: "printable ASCII",
			}
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "", &Error{Field: "expression", Value: text, Reason: "is empty", Allowed: fieldsAllowed}
	}
	return text, nil
}

// split returns the five fields of a cleaned text.
func split(text string) ([]string, *Error) {
	fields := strings.Split(text, " ")
	if first := strings.ToUpper(fields[0]); strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ=") {
		return nil, refuseZonePrefix(fields[0])
	}
	if text[0] == '@' {
		expansion, ok := macros[strings.ToLower(text)]
		if !ok {
			return nil, refuseMacro(text)
		}
		return strings.Split(expansion, " "), nil
	}
	if len(fields) != 5 {
		return nil, refuseCount(text, fields)
	}
	return fields, nil
}

func (c *Cron) fill(fields []string, name string) *Error {
	targets := [5]struct {
		field *field
		into  *set
	}{
		{&minuteField, &c.minutes},
		{&hourField, &c.hours},
		{&dayField, &c.days},
		{&monthField, &c.months},
		{&weekdayField, &c.weekdays},
	}
	for i, target := range targets {
		members, err := target.field.parse(fields[i], newSeed(name, target.field))
		if err != nil {
			return err
		}
		*target.into = members
	}
	c.week = repeatWeek(c.weekdays)
	return nil
}

// refuseNeverFiring refuses an expression that never fires, such as the 30th of February. A restricted weekday occurs in
// every month, so only the day of the month can be missing.
func (c *Cron) refuseNeverFiring(fields []string) *Error {
	if c.weekdays != allWeekdays {
		return nil
	}
	longest := 0
	for month := 1; month <= 12; month++ {
		if c.months.has(month) {
			longest = max(longest, monthLengthMax(month))
		}
	}
	if c.days.first() <= longest {
		return nil
	}
	whose, these := "month "+quoted(fields[3])+" has", "this month"
	if c.months.size() > 1 {
		whose, these = "months "+quoted(fields[3])+" have", "these months"
	}
	return dayField.refuse(fields[2], "never fires: "+whose+" no such day", bounds(dayField.low, longest)+" in "+these, "")
}
