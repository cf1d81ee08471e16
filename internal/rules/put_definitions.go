package rules

import "github.com/rotajobs/rota"

// PutType brings in a type.
func (w *UnitOfWork) PutType(t *rota.Type) { w.types.put(t.Name, t) }

// PutTemplate brings in a template.
func (w *UnitOfWork) PutTemplate(t *rota.Template) { w.templates.put(t.Name, t) }

// PutSchedule brings in a schedule.
func (w *UnitOfWork) PutSchedule(s *rota.Schedule) { w.schedules.put(s.Name, s) }

// PutGroup brings in a group. Its tally need not be counted.
func (w *UnitOfWork) PutGroup(g *rota.Group) { w.groups.put(g.ID, g) }

// PutReservation brings in a reservation.
func (w *UnitOfWork) PutReservation(r *rota.Reservation) { w.reservations.put(r.ID, r) }

// PutActive brings in the active reservation.
func (w *UnitOfWork) PutActive(r *rota.Reservation) {
	w.active = r.ID
	w.PutReservation(r)
}

// PutBucket brings in the recent starts of a type.
func (w *UnitOfWork) PutBucket(b *rota.Bucket) { w.buckets.put(b.Type, b) }

// PutThrottle brings in the limits in force.
func (w *UnitOfWork) PutThrottle(t *rota.Throttle) { w.throttle.put(theThrottle, t) }

// PutWebhooks brings in the webhooks that are told of everything.
func (w *UnitOfWork) PutWebhooks(h *rota.Webhooks) { w.webhooks.put(theWebhooks, h) }

// PutJobsOf adds a job of a schedule.
func (w *UnitOfWork) PutJobsOf(q JobsOf, j *rota.Job) { gather(w, &w.jobsOf, q, j) }

// PutPlanned adds a planned job of a schedule.
func (w *UnitOfWork) PutPlanned(q Planned, j *rota.Job) { gather(w, &w.planned, q, j) }

// PutMember adds a member of a group.
func (w *UnitOfWork) PutMember(q Members, j *rota.Job) { gather(w, &w.members, q, j) }

// PutBlocked adds a job that waits for dependencies.
func (w *UnitOfWork) PutBlocked(q Blocked, j *rota.Job) { gather(w, &w.blocked, q, j) }

// PutOverlapWaiting adds a job that waits behind an earlier execution.
func (w *UnitOfWork) PutOverlapWaiting(q OverlapWaiting, j *rota.Job) { gather(w, &w.behind, q, j) }

// PutExpiredWait adds a job whose wait for dependencies is over.
func (w *UnitOfWork) PutExpiredWait(q ExpiredWaits, j *rota.Job) { gather(w, &w.waits, q, j) }

// PutLatest says which execution counts.
func (w *UnitOfWork) PutLatest(q Latest, id rota.ID) { w.latest.put(q, id) }

// PutDependent adds the name of a schedule that depends on another.
func (w *UnitOfWork) PutDependent(q Dependents, name string) {
	w.dependents.put(q, append(w.dependents.get(q), name))
}

// PutEdge says that one schedule depends on another.
func (w *UnitOfWork) PutEdge(from, to string) {
	if w.edges == nil {
		w.edges = map[string][]string{}
	}
	w.edges[from] = append(w.edges[from], to)
}

// PutUsing adds the name of a schedule of a template.
func (w *UnitOfWork) PutUsing(q Using, name string) { w.using.put(q, append(w.using.get(q), name)) }

// PutKeyQueue says how a concurrency key stands.
func (w *UnitOfWork) PutKeyQueue(q KeyQueue, v KeyQueueState) { w.lanes.put(q, v) }

// PutOpen says how many jobs are open.
func (w *UnitOfWork) PutOpen(q Open, count int) { w.open.put(q, count) }

// PutRedriven says which job tries an execution anew.
func (w *UnitOfWork) PutRedriven(q Redriven, id rota.ID) { w.redriven.put(q, id) }

// PutAttempt adds the id of an attempt of an execution.
func (w *UnitOfWork) PutAttempt(q Attempts, id rota.ID) {
	w.attempts.put(q, append(w.attempts.get(q), id))
}

// PutIntent adds something that is to be carried out.
func (w *UnitOfWork) PutIntent(q Intents, i Intent) {
	w.intents.put(i, &i)
	w.standingBy.put(q, append(w.standingBy.get(q), i))
}

// PutExpiredReservation adds a reservation that ended.
func (w *UnitOfWork) PutExpiredReservation(q ExpiredReservations, r *rota.Reservation) {
	w.PutReservation(r)
	w.bygone.put(q, append(w.bygone.get(q), r.ID))
}

// PutDropped brings in what was dropped under a schedule's name.
func (w *UnitOfWork) PutDropped(d *Dropped) { w.dropped.put(d.Schedule, d) }

// PutDroppedJob adds a job of a schedule that was dropped.
func (w *UnitOfWork) PutDroppedJob(q DroppedJobs, j *rota.Job) { gather(w, &w.rest, q, j) }

// gather adds a job to the answer to a question.
func gather[Q comparable](w *UnitOfWork, b *book[Q, []rota.ID], q Q, j *rota.Job) {
	w.PutJob(j)
	b.put(q, append(b.get(q), j.ID))
}

// PutRequest brings in what the key of a request is tied to.
func (w *UnitOfWork) PutRequest(r *Request) { w.requests.put(r.Key, r) }

// PutExpiredRequest adds the key of a request that is free again.
func (w *UnitOfWork) PutExpiredRequest(q ExpiredRequests, r *Request) {
	w.requests.put(r.Key, r)
	w.lapsed.put(q, append(w.lapsed.get(q), r.Key))
}
