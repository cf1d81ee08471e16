package translate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// arrayFunctions are the functions of arrays, which are stored as JSON.
var arrayFunctions = []Function{
	withNulls("rota_zip", -1, zip),
	withNulls("rota_array_cat", 2, arrayCat),
	strict("rota_element", 3, element),
	strict("rota_array_length", 2, arrayLength),
	withNulls("rota_array_text", 3, arrayText),
	strict("rota_array_truths", 1, func(a arguments) any {
		list := a.array(0)
		for i, e := range list {
			if e != nil {
				list[i] = map[bool]string{true: "t", false: "f"}[realOf(e) != 0]
			}
		}
		return encode(list)
	}),
	withNulls("rota_array_remove", 2, func(a arguments) any {
		if a[0] == nil {
			return nil
		}
		list := a.array(0)
		return encode(slices.DeleteFunc(list, func(e any) bool { return equalElements(e, a[1]) }))
	}),
	withNulls("rota_array_position", 2, func(a arguments) any {
		if a[0] == nil {
			return nil
		}
		list := a.array(0)
		for i, e := range list {
			if equalElements(e, a[1]) {
				return int64(i + 1)
			}
		}
		return nil
	}),
	strict("rota_array_contains", 2, func(a arguments) any {
		x, y := twoArrays(a)
		return boolean(holdsAll(x, y))
	}),
	strict("rota_array_overlap", 2, func(a arguments) any {
		x, y := twoArrays(a)
		return boolean(holdsAny(x, y))
	}),
	withNulls("rota_string_to_array", 2, stringToArray),
	strict("rota_series", 3, numberSeries),
	strict("rota_subscripts", 2, func(a arguments) any {
		list := a.array(0)
		out := make([]any, len(list))
		for i := range list {
			out[i] = int64(i) + a.int(1)
		}
		return encode(out)
	}),
	strict("rota_expand", 1, func(a arguments) any {
		list := a.array(0)
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = &object{keys: []string{"x", "n"}, values: map[string]any{"x": e, "n": int64(i + 1)}}
		}
		return encode(out)
	}),
}

// zip combines arrays element by element.
func zip(a arguments) any {
	lists := make([][]any, len(a))
	most := 0
	for i := range a {
		if a[i] == nil {
			continue
		}
		list := a.array(i)
		lists[i] = list
		most = max(most, len(list))
	}
	rows := make([]any, most)
	for r := range rows {
		row := make([]any, len(lists))
		for i, list := range lists {
			if r < len(list) {
				row[i] = list[r]
			}
		}
		rows[r] = row
	}
	return checkLength(encode(rows))
}

func arrayCat(a arguments) any {
	switch {
	case a[0] == nil:
		return a[1]
	case a[1] == nil:
		return a[0]
	}
	x, y := twoArrays(a)
	return checkLength(encode(append(append([]any{}, x...), y...)))
}

func twoArrays(a arguments) (x, y []any) {
	x = a.array(0)
	y = a.array(1)
	return x, y
}

// element returns an element; the lower bound is an argument.
func element(a arguments) any {
	list := a.array(0)
	i := a.int(1) - a.int(2)
	if i < 0 || i >= int64(len(list)) {
		return nil
	}
	return scalarOf(list[i])
}

// arrayLength is the length of an array, which has one dimension; NULL if it is empty.
func arrayLength(a arguments) any {
	list := a.array(0)
	if len(list) == 0 || a.int(1) != 1 {
		return nil
	}
	return int64(len(list))
}

func arrayText(a arguments) any {
	if a[0] == nil || a[1] == nil {
		return nil
	}
	list := a.array(0)
	var words []string
	for _, e := range list {
		switch {
		case e != nil:
			words = append(words, asText(scalarOf(e)))
		case a[2] != nil:
			words = append(words, a.text(2))
		}
	}
	return checkLength(strings.Join(words, a.text(1)))
}

// equalElements reports whether two elements are equal.
func equalElements(x, y any) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	return elementKey(x) == elementKey(y)
}

// elementKey returns a text that is equal for equal elements. Integers keep all their digits:
// above 2^53 floating-point numbers cannot distinguish them.
func elementKey(v any) string {
	f, real := scalarOf(v).(float64)
	if !real {
		return asText(scalarOf(v))
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// elementSet are the elements of an array without NULL.
func elementSet(list []any) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, e := range list {
		if e != nil {
			set[elementKey(e)] = true
		}
	}
	return set
}

// holdsAny reports whether two arrays have a common element.
func holdsAny(list, any []any) bool {
	set := elementSet(list)
	for _, e := range any {
		if e != nil && set[elementKey(e)] {
			return true
		}
	}
	return false
}

// holdsAll reports whether an array contains all elements of another.
func holdsAll(list, all []any) bool {
	set := elementSet(list)
	for _, e := range all {
		if e == nil || !set[elementKey(e)] {
			return false
		}
	}
	return true
}

func stringToArray(a arguments) any {
	if a[0] == nil {
		return nil
	}
	var parts []string
	if a[1] == nil && utf8.RuneCountInString(a.text(0)) > documentValuesMax || a[1] != nil && a.text(1) != "" && strings.Count(a.text(0), a.text(1)) > documentValuesMax {
		panic(valueError(StateLimit, "an array has more than %d elements", documentValuesMax))
	}
	switch {
	case a.text(0) == "":
	case a[1] == nil:
		parts = strings.Split(a.text(0), "")
	case a.text(1) == "":
		parts = []string{a.text(0)}
	default:
		parts = strings.Split(a.text(0), a.text(1))
	}
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	return checkLength(encode(list))
}

func numberSeries(a arguments) any {
	from, to, step := a.real(0), a.real(1), a.real(2)
	if step == 0 {
		panic(valueError(StateValue, "step size cannot equal zero"))
	}
	if math.Floor((to-from)/step) >= seriesMax {
		panic(valueError(StateLimit, "generate_series returns at most %d values", seriesMax).WithHint("use a recursive common table expression"))
	}
	x, wholeFrom := a[0].(int64)
	y, wholeTo := a[1].(int64)
	z, wholeStep := a[2].(int64)
	if wholeFrom && wholeTo && wholeStep {
		return wholeSeries(x, y, z)
	}
	list := []any{}
	for n := int64(0); n <= seriesMax; n++ {
		next := from + float64(n)*step
		if step > 0 && next > to || step < 0 && next < to {
			break
		}
		v := decimal(next, 12, true)
		list = append(list, v)
	}
	return encode(list)
}

// wholeSeries is a series of integers; it ends before an overflow.
func wholeSeries(from, to, step int64) string {
	list := []any{}
	for n := from; (step > 0) == (n <= to) || n == to; {
		list = append(list, n)
		next := n + step
		if (step > 0) != (next > n) {
			break
		}
		n = next
	}
	return encode(list)
}
