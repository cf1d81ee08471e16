package main

import (
	"slices"
	"time"
)

// percentile returns the smallest of the times that the given percentage of them does not exceed.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
