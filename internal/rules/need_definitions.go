package rules

import "github.com/rotajobs/rota"

// auditedSubject queries whether an earlier sending of the command wrote an
// audit entry about a named subject.
func (n *Need) auditedSubject(c rota.Command, subject string) {
	id := rota.AuditNameID(c.Head().ID, c.Verb(), subject)
	if _, known := n.unit.auditIDs[id]; !known {
		n.unit.auditIDs[id] = false
		n.Audits = append(n.Audits, id)
	}
}

func (n *Need) typ(name string) *rota.Type { return n.unit.types.lookup(&n.Types, name) }
func (n *Need) template(name string) *rota.Template {
	return n.unit.templates.lookup(&n.Templates, name)
}

func (n *Need) schedule(name string) *rota.Schedule {
	return n.unit.schedules.lookup(&n.Schedules, name)
}
func (n *Need) group(id rota.ID) *rota.Group    { return n.unit.groups.lookup(&n.Groups, id) }
func (n *Need) bucket(name string) *rota.Bucket { return n.unit.buckets.lookup(&n.Buckets, name) }
func (n *Need) reserved(id rota.ID) *rota.Reservation {
	return n.unit.reservations.lookup(&n.Reservations, id)
}

func (n *Need) request(key RequestKey) *Request { return n.unit.requests.lookup(&n.Requests, key) }

// throttle queries the limits in force; nil if there are none, or they are not
// loaded yet.
func (n *Need) throttle() *rota.Throttle {
	if !n.unit.throttleQueried {
		n.unit.throttleQueried, n.Throttle = true, true
		return nil
	}
	return n.unit.throttle.get(throttleKey)
}

// webhooks queries the webhooks of all events.
func (n *Need) webhooks() {
	if !n.unit.webhooksQueried {
		n.unit.webhooksQueried, n.Webhooks = true, true
	}
}

// active queries the active reservation; false if it is not loaded yet.
func (n *Need) active() (*rota.Reservation, bool) {
	if !n.unit.activeQueried {
		n.unit.activeQueried, n.Active = true, true
		return nil, false
	}
	return n.unit.activeReservation(), true
}

func (n *Need) open(q OpenCount) (int, bool)        { return n.unit.open.lookup(&n.Open, q) }
func (n *Need) jobsOf(q JobsOf) ([]rota.ID, bool)   { return n.unit.jobsOf.lookup(&n.JobsOf, q) }
func (n *Need) planned(q Planned) ([]rota.ID, bool) { return n.unit.planned.lookup(&n.Planned, q) }
func (n *Need) members(q Members) ([]rota.ID, bool) { return n.unit.members.lookup(&n.Members, q) }
func (n *Need) blocked(q Blocked) ([]rota.ID, bool) { return n.unit.blocked.lookup(&n.Blocked, q) }
func (n *Need) overlapWaiting(q OverlapWaiting) ([]rota.ID, bool) {
	return n.unit.overlapWaiting.lookup(&n.OverlapWaiting, q)
}
func (n *Need) latest(q Latest) (rota.ID, bool) { return n.unit.latest.lookup(&n.Latest, q) }
func (n *Need) dependents(q Dependents) ([]string, bool) {
	return n.unit.dependents.lookup(&n.Dependents, q)
}
func (n *Need) using(q Using) ([]string, bool)      { return n.unit.using.lookup(&n.Using, q) }
func (n *Need) redriven(q Redriven) (rota.ID, bool) { return n.unit.redriven.lookup(&n.Redriven, q) }

func (n *Need) attempts(q Attempts) ([]rota.ID, bool) { return n.unit.attempts.lookup(&n.Attempts, q) }

func (n *Need) expiredWaits(q ExpiredWaits) ([]rota.ID, bool) {
	return n.unit.expiredWaits.lookup(&n.ExpiredWaits, q)
}

func (n *Need) intents(q Intents) ([]Intent, bool) {
	return n.unit.pendingIntents.lookup(&n.Intents, q)
}

func (n *Need) expiredRequests(q ExpiredRequests) ([]RequestKey, bool) {
	return n.unit.expiredRequests.lookup(&n.ExpiredRequests, q)
}

func (n *Need) expiredReservations(q ExpiredReservations) ([]rota.ID, bool) {
	return n.unit.expiredReservations.lookup(&n.ExpiredReservations, q)
}

func (n *Need) droppedJobs(q DroppedJobs) ([]rota.ID, bool) {
	return n.unit.droppedJobs.lookup(&n.DroppedJobs, q)
}

// dropped queries the record of a dropped schedule. It also loads the schedule,
// whose lock covers both.
func (n *Need) dropped(schedule string) *Dropped {
	n.schedule(schedule)
	return n.unit.dropped.lookup(&n.Dropped, schedule)
}
