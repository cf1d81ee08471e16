package cron

import (
	"strconv"
	"strings"
)

// item is one member of a field's list: a star, a value, a range or a spread, with or without a step.
type item struct {
	text string // as written, for errors
	low  int
	high int
	step int
	open bool // no upper end was written, so a step runs to the end of the field
}

// parse reads a whole field. The seed decides where H falls.
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
	if f.top == sundayAgain && all.has(sundayAgain) {
		all = all&^(1<<sundayAgain) | 1
	}
	return all, nil
}

func (f *field) parseItem(text string, seed seed) (set, *Error) {
	if err := f.refuseForeign(text); err != nil {
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
		return f.parseSpread(it, base, stepped, seed)
	}
	if base == "" {
		return 0, f.refuse(text, "has nothing before the slash", "", "write *"+text)
	}
	if err := f.parseRange(&it, base); err != nil {
		return 0, err
	}
	return f.members(it, stepped)
}

// parseStep refuses what robs a step of its sense: nothing, zero, and more than the field holds. That is the one rule
// for steps, wherever they stand; one that is smaller may still leave a single value.
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

// parseRange reads "*", "a" or "a-b" into the item.
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
		it.high, it.open = it.low, true
		return nil
	}
	if it.high, err = f.value(high, it.text); err != nil {
		return err
	}
	if f.top == sundayAgain && strings.EqualFold(high, weekdayNames[0]) && it.low > 0 {
		it.high = sundayAgain
	}
	if it.low > it.high {
		return f.refuseDescending(it, isNumber(low) || isNumber(high))
	}
	return nil
}

// members turns an item into its values; "a/n" runs from a to the end of the field.
func (f *field) members(it item, stepped bool) (set, *Error) {
	if !stepped || !it.open {
		return span(it.low, it.high, it.step), nil
	}
	if it.low > f.high {
		return 0, f.refuse(it.text, "starts its steps at the end of the week", bounds(f.low, f.high)+" before a step",
			"write 0/"+strconv.Itoa(it.step))
	}
	return span(it.low, f.high, it.step), nil
}
