package rules

import "github.com/rotajobs/rota"

// wroteOf asks whether a command has written about something with a name before.
func (n *Need) wroteOf(c rota.Command, subject string) {
	id := rota.AuditNameID(c.Head().ID, c.Verb(), subject)
	if _, known := n.unit.audits[id]; !known {
		n.unit.audits[id] = false
		n.Audits = append(n.Audits, id)
	}
}

func (n *Need) typ(name string) *rota.Type          { return n.unit.types.ask(&n.Types, name) }
func (n *Need) template(name string) *rota.Template { return n.unit.templates.ask(&n.Templates, name) }

func (n *Need) schedule(name string) *rota.Schedule { return n.unit.schedules.ask(&n.Schedules, name) }
func (n *Need) group(id rota.ID) *rota.Group        { return n.unit.groups.ask(&n.Groups, id) }
func (n *Need) bucket(name string) *rota.Bucket     { return n.unit.buckets.ask(&n.Buckets, name) }
func (n *Need) reserved(id rota.ID) *rota.Reservation {
	return n.unit.reservations.ask(&n.Reservations, id)
}

func (n *Need) request(key RequestKey) *Request { return n.unit.requests.ask(&n.Requests, key) }

// throttle asks for the limits in force; nil if there are none, or they are not
// loaded yet.
func (n *Need) throttle() *rota.Throttle {
	if !n.unit.throttleAsked {
		n.unit.throttleAsked, n.Throttle = true, true
		return nil
	}
	return n.unit.throttle.get(theThrottle)
}

// webhooks asks for those that are told of everything.
func (n *Need) webhooks() {
	if !n.unit.webhooksAsked {
		n.unit.webhooksAsked, n.Webhooks = true, true
	}
}

// active asks for the active reservation; false if it is not loaded yet.
func (n *Need) active() (*rota.Reservation, bool) {
	if !n.unit.activeAsked {
		n.unit.activeAsked, n.Active = true, true
		return nil, false
	}
	return n.unit.activeReservation(), true
}

func (n *Need) open(q Open) (int, bool)             { return n.unit.open.ask(&n.Open, q) }
func (n *Need) jobsOf(q JobsOf) ([]rota.ID, bool)   { return n.unit.jobsOf.ask(&n.JobsOf, q) }
func (n *Need) planned(q Planned) ([]rota.ID, bool) { return n.unit.planned.ask(&n.Planned, q) }
func (n *Need) members(q Members) ([]rota.ID, bool) { return n.unit.members.ask(&n.Members, q) }
func (n *Need) blocked(q Blocked) ([]rota.ID, bool) { return n.unit.blocked.ask(&n.Blocked, q) }
func (n *Need) behind(q OverlapWaiting) ([]rota.ID, bool) {
	return n.unit.behind.ask(&n.OverlapWaiting, q)
}
func (n *Need) latest(q Latest) (rota.ID, bool) { return n.unit.latest.ask(&n.Latest, q) }
func (n *Need) dependents(q Dependents) ([]string, bool) {
	return n.unit.dependents.ask(&n.Dependents, q)
}
func (n *Need) using(q Using) ([]string, bool)      { return n.unit.using.ask(&n.Using, q) }
func (n *Need) redriven(q Redriven) (rota.ID, bool) { return n.unit.redriven.ask(&n.Redriven, q) }

func (n *Need) attempts(q Attempts) ([]rota.ID, bool)  { return n.unit.attempts.ask(&n.Attempts, q) }
func (n *Need) waits(q ExpiredWaits) ([]rota.ID, bool) { return n.unit.waits.ask(&n.ExpiredWaits, q) }
func (n *Need) intents(q Intents) ([]Intent, bool)     { return n.unit.standingBy.ask(&n.Intents, q) }
func (n *Need) lapsed(q ExpiredRequests) ([]RequestKey, bool) {
	return n.unit.lapsed.ask(&n.ExpiredRequests, q)
}
func (n *Need) bygone(q ExpiredReservations) ([]rota.ID, bool) {
	return n.unit.bygone.ask(&n.ExpiredReservations, q)
}
func (n *Need) rest(q DroppedJobs) ([]rota.ID, bool) { return n.unit.rest.ask(&n.DroppedJobs, q) }

// dropped asks what of a schedule's name was dropped. Whoever asks looks at the
// schedule too, whose lock is that of both.
func (n *Need) dropped(schedule string) *Dropped {
	n.schedule(schedule)
	return n.unit.dropped.ask(&n.Dropped, schedule)
}
