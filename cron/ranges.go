package cron

import (
	"strconv"
	"strings"
)

// This file refuses what has the dashes and the ends of a range and is none.

// refuseDashes explains an item with wrong dashes: a negative number, a missing end, two dashes.
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

// refuseDescending shows how to write what was meant: the two ends of the field that the range runs over, in numbers or
// in names as it was written, or value by value if it has a step.
func (f *field) refuseDescending(it *item, numbers bool) *Error {
	name := strconv.Itoa
	if !numbers {
		name = func(n int) string { return f.names[(n-f.low)%f.size()] }
	}
	remedy := "write " + f.aroundTheEnd(it.low, it.high, it.step, name)
	if strings.HasPrefix(strings.ToUpper(it.text), "H") {
		remedy = "H chooses from one range: write " + spread(it.low, f.high, name) + " or " + spread(f.low, it.high, name)
	}
	return f.refuse(it.text, "runs backwards", f.allowed()+", low to high", remedy)
}

func (f *field) aroundTheEnd(low, high, step int, name func(int) string) string {
	if step > 1 {
		var words []string
		for n := low; n <= high+f.size(); n += step {
			words = append(words, name(f.low+(n-f.low)%f.size()))
		}
		return strings.Join(words, ",")
	}
	if f.top != sundayAgain {
		return ends(low, f.high, name) + "," + ends(f.low, high, name)
	}
	switch { // a week may end on Sunday, so that only what comes after it is cut off
	case low == sundayAgain:
		return ends(0, high, name)
	case high == 0:
		return ends(low, sundayAgain, name)
	}
	return ends(low, sundayAgain, name) + "," + ends(1, high, name)
}

func ends(low, high int, name func(int) string) string {
	if low == high {
		return name(low)
	}
	return name(low) + "-" + name(high)
}

func spread(low, high int, name func(int) string) string {
	if low == high {
		return name(low)
	}
	return "H(" + ends(low, high, name) + ")"
}
