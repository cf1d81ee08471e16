package cron

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// This file refuses the syntax that only other cron implementations accept, mostly in the day fields. Each error names
// what to write instead, for users who migrate from them.

var (
	lastWeekday    = regexp.MustCompile(`^([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)L$`)
	nthWeekday     = regexp.MustCompile(`^([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)#([1-5])$`)
	lastDay        = regexp.MustCompile(`^L(?:-([0-9]{1,2}))?$`)
	nearestWeekday = regexp.MustCompile(`^([0-9]{0,2})W$`)
)

// refuseUnsupported returns the error for an item in the syntax of another cron implementation, or nil for other items.
func (f *field) refuseUnsupported(text string) *Error {
	item := strings.ToUpper(text)
	switch {
	case strings.Contains(item, "?"):
		return f.refuse(text, "is not supported", "", "write * for any value")
	case strings.ContainsAny(item, "[]{}"):
		return f.refuse(text, "is not a value", "", "write lists and ranges without brackets, such as 1,3-5")
	case f == &weekdayField:
		return f.refuseUnsupportedWeekday(text, item)
	case f == &dayField:
		return f.refuseUnsupportedDay(text, item)
	}
	return nil
}

func (f *field) refuseUnsupportedWeekday(text, item string) *Error {
	if m := lastWeekday.FindStringSubmatch(item); m != nil {
		return f.refuse(text, "is not supported: there is no syntax for the last weekday of a month", "",
			"write "+m[1]+" and let the job check that it is the last "+f.weekdayName(m[1])+" of the month")
	}
	if m := nthWeekday.FindStringSubmatch(item); m != nil {
		n, _ := strconv.Atoi(m[2])
		return f.refuse(text, "is not supported: there is no syntax for the n-th weekday of a month", "",
			"write "+m[1]+" and let the job check that the day of the month is "+bounds(7*n-6, min(7*n, 31)))
	}
	if strings.Contains(item, "#") {
		return f.refuse(text, "is not supported: there is no syntax for the n-th weekday of a month", "",
			"name the weekday and let the job check the date")
	}
	if item == "L" {
		return f.refuse(text, "is not supported: there is no syntax for the last day of a week", "", "name the weekday, such as SAT")
	}
	return nil
}

func (f *field) weekdayName(text string) string {
	n, err := f.value(text, text)
	if err != nil {
		return "one"
	}
	return time.Weekday(n % 7).String()
}

func (f *field) refuseUnsupportedDay(text, item string) *Error {
	if m := lastDay.FindStringSubmatch(item); m != nil {
		before, _ := strconv.Atoi(m[1])
		before = min(before, 27)
		remedy := "write " + bounds(28-before, 31-before) + " and let the job check the date"
		if before == 0 {
			remedy += ", or run on day 1 for the month before"
		}
		return f.refuse(text, "is not supported: there is no syntax for the last day of a month", "", remedy)
	}
	if item == "LW" || item == "WL" {
		return f.refuse(text, "is not supported: there is no syntax for the last weekday of a month", "",
			"write 26-31 and let the job check that it is the last weekday of the month")
	}
	if m := nearestWeekday.FindStringSubmatch(item); m != nil {
		return f.refuse(text, "is not supported: there is no syntax for the nearest weekday", "", nearestRemedy(m[1]))
	}
	return nil
}

// nearestRemedy names the days that can be the weekday nearest to a day: the Friday before a Saturday or the Monday after
// a Sunday, always in the same month.
func nearestRemedy(day string) string {
	n, err := strconv.Atoi(day)
	if err != nil || n < 1 || n > 31 {
		return "write the days it may fall on, such as 14-16, and let the job check the date"
	}
	low, high := n-1, min(n+1, 31)
	switch {
	case n == 1:
		low, high = 1, 3
	case n >= 28:
		low = n - 2
	}
	return "write " + bounds(low, high) + " and let the job check that it is the weekday nearest to day " + day
}
