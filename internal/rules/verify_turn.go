package rules

import "github.com/rotajobs/rota"

// Turns is the walk of the live jobs of schedules, by schedule and scope, after
// the schedules themselves: somebody of each must be able to go on.
type Turns struct {
	v        *Verifier
	schedule string
	scope    rota.Scope
	waits    rota.ID // the first that waits for another to end
	goes     bool    // somebody does not
}

// Turns begins the walk.
func (v *Verifier) Turns() *Turns { return &Turns{v: v} }

// Next looks at the next live job.
func (t *Turns) Next(j *rota.Job) {
	if j.Schedule != t.schedule || scopeOf(j) != t.scope {
		t.End()
		t.schedule, t.scope, t.waits, t.goes = j.Schedule, scopeOf(j), rota.ID{}, false
	}
	if s := t.v.schedules[j.Schedule]; s != nil && !j.PlanTime.IsZero() {
		s.planned = true
	}
	switch {
	case j.Hold&rota.HoldOverlap == 0:
		t.goes = true
	case t.waits.IsZero():
		t.waits = j.ID
	}
}

// End ends the walk.
func (t *Turns) End() {
	if t.waits.IsZero() || t.goes {
		return
	}
	t.v.find(rota.CheckOverlapTurn, []string{scheduleSubject(t.schedule), jobRef(t.waits)},
		"all that has not ended of it%s waits for another to end", inScope(t.scope))
}

func inScope(s rota.Scope) string {
	if s == (rota.Scope{}) {
		return ""
	}
	return " for " + s.Kind + " " + s.ID
}

// Lanes is the walk of the live jobs that have a concurrency key, by key, after
// the limits and the intents.
type Lanes struct {
	v           *Verifier
	key         string
	open, ready int
	last, held  *rota.Job // the last that is ready, the first that the key alone holds back
}

// Lanes begins the walk.
func (v *Verifier) Lanes() *Lanes { return &Lanes{v: v} }

// Next looks at the next live job. Those of one key may come in any order.
func (l *Lanes) Next(j *rota.Job) {
	if j.ConcurrencyKey != l.key {
		l.End()
		*l = Lanes{v: l.v, key: j.ConcurrencyKey}
	}
	switch {
	case isOpen(j):
		l.open++
	case j.Ready():
		l.ready++
		if l.last == nil || l.last.Before(j) {
			l.last = j
		}
	case j.Status == rota.StatusQueued && j.Hold == rota.HoldKey:
		if l.held == nil || j.Before(l.held) {
			l.held = j
		}
	}
}

// End ends the walk.
func (l *Lanes) End() {
	if l.key == "" || l.v.intents[Intent{IntentKey, l.key}] {
		return
	}
	row := "concurrency key " + l.key
	limit, limited := l.v.limits.Key(l.key)
	room := max(0, limit-l.open)
	switch {
	case l.held != nil && !limited:
		l.v.find(rota.CheckKeyTurn, []string{row, jobRef(l.held.ID)}, "it holds a job back, but has no limit")
	case !limited:
	case l.ready > room:
		l.v.find(rota.CheckKeyTurn, []string{row, jobRef(l.last.ID)}, "%d of its jobs are ready, but only %d may start", l.ready, room)
	case l.held != nil && l.ready < room:
		l.v.find(rota.CheckKeyTurn, []string{row, jobRef(l.held.ID)}, "it holds a job back, but %d may start and %d are ready", room, l.ready)
	case l.held != nil && l.last != nil && l.held.Before(l.last):
		l.v.find(rota.CheckKeyTurn, []string{row, jobRef(l.held.ID), jobRef(l.last.ID)}, "it holds the first job back, which comes before the second")
	}
}
