package rules

import "github.com/rotajobs/rota"

// PutType adds a type.
func (u *UnitOfWork) PutType(t *rota.Type) { u.types.put(t.Name, t) }

// PutTemplate adds a template.
func (u *UnitOfWork) PutTemplate(t *rota.Template) { u.templates.put(t.Name, t) }

// PutSchedule adds a schedule.
func (u *UnitOfWork) PutSchedule(s *rota.Schedule) { u.schedules.put(s.Name, s) }

// PutGroup adds a group. Its counts by state need not be set.
func (u *UnitOfWork) PutGroup(g *rota.Group) { u.groups.put(g.ID, g) }

// PutReservation adds a reservation.
func (u *UnitOfWork) PutReservation(r *rota.Reservation) { u.reservations.put(r.ID, r) }

// PutActive adds the active reservation.
func (u *UnitOfWork) PutActive(r *rota.Reservation) {
	u.active = r.ID
	u.PutReservation(r)
}

// PutBucket adds the recent starts of a type.
func (u *UnitOfWork) PutBucket(b *rota.Bucket) { u.buckets.put(b.Type, b) }

// PutThrottle adds the limits in force.
func (u *UnitOfWork) PutThrottle(t *rota.Throttle) { u.throttle.put(throttleKey, t) }

// PutWebhooks adds the webhooks of all events.
func (u *UnitOfWork) PutWebhooks(h *rota.Webhooks) { u.webhooks.put(webhooksKey, h) }

// PutJobsOf adds a job of a schedule.
func (u *UnitOfWork) PutJobsOf(q JobsOf, j *rota.Job) { gather(u, &u.jobsOf, q, j) }

// PutPlanned adds a planned job of a schedule.
func (u *UnitOfWork) PutPlanned(q Planned, j *rota.Job) { gather(u, &u.planned, q, j) }

// PutMember adds a member of a group.
func (u *UnitOfWork) PutMember(q Members, j *rota.Job) { gather(u, &u.members, q, j) }

// PutBlocked adds a job that waits for dependencies.
func (u *UnitOfWork) PutBlocked(q Blocked, j *rota.Job) { gather(u, &u.blocked, q, j) }

// PutOverlapWaiting adds a job that waits for an earlier execution.
func (u *UnitOfWork) PutOverlapWaiting(q OverlapWaiting, j *rota.Job) {
	gather(u, &u.overlapWaiting, q, j)
}

// PutExpiredWait adds a job whose wait for dependencies has ended.
func (u *UnitOfWork) PutExpiredWait(q ExpiredWaits, j *rota.Job) { gather(u, &u.expiredWaits, q, j) }

// PutLatest sets the execution that counts.
func (u *UnitOfWork) PutLatest(q Latest, id rota.ID) { u.latest.put(q, id) }

// PutDependent adds the name of a schedule that depends on another.
func (u *UnitOfWork) PutDependent(q Dependents, name string) {
	u.dependents.put(q, append(u.dependents.get(q), name))
}

// PutEdge notes that one schedule depends on another.
func (u *UnitOfWork) PutEdge(from, to string) {
	if u.edges == nil {
		u.edges = map[string][]string{}
	}
	u.edges[from] = append(u.edges[from], to)
}

// PutUsing adds the name of a schedule of a template.
func (u *UnitOfWork) PutUsing(q Using, name string) { u.using.put(q, append(u.using.get(q), name)) }

// PutKeyQueue sets the state of a concurrency key.
func (u *UnitOfWork) PutKeyQueue(q KeyQueue, v KeyQueueState) { u.keyQueues.put(q, v) }

// PutOpen sets how many jobs are open.
func (u *UnitOfWork) PutOpen(q OpenCount, count int) { u.open.put(q, count) }

// PutRedriven sets the job that redrives an execution.
func (u *UnitOfWork) PutRedriven(q Redriven, id rota.ID) { u.redriven.put(q, id) }

// PutAttempt adds the id of an attempt of an execution.
func (u *UnitOfWork) PutAttempt(q Attempts, id rota.ID) {
	u.attempts.put(q, append(u.attempts.get(q), id))
}

// PutIntent adds an intent record.
func (u *UnitOfWork) PutIntent(q Intents, i Intent) {
	u.intents.put(i, &i)
	u.pendingIntents.put(q, append(u.pendingIntents.get(q), i))
}

// PutExpiredReservation adds a reservation that ended.
func (u *UnitOfWork) PutExpiredReservation(q ExpiredReservations, r *rota.Reservation) {
	u.PutReservation(r)
	u.expiredReservations.put(q, append(u.expiredReservations.get(q), r.ID))
}

// PutDropped adds the record of a dropped schedule.
func (u *UnitOfWork) PutDropped(d *Dropped) { u.dropped.put(d.Schedule, d) }

// PutDroppedJob adds a job of a schedule that was dropped.
func (u *UnitOfWork) PutDroppedJob(q DroppedJobs, j *rota.Job) { gather(u, &u.droppedJobs, q, j) }

// gather adds a job to the answer of a query.
func gather[Q comparable](u *UnitOfWork, b *queryCache[Q, []rota.ID], q Q, j *rota.Job) {
	u.PutJob(j)
	b.put(q, append(b.get(q), j.ID))
}

// PutRequest adds the request of an idempotency key.
func (u *UnitOfWork) PutRequest(r *Request) { u.requests.put(r.Key, r) }

// PutExpiredRequest adds an idempotency key that has expired.
func (u *UnitOfWork) PutExpiredRequest(q ExpiredRequests, r *Request) {
	u.requests.put(r.Key, r)
	u.expiredRequests.put(q, append(u.expiredRequests.get(q), r.Key))
}
