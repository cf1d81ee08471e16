package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// The capacity of a type is how many of its jobs may start now, by its pause,
// its concurrency, its rate and the global limit.

// wantCapacity asks for what bounds the starts of some types. What the limits
// count is known only with the limits themselves.
func (u *UnitOfWork) wantCapacity(types []string) {
	Active.want(u, one)
	Throttle.want(u, one)
	for _, t := range types {
		Types.want(u, t)
	}
	if _, known := Throttle.peek(u, one); !known {
		return
	}
	limits := u.limits()
	if limits.Global > 0 {
		OpenCounts.want(u, OpenCount{})
	}
	for _, t := range types {
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			OpenCounts.want(u, OpenCount{Type: t})
		}
		if limit.Rate.Count > 0 {
			Buckets.want(u, t)
		}
	}
}

// capacityOf returns the types of which jobs may start, and how many of each,
// up to maxCount.
func capacityOf(u *UnitOfWork, wanted []string, maxCount int) (types []string, capacity []int) {
	limits, shared := u.limits(), globalCapacity(u, maxCount)
	for _, t := range wanted {
		if typ := Types.get(u, t); typ != nil && typ.Paused {
			continue
		}
		free := shared
		if rota.InternalType(t) {
			free = maxCount
		}
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			free = min(free, limit.Concurrency-OpenCounts.get(u, OpenCount{Type: t}))
		}
		if limit.Rate.Count > 0 {
			free = min(free, bucketOf(u, t, limit.Rate).Available(limit.Rate))
		}
		if free > 0 {
			types, capacity = append(types, t), append(capacity, free)
		}
	}
	return types, capacity
}

// globalCapacity is how many jobs the global limit lets start, up to maxCount. The
// limit neither counts nor holds back jobs of internal types.
func globalCapacity(u *UnitOfWork, maxCount int) int {
	if limit := u.limits().Global; limit > 0 {
		return min(maxCount, max(0, limit-OpenCounts.get(u, OpenCount{})))
	}
	return maxCount
}

// bucketOf returns the bucket of a type at the current time.
func bucketOf(u *UnitOfWork, typ string, rate rota.Rate) rota.Bucket {
	b := rota.Bucket{Type: typ}
	if stored := Buckets.get(u, typ); stored != nil {
		b = *stored
	}
	return b.At(rate, u.Now)
}

// countStarts records the starts of types that have a rate.
func countStarts(u *UnitOfWork, started map[string]int) {
	for _, limit := range u.limits().Types {
		if n := started[limit.Type]; n > 0 && limit.Rate.Count > 0 {
			b := bucketOf(u, limit.Type, limit.Rate)
			b.Starts[0] += n
			Buckets.set(u, limit.Type, &b)
		}
	}
}

// nextCapacityAt is when the first of the types that have used up their rate
// may start a job again.
func nextCapacityAt(u *UnitOfWork, types []string) (next time.Time) {
	for _, t := range types {
		rate := u.limits().Type(t).Rate
		if typ := Types.get(u, t); rate.Count == 0 || typ != nil && typ.Paused {
			continue
		}
		b := bucketOf(u, t, rate)
		if b.Available(rate) > 0 {
			continue
		}
		if at := b.AvailableAt(rate); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}
