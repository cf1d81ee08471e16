package rota

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Throttle says how much may run at once and how fast it may start. The zero
// value holds nothing back.
type Throttle struct {
	Spec      ThrottleSpec
	Version   ID // the last command that changed it
	UpdatedBy string
	UpdatedAt time.Time
}

// ThrottleSpec is what is declared of it.
type ThrottleSpec struct {
	Global int         `wire:"1" json:"global,omitempty"` // runs at once, of all types but internal ones; 0: no limit
	Types  []TypeLimit `wire:"2" json:"types,omitempty"`
	Keys   []KeyLimit  `wire:"3" json:"keys,omitempty"`
}

// TypeLimit holds the jobs of one type back.
type TypeLimit struct {
	Type        string `wire:"1" json:"type"`
	Concurrency int    `wire:"2" json:"concurrency,omitempty"` // runs at once; 0: no limit
	Rate        Rate   `wire:"3" json:"rate,omitzero"`
}

// Rate bounds starts: in no stretch of time as long as Per are there more than
// Count. The zero value is no limit.
type Rate struct {
	Count int           `wire:"1" json:"count"`
	Per   time.Duration `wire:"2" json:"per"`
}

// KeyLimit holds the jobs of one concurrency key back, whatever their types.
type KeyLimit struct {
	Key         string `wire:"1" json:"key"`
	Concurrency int    `wire:"2" json:"concurrency"`
}

// Type is what holds a type back.
func (s *ThrottleSpec) Type(name string) TypeLimit {
	for _, t := range s.Types {
		if t.Type == name {
			return t
		}
	}
	return TypeLimit{Type: name}
}

// Key is how many jobs of a concurrency key may run at once; false: as many as
// there are.
func (s *ThrottleSpec) Key(name string) (limit int, limited bool) {
	for _, k := range s.Keys {
		if k.Key == name {
			return k.Concurrency, true
		}
	}
	return 0, false
}

// Canonical is the specification as it is stored, its entries sorted by name.
func (s ThrottleSpec) Canonical() ThrottleSpec {
	s.Types, s.Keys = slices.Clone(s.Types), slices.Clone(s.Keys)
	slices.SortFunc(s.Types, func(a, b TypeLimit) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(s.Keys, func(a, b KeyLimit) int { return cmp.Compare(a.Key, b.Key) })
	return canonical(s)
}

// Equal reports whether two specifications are stored alike.
func (s ThrottleSpec) Equal(other ThrottleSpec) bool {
	return bytes.Equal(EncodeSpec(s.Canonical()), EncodeSpec(other.Canonical()))
}

// rateSlots is into how many slots the period of a rate is cut. A start counts
// until the slot it fell into lies a whole period back, so a stretch as long as
// the period never has more than the rate allows; what is lost by it is at most
// one slot.
const rateSlots = 16

// Bucket remembers the recent starts of a type that has a rate.
type Bucket struct {
	Type   string
	Slot   int64 // the newest slot
	Starts []int // in it, and in those before it, newest first; rateSlots+1 of them
}

// slotLength is in microseconds.
func (r Rate) slotLength() int64 { return (r.Per.Microseconds() + rateSlots - 1) / rateSlots }

// At is the bucket as it stands at a time: slots that are past have gone. A
// clock that was set back is taken to stand still until it has caught up, unless
// that would take longer than a period.
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

// Room is how many may start, of a bucket as it stands now.
func (b Bucket) Room(r Rate) int {
	used := 0
	for _, n := range b.Starts {
		used += n
	}
	return max(0, r.Count-used)
}

// RoomAt is when a bucket without room has some again.
func (b Bucket) RoomAt(r Rate) time.Time {
	for i := len(b.Starts) - 1; i >= 0; i-- {
		if b.Starts[i] > 0 {
			return time.UnixMicro((b.Slot - int64(i) + rateSlots + 1) * r.slotLength()).UTC()
		}
	}
	return time.Time{}
}
