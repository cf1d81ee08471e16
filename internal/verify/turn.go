package verify

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// TurnWalk checks the live jobs of schedules, by schedule and scope: at least
// one of each must not wait for another. The schedules come first.
type TurnWalk struct {
	v        *Verifier
	schedule string
	scope    rota.Scope
	waiting  rota.ID // first job that waits for another to end
	canRun   bool    // a job does not wait for another
}

// Turns begins the walk.
func (v *Verifier) Turns() *TurnWalk { return &TurnWalk{v: v} }

// Next checks the next live job.
func (t *TurnWalk) Next(j *rota.Job) {
	if j.Schedule != t.schedule || rules.ScopeOf(j) != t.scope {
		t.End()
		t.schedule, t.scope, t.waiting, t.canRun = j.Schedule, rules.ScopeOf(j), rota.ID{}, false
	}
	if s := t.v.schedules[j.Schedule]; s != nil && !j.PlanTime.IsZero() {
		s.planned = true
	}
	switch {
	case j.Hold&rota.HoldOverlap == 0:
		t.canRun = true
	case t.waiting.IsZero():
		t.waiting = j.ID
	}
}

// End ends the walk.
func (t *TurnWalk) End() {
	if t.waiting.IsZero() || t.canRun {
		return
	}
	t.v.violation(rota.CheckOverlapTurn, []string{rules.ScheduleSubject(t.schedule), rules.JobRef(t.waiting)},
		"all its live jobs%s wait for another to end", inScope(t.scope))
}

func inScope(s rota.Scope) string {
	if s == (rota.Scope{}) {
		return ""
	}
	return " for " + s.Kind + " " + s.ID
}

// KeyQueueWalk checks the live jobs that have a concurrency key, by key. The
// limits and the intents come first.
type KeyQueueWalk struct {
	v     *Verifier
	key   string
	open  int
	types map[string]*keyQueueOfType
}

// keyQueueOfType is the number of running and of ready jobs of one type, the last
// ready one, and the first job that only the key holds back.
type keyQueueOfType struct {
	open       int
	ready      int
	last, held *rota.Job
}

// KeyQueues begins the walk.
func (v *Verifier) KeyQueues() *KeyQueueWalk { return &KeyQueueWalk{v: v} }

// Next checks the next live job. The jobs of one key may come in any order.
func (l *KeyQueueWalk) Next(j *rota.Job) {
	if j.ConcurrencyKey != l.key {
		l.End()
		*l = KeyQueueWalk{v: l.v, key: j.ConcurrencyKey, types: map[string]*keyQueueOfType{}}
	}
	t := l.types[j.Type]
	if t == nil {
		t = &keyQueueOfType{}
		l.types[j.Type] = t
	}
	switch {
	case rules.IsOpen(j):
		l.open++
		t.open++
	case j.Ready():
		t.ready++
		if t.last == nil || t.last.Before(j) {
			t.last = j
		}
	case j.Status == rota.StatusQueued && j.Hold == rota.HoldKey:
		if t.held == nil || j.Before(t.held) {
			t.held = j
		}
	}
}

// End ends the walk.
func (l *KeyQueueWalk) End() {
	if l.key == "" || l.sweepPending() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.types)) {
		l.endType(name, l.types[name])
	}
}

// sweepPending reports whether a Sweep is to balance the key.
func (l *KeyQueueWalk) sweepPending() bool {
	return l.v.intents[rules.Intent{Kind: rules.IntentKey, Name: l.key}] || l.v.keysAfter != nil && l.key > *l.v.keysAfter
}

func (l *KeyQueueWalk) endType(name string, t *keyQueueOfType) {
	row := "concurrency key " + l.key
	applied, limited := l.v.limits.Key(l.key, name)
	limit, open := applied.Concurrency, l.open
	if applied.OfType != "" {
		open = t.open
	}
	capacity := max(0, limit-open)
	switch {
	case t.held != nil && !limited:
		l.v.violation(rota.CheckKeyTurn, []string{row, rules.JobRef(t.held.ID)}, "it holds a job back, but has no limit")
	case !limited:
	case t.ready > limit:
		l.v.violation(rota.CheckKeyTurn, []string{row, rules.JobRef(t.last.ID)}, "%d of its jobs of one type are ready, but only %d may run at once", t.ready, limit)
	case t.held != nil && t.ready < capacity:
		l.v.violation(rota.CheckKeyTurn, []string{row, rules.JobRef(t.held.ID)}, "it holds a job back, but %d may start and %d of its type are ready", capacity, t.ready)
	case t.held != nil && t.last != nil && capacity > 0 && t.held.Before(t.last): // without capacity, a claim has held it back, and the next end corrects the order
		l.v.violation(rota.CheckKeyTurn, []string{row, rules.JobRef(t.held.ID), rules.JobRef(t.last.ID)}, "it holds the first job back, which is before the second, a ready one")
	}
}
