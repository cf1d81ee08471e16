package translate

import (
	"math"

	"github.com/rotajobs/rota/sql/kind"
)

// aggregateFunctions compute the results of aggregates from collected arrays.
var aggregateFunctions = []Function{
	strict("rota_interval_sum", 2, intervalSum),
	strict("rota_interval_min", 1, func(a arguments) (any, error) { return intervalExtreme(a, -1) }),
	strict("rota_interval_max", 1, func(a arguments) (any, error) { return intervalExtreme(a, 1) }),
	strict("rota_bits", 2, bitsOf),
	strict("rota_statistic", 2, variance),
	strict("rota_paired", 2, regressionOf),
	withNulls("rota_percentile", 5, percentileOf),
	withNulls("rota_weigh", 1, func(arguments) (any, error) { return int64(1), nil }), // replaced by a caller that limits memory; see NativeFunctions
}

// nonNullElements are the elements of an array without NULL.
func nonNullElements(stored string) (list []any, err error) {
	all, err := decodeArray(stored)
	for _, e := range all {
		if e != nil {
			list = append(list, e)
		}
	}
	return list, err
}

// intervalSum is the sum or the average of intervals.
func intervalSum(a arguments) (any, error) {
	list, err := nonNullElements(a.text(0))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var sum interval
	for _, e := range list {
		i, err := loadInterval(asText(e))
		if err != nil {
			return nil, err
		}
		sum = sum.plus(i, 1)
	}
	if a.int(1) == 1 {
		sum = sum.times(1 / float64(len(list)))
	}
	return sum.stored(), nil
}

func intervalExtreme(a arguments, sign int64) (any, error) {
	list, err := nonNullElements(a.text(0))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var best interval
	for n, e := range list {
		i, err := loadInterval(asText(e))
		if err != nil {
			return nil, err
		}
		if n == 0 || sign*i.total() > sign*best.total() {
			best = i
		}
	}
	return best.stored(), nil
}

func bitsOf(a arguments) (any, error) {
	list, err := nonNullElements(a.text(1))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out := arguments(list).int(0)
	for i := range list[1:] {
		switch n := arguments(list).int(i + 1); a.text(0) {
		case "bit_and":
			out &= n
		case "bit_or":
			out |= n
		default:
			out ^= n
		}
	}
	return out, nil
}

// variance computes variance or standard deviation, of the population or of a sample.
func variance(a arguments) (any, error) {
	list, err := nonNullElements(a.text(1))
	if err != nil || len(list) == 0 {
		return nil, err
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
			return nil, nil
		}
	}
	if name == "stddev" || name == "stddev_samp" || name == "stddev_pop" {
		return math.Sqrt(squares / n), nil
	}
	return squares / n, nil
}

// regressionOf computes aggregates of pairs of numbers y and x.
func regressionOf(a arguments) (any, error) {
	all, err := decodeArray(a.text(1))
	if err != nil {
		return nil, err
	}
	n, mx, my, xx, yy, xy := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 // sums of squares about the means: of large numbers plain ones keep nothing
	for _, e := range all {
		pair, is := e.([]any)
		if !is || len(pair) != 2 || pair[0] == nil || pair[1] == nil {
			continue
		}
		y, x := realOf(pair[0]), realOf(pair[1])
		n++
		dx, dy := x-mx, y-my
		mx, my = mx+dx/n, my+dy/n
		xx, yy, xy = xx+dx*(x-mx), yy+dy*(y-my), xy+dx*(y-my)
	}
	if a.text(0) == "regr_count" {
		return int64(n), nil
	}
	if n == 0 {
		return nil, nil
	}
	switch a.text(0) {
	case "covar_pop":
		return xy / n, nil
	case "covar_samp":
		if n > 1 {
			return xy / (n - 1), nil
		}
	case "corr":
		if xx > 0 && yy > 0 {
			return xy / math.Sqrt(xx*yy), nil
		}
	case "regr_r2":
		switch {
		case xx > 0 && yy == 0:
			return 1.0, nil
		case xx > 0:
			return xy * xy / (xx * yy), nil
		}
	case "regr_slope":
		if xx > 0 {
			return xy / xx, nil
		}
	case "regr_intercept":
		if xx > 0 {
			return my - mx*xy/xx, nil
		}
	}
	return nil, nil
}

// percentileOf computes percentile_cont, percentile_disc or mode.
func percentileOf(a arguments) (any, error) {
	if a[1] == nil {
		return nil, nil
	}
	list, err := nonNullElements(a.text(1))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	k := a.kind(4)
	sortValues(list, k, a.int(3) == 1)
	if a.text(0) == "mode" {
		return scalarOf(mostFrequent(list)), nil
	}
	if a[2] == nil {
		return nil, nil
	}
	share := a.real(2)
	if share < 0 || share > 1 {
		return nil, valueError(StateRange, "percentile value %g is not between 0 and 1", share)
	}
	if a.text(0) == "percentile_disc" {
		at := int(math.Ceil(share*float64(len(list)))) - 1
		return scalarOf(list[max(at, 0)]), nil
	}
	at := share * float64(len(list)-1)
	low, high := list[int(math.Floor(at))], list[int(math.Ceil(at))]
	if k == kind.Interval {
		return interpolate(low, high, at-math.Floor(at))
	}
	x, y := realOf(low), realOf(high)
	return x + (y-x)*(at-math.Floor(at)), nil
}

func interpolate(low, high any, share float64) (any, error) {
	x, err := loadInterval(asText(low))
	if err != nil {
		return nil, err
	}
	y, err := loadInterval(asText(high))
	return x.plus(y.plus(x, -1).times(share), 1).stored(), err
}

func mostFrequent(list []any) any {
	best, most, run := list[0], 0, 0
	for i, e := range list {
		if i > 0 && equalElements(e, list[i-1]) {
			run++
		} else {
			run = 1
		}
		if run > most {
			best, most = e, run
		}
	}
	return best
}
