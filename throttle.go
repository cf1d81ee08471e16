package rota

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
)

// withName adds the name of the type or key to an error, since an index says little.
func withName(kind, name string, err *Error) *Error {
	named := *err
	switch {
	case name == "" || strings.HasPrefix(err.Reason, quote(name)):
	case err.Field == kind: // the name itself is wrong
		named.Reason = quote(name) + " " + err.Reason
	default:
		fact, remedy, found := strings.Cut(err.Reason, ";")
		named.Reason = fact + " for " + kind + " " + quote(name)
		if found {
			named.Reason += ";" + remedy
		}
	}
	return &named
}

// Throttle holds the limits on concurrency and rate. The zero value has no limits.
type Throttle struct {
	Spec      ThrottleSpec `wire:"1"`
	Version   ID           `wire:"2"` // id of the last command that changed it
	UpdatedBy string       `wire:"3"`
	UpdatedAt time.Time    `wire:"4"`
}

// ThrottleSpec is the declaration of the limits.
type ThrottleSpec struct {
	Global int         `wire:"1" json:"global,omitempty"` // concurrent runs of all types but internal ones; 0: no limit
	Types  []TypeLimit `wire:"2" json:"types,omitempty"`
	Keys   []KeyLimit  `wire:"3" json:"keys,omitempty"`

	EachKey       []EachKeyLimit       `wire:"4" json:"each_key,omitempty"`
	EachKeyOfType []EachKeyOfTypeLimit `wire:"5" json:"each_key_of_type,omitempty"`
}

// Type returns the limit of a type.
func (s *ThrottleSpec) Type(name string) TypeLimit {
	for _, t := range s.Types {
		if t.Type == name {
			return t
		}
	}
	return TypeLimit{Type: name}
}

// Canonical returns the specification as stored, with entries sorted by name.
func (s ThrottleSpec) Canonical() ThrottleSpec {
	s.Types, s.Keys = slices.Clone(s.Types), slices.Clone(s.Keys)
	s.EachKey, s.EachKeyOfType = slices.Clone(s.EachKey), slices.Clone(s.EachKeyOfType)
	slices.SortFunc(s.Types, func(a, b TypeLimit) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(s.Keys, func(a, b KeyLimit) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(s.EachKey, func(a, b EachKeyLimit) int { return cmp.Compare(a.Pattern, b.Pattern) })
	slices.SortFunc(s.EachKeyOfType, func(a, b EachKeyOfTypeLimit) int { return cmp.Compare(a.Type, b.Type) })
	return canonical(s)
}

// Equal reports whether two specifications have the same stored form.
func (s ThrottleSpec) Equal(other ThrottleSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// TypeLimit limits the jobs of one type.
type TypeLimit struct {
	Type        string `wire:"1" json:"type"`
	Concurrency int    `wire:"2" json:"concurrency,omitempty"` // concurrent runs; 0: no limit
	Rate        Rate   `wire:"3" json:"rate,omitzero"`
}

func (t *TypeLimit) validate() *Error {
	err := first(checkName("type", t.Type, true), checkInt("concurrency", t.Concurrency, 0, LimitMax))
	switch {
	case err != nil:
		return err
	case t.Rate != Rate{}:
		return first(checkInt("rate.count", t.Rate.Count, 1, LimitMax), checkDuration("rate.per", t.Rate.Per, RatePerMin, RatePerMax))
	case t.Concurrency == 0:
		return Invalidf("concurrency", "neither concurrency nor rate is given; to stop a type, pause it")
	}
	return nil
}

// Rate limits starts: at most Count in any period of length Per. The zero value means no
// limit.
type Rate struct {
	Count int           `wire:"1" json:"count"`
	Per   time.Duration `wire:"2" json:"per"`
}

// slotLength returns the length of a slot in microseconds.
func (r Rate) slotLength() int64 { return (r.Per.Microseconds() + rateSlots - 1) / rateSlots }

// rateSlots is the number of slots into which the period of a rate is divided. A start
// counts until its slot is a whole period old. Any period therefore has at most as many
// starts as the rate allows, and a start may be delayed by at most one slot.
const rateSlots = 16

// Bucket counts the recent starts of a type with a rate.
type Bucket struct {
	Type   string
	Slot   int64 // number of the newest slot
	Starts []int // starts per slot, newest first; rateSlots+1 entries
}

// At returns the bucket at a time, without the slots that are over. If the clock was set
// back by at most a period, the bucket does not change until the clock has caught up.
func (b Bucket) At(r Rate, now time.Time) Bucket {
	slot := now.UnixMicro() / r.slotLength()
	starts := make([]int, rateSlots+1)
	if ahead := b.Slot - slot; ahead > 0 && ahead <= rateSlots+1 {
		slot = b.Slot
	}
	if past := slot - b.Slot; past >= 0 && past <= rateSlots {
		copy(starts[past:], b.Starts)
	}
	return Bucket{Type: b.Type, Slot: slot, Starts: starts}
}

// Available returns how many jobs may start. The bucket must be that of the current time.
func (b Bucket) Available(r Rate) int {
	used := 0
	for _, n := range b.Starts {
		used += n
	}
	return max(0, r.Count-used)
}

// AvailableAt returns when a full bucket allows the next start.
func (b Bucket) AvailableAt(r Rate) time.Time {
	for i := len(b.Starts) - 1; i >= 0; i-- {
		if b.Starts[i] > 0 {
			return time.UnixMicro((b.Slot - int64(i) + rateSlots + 1) * r.slotLength()).UTC()
		}
	}
	return time.Time{}
}
