package main

import (
	"slices"
	"time"
)

// percentile is the time that so many of a hundred did not exceed: one of the
// times, never one in between.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
