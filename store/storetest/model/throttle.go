package model

import (
	"math"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// putThrottle replaces all limits. It does not change running jobs, and leaves jobs that wait
// for a key to a Sweep.
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
	s.auditSubject(rota.AuditThrottleModified, limitsSubject, "", diff.Documents(shownSpec(old), shownSpec(s.throttle.Spec)))
	return &rota.ThrottlePut{Throttle: &s.throttle, Changed: true}, nil
}

// forgetStarts removes the bucket of each type whose rate has changed.
func (s *step) forgetStarts(old rota.ThrottleSpec) {
	for _, t := range old.Types {
		if s.throttle.Spec.Type(t.Type).Rate != t.Rate {
			delete(s.buckets, t.Type)
		}
	}
}

// addKeyIntents adds an intent for all keys if a limit of each key was added, removed or
// changed, and otherwise one for each key whose own limit was.
func (s *step) addKeyIntents(old rota.ThrottleSpec) {
	is := s.throttle.Spec
	if !slices.Equal(old.EachKey, is.EachKey) || !slices.Equal(old.EachKeyOfType, is.EachKeyOfType) {
		s.intents[intent{"keys", ""}] = true
		return
	}
	for _, k := range slices.Concat(old.Keys, is.Keys) {
		if slices.Contains(old.Keys, k) != slices.Contains(is.Keys, k) {
			s.intents[intent{"key", k.Key}] = true
		}
	}
}

// globalCapacity returns how many jobs may start before the global limit is reached. Internal
// jobs neither count nor wait.
func (s *step) globalCapacity() int {
	if s.throttle.Spec.Global == 0 {
		return math.MaxInt
	}
	return max(0, s.throttle.Spec.Global-s.open(func(j *rota.Job) bool { return !rota.InternalType(j.Type) }))
}

// typeCapacity returns how many jobs of a type may start, by its concurrency limit and its
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

// keyCapacity returns how many jobs of a key and a type may start. A limit of each key of the
// type counts only jobs of the type.
func (s *step) keyCapacity(key, typ string) int {
	limit, limited := s.throttle.Spec.Key(key, typ)
	if !limited {
		return math.MaxInt
	}
	return max(0, limit.Concurrency-s.open(func(j *rota.Job) bool {
		return j.ConcurrencyKey == key && (limit.OfType == "" || j.Type == limit.OfType)
	}))
}

// bucket returns the recent starts of a type at the current time.
func (s *step) bucket(typ string, rate rota.Rate) rota.Bucket {
	b := s.buckets[typ]
	b.Type = typ
	return b.At(rate, s.now)
}

// countStart counts a start, if the type has a rate.
func (s *step) countStart(typ string) {
	rate := s.throttle.Spec.Type(typ).Rate
	if rate.Count == 0 {
		return
	}
	b := s.bucket(typ, rate)
	b.Starts[0]++
	s.buckets[typ] = b
}

// nextCapacityAt returns when the first of the types with an exhausted rate may start a job
// again.
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
