package cron

import (
	"math/bits"
	"strconv"
	"strings"
)

// set holds the values of one field, one bit each. Every question Next asks of a field is one machine instruction.
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

// none is what a search in a set answers when there is no such member.
const none = -1

// span returns the members from low to high, every step-th of them.
func span(low, high, step int) set {
	var s set
	for n := low; n <= high; n += step {
		s |= 1 << uint(n)
	}
	return s
}

// The values that leave a field unrestricted, however they were written.
var (
	allHours    = span(0, 23, 1)
	allDays     = span(1, 31, 1)
	allMonths   = span(1, 12, 1)
	allWeekdays = span(0, 6, 1)
)

// field is the grammar of one of the five fields.
type field struct {
	name   string
	low    int
	high   int      // the largest value a step or a star reaches
	top    int      // the largest value that may be written: 7 for a Sunday, else the same as high
	spread int      // the largest value that H may choose
	names  []string // what the values from low on are called, if they have names
}

var (
	minuteField  = field{name: "minute", low: 0, high: 59, top: 59, spread: 59}
	hourField    = field{name: "hour", low: 0, high: 23, top: 23, spread: 23}
	dayField     = field{name: "day-of-month", low: 1, high: 31, top: 31, spread: 28}
	monthField   = field{name: "month", low: 1, high: 12, top: 12, spread: 12, names: monthNames}
	weekdayField = field{name: "day-of-week", low: 0, high: 6, top: sundayAgain, spread: 6, names: weekdayNames}
)

// sundayAgain is the second number of Sunday, which lets a range end with the week (5-7, FRI-SUN).
const sundayAgain = 7

var (
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	monthNames   = []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
	}
)

func (f *field) size() int { return f.high - f.low + 1 }

// allowed is the second half of most error messages.
func (f *field) allowed() string {
	text := bounds(f.low, f.top)
	if f.names != nil {
		text += " or " + f.names[0] + "-" + f.names[len(f.names)-1]
	}
	return text
}

// value reads a number or a name that stands in an item. A number too large to be anything is out of range like any
// other.
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
	if err != nil || n < f.low || n > f.top {
		return 0, f.refuse(item, "is out of range", "", "")
	}
	return n, nil
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// bounds writes a range the way the user would.
func bounds(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return strconv.Itoa(low) + "-" + strconv.Itoa(high)
}
