package cron

import (
	"strconv"
	"strings"
)

// Plain returns the expression as any other cron reads it: five fields, each a
// star or a list of numbers. Names, steps, shorthands and H are worked out.
func (c Cron) Plain() string {
	return strings.Join([]string{
		plain(c.minutes, span(0, 59, 1)), plain(c.hours, allHours), plain(c.days, allDays), plain(c.months, allMonths), plain(c.weekdays, allWeekdays),
	}, " ")
}

func plain(values, all set) string {
	if values == all {
		return "*"
	}
	var numbers []string
	for n := values.from(0); n >= 0; n = values.from(n + 1) {
		numbers = append(numbers, strconv.Itoa(n))
	}
	return strings.Join(numbers, ",")
}
