package cron

import (
	"math/bits"
	"strconv"
	"strings"
)

// set holds the values of one field, one bit each, so that each lookup of Next takes a few machine instructions.
type set uint64

func (s set) has(n int) bool { return s>>uint(n)&1 == 1 }

// from returns the smallest member that is at least n, or none.
func (s set) from(n int) int {
	if rest := s >> uint(n) << uint(n); rest != 0 {
		return bits.TrailingZeros64(uint64(rest))
	}
	return none
}

// upTo returns the largest member that is at most n, or none.
func (s set) upTo(n int) int {
	return bits.Len64(uint64(s&(1<<uint(n+1)-1))) - 1
}

func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }
func (s set) last() int  { return bits.Len64(uint64(s)) - 1 }
func (s set) size() int  { return bits.OnesCount64(uint64(s)) }

// none is the result of a search in a set that has no such member.
const none = -1

// span returns the set of every step-th value from low to high.
func span(low, high, step int) set {
	var s set
	for n := low; n <= high; n += step {
		s |= 1 << uint(n)
	}
	return s
}

// The sets of the unrestricted fields, in any spelling.
var (
	allHours    = span(0, 23, 1)
	allDays     = span(1, 31, 1)
	allMonths   = span(1, 12, 1)
	allWeekdays = span(0, 6, 1)
)

// field is the grammar of one of the five fields.
type field struct {
	name       string
	low        int
	high       int      // largest value of a star or a step
	writtenMax int      // largest value that may be written: 7 for day-of-week (Sunday), else high
	hashMax    int      // largest value that H takes
	names      []string // names of the values from low on, or nil
}

var (
	minuteField  = field{name: "minute", low: 0, high: 59, writtenMax: 59, hashMax: 59}
	hourField    = field{name: "hour", low: 0, high: 23, writtenMax: 23, hashMax: 23}
	dayField     = field{name: "day-of-month", low: 1, high: 31, writtenMax: 31, hashMax: 28}
	monthField   = field{name: "month", low: 1, high: 12, writtenMax: 12, hashMax: 12, names: monthNames}
	weekdayField = field{name: "day-of-week", low: 0, high: 6, writtenMax: sundaySeven, hashMax: 6, names: weekdayNames}
)

// sundaySeven is the second number of Sunday, which lets a range end with the week (5-7, FRI-SUN).
const sundaySeven = 7

var (
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	monthNames   = []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
	}
)

func (f *field) size() int { return f.high - f.low + 1 }

// allowed returns the allowed values, for error messages.
func (f *field) allowed() string {
	text := bounds(f.low, f.writtenMax)
	if f.names != nil {
		text += " or " + f.names[0] + "-" + f.names[len(f.names)-1]
	}
	return text
}

// value parses a number or a name inside an item. A number that overflows int is refused as out of range.
func (f *field) value(text, item string) (int, *Error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.low + i, nil
		}
	}
	if !isNumber(text) {
		return 0, f.refuseWord(text, item)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.low || n > f.writtenMax {
		return 0, f.refuse(item, "is out of range", "", "")
	}
	return n, nil
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// bounds formats a range in the syntax of an expression.
func bounds(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return strconv.Itoa(low) + "-" + strconv.Itoa(high)
}
