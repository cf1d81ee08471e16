package cron

import (
	"strconv"
	"strings"
)

// item is one element of a field's list: a star, a value, a range or an H, with or without a step.
type item struct {
	text       string // as written, for errors
	low        int
	high       int
	step       int
	noUpperEnd bool // no upper end was written, so a step runs to the end of the field
}

// parse parses a whole field. The seed determines the values of H.
func (f *field) parse(text string, seed seed) (set, *Error) {
	var all set
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			return 0, f.refuse(text, "has an empty list item", "", "put a value on each side of every comma")
		}
		members, err := f.parseItem(part, seed)
		if err != nil {
			return 0, err
		}
		all |= members
	}
	if f.writtenMax == sundaySeven && all.has(sundaySeven) {
		all = all&^(1<<sundaySeven) | 1
	}
	return all, nil
}

func (f *field) parseItem(text string, seed seed) (set, *Error) {
	if err := f.refuseUnsupported(text); err != nil {
		return 0, err
	}
	base, step, stepped := strings.Cut(text, "/")
	it := item{text: text, step: 1}
	if stepped {
		var err *Error
		if it.step, err = f.parseStep(text, step); err != nil {
			return 0, err
		}
	}
	if strings.HasPrefix(base, "H") || strings.HasPrefix(base, "h") {
		return f.parseHash(it, base, stepped, seed)
	}
	if base == "" {
		return 0, f.refuse(text, "has nothing before the slash", "", "write *"+text)
	}
	if err := f.parseRange(&it, base); err != nil {
		return 0, err
	}
	return f.members(it, stepped)
}

// parseStep parses the step of an item. It refuses a missing number, zero, and a step larger than the number of values of
// the field. The rule is the same for every kind of item. An allowed step may still leave a single value.
func (f *field) parseStep(text, step string) (int, *Error) {
	allowed := "steps " + bounds(1, f.size())
	if !isNumber(step) {
		return 0, f.refuse(text, "has no number after the slash", allowed, "")
	}
	n, err := strconv.Atoi(step)
	if err == nil && n == 0 {
		return 0, f.refuse(text, "has a step of 0", allowed, "")
	}
	if err != nil || n > f.size() {
		return 0, f.refuse(text, "has a step larger than the field", allowed, "for an interval that crosses hours or days use EVERY")
	}
	return n, nil
}

// parseRange parses "*", "a" or "a-b" into the item.
func (f *field) parseRange(it *item, base string) (err *Error) {
	if base == "*" {
		it.low, it.high = f.low, f.high
		return nil
	}
	low, high, ranged := strings.Cut(base, "-")
	if err := f.refuseDashes(it.text, low, high, ranged); err != nil {
		return err
	}
	if it.low, err = f.value(low, it.text); err != nil {
		return err
	}
	if !ranged {
		it.high, it.noUpperEnd = it.low, true
		return nil
	}
	if it.high, err = f.value(high, it.text); err != nil {
		return err
	}
	if f.writtenMax == sundaySeven && strings.EqualFold(high, weekdayNames[0]) && it.low > 0 {
		it.high = sundaySeven
	}
	if it.low > it.high {
		return f.refuseDescending(it, isNumber(low) || isNumber(high))
	}
	return nil
}

// members returns the values of an item; "a/n" runs from a to the end of the field.
func (f *field) members(it item, stepped bool) (set, *Error) {
	if !stepped || !it.noUpperEnd {
		return span(it.low, it.high, it.step), nil
	}
	if it.low > f.high {
		return 0, f.refuse(it.text, "starts its steps at the end of the week", bounds(f.low, f.high)+" before a step",
			"write 0/"+strconv.Itoa(it.step))
	}
	return span(it.low, f.high, it.step), nil
}
