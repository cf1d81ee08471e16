package crontab

import (
	"strconv"
	"strings"
)

// checkDays refuses a line whose day fields select other days in cron than in Rota; see Entry. It accepts invalid fields,
// because package cron refuses them later.
func (r *parser) checkDays(l line, day, weekday string) (ok bool) {
	days, read := parseSet(day, 1, 31, nil)
	weekdays, weekdaysRead := parseSet(weekday, 0, 7, weekdayNames)
	if !read || !weekdaysRead {
		return true
	}
	if weekdays&(1<<0|1<<7) != 0 { // both are Sunday
		weekdays |= 1<<0 | 1<<7
	}
	fullDays, fullWeekdays := days == span(1, 31), weekdays == span(0, 7)
	both := day + " … " + weekday
	switch star := day[0] == '*' || weekday[0] == '*'; {
	case star && !fullDays && !fullWeekdays:
		r.refuse(l.number, both, "means other days in Rota: because a day field begins with *, cron runs it on days that match both, Rota on days that match either",
			"write * for one of the two, and check the other in the command")
		return false
	case !star && fullDays != fullWeekdays:
		full, other := day, weekday
		if fullWeekdays {
			full, other = weekday, day
		}
		r.refuse(l.number, both, "means other days in Rota: cron runs it every day, because "+full+" is not written as *, Rota only on the days of "+other,
			"write * for both to run every day as cron does, or * for "+full+" to use only the other")
		return false
	}
	return true
}

func span(low, high int) uint64 { return 1<<(high+1) - 1<<low }

var weekdayNames = map[string]int{"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}

// parseSet returns the values of a field as bits.
func parseSet(field string, low, high int, names map[string]int) (set uint64, read bool) {
	for item := range strings.SplitSeq(field, ",") {
		bounds, step, stepped := strings.Cut(item, "/")
		every := 1
		if stepped {
			if every, read = parseValue(step, nil); !read || every < 1 {
				return 0, false
			}
		}
		from, to := low, high
		if bounds != "*" {
			first, last, ranged := strings.Cut(bounds, "-")
			if from, read = parseValue(first, names); !read {
				return 0, false
			}
			switch {
			case ranged:
				if to, read = parseValue(last, names); !read {
					return 0, false
				}
			case !stepped:
				to = from
			}
		}
		if from < low || to > high || from > to {
			return 0, false
		}
		for v := from; v <= to; v += every {
			set |= 1 << v
		}
	}
	return set, true
}

func parseValue(text string, names map[string]int) (int, bool) {
	if n, named := names[strings.ToLower(text)]; named {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < 1000
}
