package cron

import (
	"strconv"
	"strings"
)

// This file refuses invalid ranges.

// refuseDashes returns the error for an item with misplaced dashes: a negative number, a missing end, two dashes.
func (f *field) refuseDashes(text, low, high string, ranged bool) *Error {
	switch {
	case !ranged:
		return nil
	case low == "" && isNumber(high):
		return f.refuse(text, "is negative", "", "")
	case low == "" && !strings.Contains(high, "-"):
		return f.refuse(text, "is not a value", "", "")
	case low == "*" && isNumber(high):
		return f.refuse(text, "is not a range", f.rangeAllowed(), "write "+strconv.Itoa(f.low)+"-"+high)
	case isNumber(low) && high == "*":
		return f.refuse(text, "is not a range", f.rangeAllowed(), "write "+low+"-"+strconv.Itoa(f.high))
	case low == "" || high == "" || strings.Contains(high, "-"):
		return f.refuse(text, "is not a range", f.rangeAllowed(), "")
	}
	return nil
}

func (f *field) rangeAllowed() string { return "a-b within " + f.allowed() }

// refuseDescending refuses a descending range. The remedy writes the intended values as two ranges, in numbers or names
// as the user wrote them, or as a list if the range has a step.
func (f *field) refuseDescending(it *item, numbers bool) *Error {
	name := strconv.Itoa
	if !numbers {
		name = func(n int) string { return f.names[(n-f.low)%f.size()] }
	}
	remedy := "write " + f.splitAtFieldEnd(it.low, it.high, it.step, name)
	if strings.HasPrefix(strings.ToUpper(it.text), "H") {
		remedy = "H takes values from one range: write " + formatHashRange(it.low, f.high, name) + " or " + formatHashRange(f.low, it.high, name)
	}
	return f.refuse(it.text, "runs backwards", f.allowed()+", low to high", remedy)
}

func (f *field) splitAtFieldEnd(low, high, step int, name func(int) string) string {
	if step > 1 {
		var words []string
		for n := low; n <= high+f.size(); n += step {
			words = append(words, name(f.low+(n-f.low)%f.size()))
		}
		return strings.Join(words, ",")
	}
	if f.writtenMax != sundaySeven {
		return formatRange(low, f.high, name) + "," + formatRange(f.low, high, name)
	}
	switch { // a range of weekdays may end on Sunday, so the second range begins on Monday
	case low == sundaySeven:
		return formatRange(0, high, name)
	case high == 0:
		return formatRange(low, sundaySeven, name)
	}
	return formatRange(low, sundaySeven, name) + "," + formatRange(1, high, name)
}

func formatRange(low, high int, name func(int) string) string {
	if low == high {
		return name(low)
	}
	return name(low) + "-" + name(high)
}

func formatHashRange(low, high int, name func(int) string) string {
	if low == high {
		return name(low)
	}
	return "H(" + formatRange(low, high, name) + ")"
}
