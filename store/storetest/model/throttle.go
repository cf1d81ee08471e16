package model

import (
	"math"
	"time"

	"github.com/rotajobs/rota"
)

// putThrottle replaces all limits. What runs is left alone; what waits for a key
// is left to a Sweep.
func (s *step) putThrottle(c *rota.PutThrottle) (rota.Reply, *rota.Error) {
	if s.auditedSubject(limitsSubject) {
		return &rota.ThrottlePut{Throttle: &s.throttle}, nil
	}
	if c.Version != nil && *c.Version != s.throttle.Version {
		return nil, s.refuse(rota.Conflict, "version", "the limits were changed meanwhile")
	}
	if s.throttle.Spec.Equal(c.Spec) {
		return &rota.ThrottlePut{Throttle: &s.throttle}, nil
	}
	old := s.throttle.Spec
	s.throttle = rota.Throttle{Spec: c.Spec.Canonical(), Version: c.ID, UpdatedBy: c.Actor, UpdatedAt: s.now}
	s.forgetStarts(old)
	s.addKeyIntents(old)
	s.auditSubject(rota.AuditThrottleModified, limitsSubject, "")
	return &rota.ThrottlePut{Throttle: &s.throttle, Changed: true}, nil
}

// forgetStarts drops the bucket of each type whose rate is another now.
func (s *step) forgetStarts(old rota.ThrottleSpec) {
	for _, t := range old.Types {
		if s.throttle.Spec.Type(t.Type).Rate != t.Rate {
			delete(s.buckets, t.Type)
		}
	}
}

// addKeyIntents notes each key whose limit came, went or changed.
func (s *step) addKeyIntents(old rota.ThrottleSpec) {
	for _, k := range append(append([]rota.KeyLimit{}, old.Keys...), s.throttle.Spec.Keys...) {
		was, had := old.Key(k.Key)
		is, has := s.throttle.Spec.Key(k.Key)
		if was != is || had != has {
			s.intents[intent{"key", k.Key}] = true
		}
	}
}

// globalCapacity is how many jobs may start before everything is at its limit, which those
// of Rota's own neither fill nor wait for.
func (s *step) globalCapacity() int {
	if s.throttle.Spec.Global == 0 {
		return math.MaxInt
	}
	return max(0, s.throttle.Spec.Global-s.open(func(j *rota.Job) bool { return !rota.InternalType(j.Type) }))
}

// typeCapacity is how many jobs of a type may start, by its number of runs and by its
// rate.
func (s *step) typeCapacity(typ string) int {
	capacity, limit := math.MaxInt, s.throttle.Spec.Type(typ)
	if limit.Concurrency > 0 {
		capacity = max(0, limit.Concurrency-s.open(func(j *rota.Job) bool { return j.Type == typ }))
	}
	if limit.Rate.Count > 0 {
		capacity = min(capacity, s.bucket(typ, limit.Rate).Available(limit.Rate))
	}
	return capacity
}

// keyFull says whether as many jobs of a key are open as may be.
func (s *step) keyFull(key string) bool {
	limit, limited := s.throttle.Spec.Key(key)
	return limited && s.open(func(j *rota.Job) bool { return j.ConcurrencyKey == key }) >= limit
}

// bucket is what is remembered of the starts of a type, as it stands now.
func (s *step) bucket(typ string, rate rota.Rate) rota.Bucket {
	b := s.buckets[typ]
	b.Type = typ
	return b.At(rate, s.now)
}

// countStart remembers a start, if the type has a rate.
func (s *step) countStart(typ string) {
	rate := s.throttle.Spec.Type(typ).Rate
	if rate.Count == 0 {
		return
	}
	b := s.bucket(typ, rate)
	b.Starts[0]++
	s.buckets[typ] = b
}

// nextCapacityAt is when the first of the lanes whose rate is used up has room again.
func (s *step) nextCapacityAt(types []string) (next time.Time) {
	for _, typ := range types {
		rate := s.throttle.Spec.Type(typ).Rate
		if rate.Count == 0 || s.bucket(typ, rate).Available(rate) > 0 {
			continue
		}
		if at := s.bucket(typ, rate).AvailableAt(rate); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}
