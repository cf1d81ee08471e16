package cron

import (
	"strconv"
	"strings"
)

// Portable returns an equal expression that every cron implementation accepts: five fields, each a star or a list of
// numbers, without names, steps, @ names and H.
func (c Cron) Portable() string {
	return strings.Join([]string{
		portableField(c.minutes, span(0, 59, 1)), portableField(c.hours, allHours), portableField(c.days, allDays), portableField(c.months, allMonths), portableField(c.weekdays, allWeekdays),
	}, " ")
}

func portableField(values, all set) string {
	if values == all {
		return "*"
	}
	var numbers []string
	for n := values.from(0); n >= 0; n = values.from(n + 1) {
		numbers = append(numbers, strconv.Itoa(n))
	}
	return strings.Join(numbers, ",")
}
