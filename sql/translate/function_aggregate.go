package translate

import (
	"math"
	"sort"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

// aggregateFunctions compute the results of aggregates from collected arrays.
var aggregateFunctions = []Function{
	strict("rota_interval_sum", 2, intervalSum),
	strict("rota_interval_min", 1, func(a arguments) any { return intervalExtreme(a, -1) }),
	strict("rota_interval_max", 1, func(a arguments) any { return intervalExtreme(a, 1) }),
	strict("rota_statistic", 2, variance),
	strict("rota_percentile", 5, percentileOf),
	withNulls("rota_weigh", 1, func(arguments) any { return int64(1) }), // replaced by a caller that limits memory
}

// nonNullElements are the elements of an array without NULL.
func nonNullElements(stored string) (list []any) {
	all := decodeArray(stored)
	for _, e := range all {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// intervalSum is the sum or the average of intervals.
func intervalSum(a arguments) any {
	list := nonNullElements(a.text(0))
	if len(list) == 0 {
		return nil
	}
	var sum interval
	for _, e := range list {
		sum = sum.plus(loadInterval(asText(e)), 1)
	}
	if a.int(1) == 1 {
		sum = sum.times(1 / float64(len(list)))
	}
	return sum.stored()
}

func intervalExtreme(a arguments, sign int64) any {
	list := nonNullElements(a.text(0))
	if len(list) == 0 {
		return nil
	}
	var best interval
	for n, e := range list {
		i := loadInterval(asText(e))
		if n == 0 || sign*i.total() > sign*best.total() {
			best = i
		}
	}
	return best.stored()
}

// variance computes variance or standard deviation, of the population or of a sample.
func variance(a arguments) any {
	list := nonNullElements(a.text(1))
	if len(list) == 0 {
		return nil
	}
	mean, squares := 0.0, 0.0
	for i, e := range list {
		x := realOf(e)
		delta := x - mean
		mean += delta / float64(i+1)
		squares += delta * (x - mean)
	}
	n := float64(len(list))
	name := a.text(0)
	if name != "var_pop" && name != "stddev_pop" {
		if n--; n == 0 {
			return nil
		}
	}
	if strings.HasPrefix(name, "stddev") {
		return math.Sqrt(squares / n)
	}
	return squares / n
}

// percentileOf computes percentile_cont or percentile_disc.
func percentileOf(a arguments) any {
	list := nonNullElements(a.text(1))
	if len(list) == 0 {
		return nil
	}
	k := a.kind(4)
	sortValues(list, k, a.int(3) == 1)
	share := a.real(2)
	if share < 0 || share > 1 {
		panic(valueError(StateRange, "percentile value %g is not between 0 and 1", share))
	}
	if a.text(0) == "disc" {
		at := int(math.Ceil(share*float64(len(list)))) - 1
		return scalarOf(list[max(at, 0)])
	}
	at := share * float64(len(list)-1)
	low, high := list[int(math.Floor(at))], list[int(math.Ceil(at))]
	if k == kind.Interval {
		return interpolate(low, high, at-math.Floor(at))
	}
	x, y := realOf(low), realOf(high)
	return x + (y-x)*(at-math.Floor(at))
}

func interpolate(low, high any, share float64) any {
	x, y := loadInterval(asText(low)), loadInterval(asText(high))
	return x.plus(y.plus(x, -1).times(share), 1).stored()
}

// sortValues sorts values of a kind.
func sortValues(list []any, k kind.Kind, descending bool) {
	less := func(x, y any) bool { return realOf(x) < realOf(y) }
	switch {
	case k == kind.Interval:
		total := func(v any) int64 { return loadInterval(asText(v)).total() }
		less = func(x, y any) bool { return total(x) < total(y) }
	case !k.Number():
		less = func(x, y any) bool { return asText(x) < asText(y) }
	}
	sort.SliceStable(list, func(i, j int) bool {
		if descending {
			return less(list[j], list[i])
		}
		return less(list[i], list[j])
	})
}
