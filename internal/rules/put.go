package rules

import "github.com/rotajobs/rota"

// PutClaimedBefore adds a job that an earlier sending of the claim took.
func (u *UnitOfWork) PutClaimedBefore(j *rota.Job) { u.addResult(&u.claimedBefore, j) }

// PutClaimRepeated notes that an earlier sending of the claim took jobs, even
// if none of them exists any more.
func (u *UnitOfWork) PutClaimRepeated() { u.claimRepeated = true }

// PutHead adds a job of the dispatch order.
func (u *UnitOfWork) PutHead(j *rota.Job) { u.addResult(&u.heads, j) }

// PutMoreHeads notes that ready jobs may follow the heads that were found,
// because other transactions took some of the heads.
func (u *UnitOfWork) PutMoreHeads() { u.moreHeads = true }

// PutDue adds a job that is due.
func (u *UnitOfWork) PutDue(j *rota.Job) { u.addResult(&u.due, j) }

// PutStale adds a job whose lease is stale.
func (u *UnitOfWork) PutStale(j *rota.Job) { u.addResult(&u.stale, j) }

// PutUnsettled adds a RUNNING job that was not settled.
func (u *UnitOfWork) PutUnsettled(j *rota.Job) { u.addResult(&u.unsettled, j) }

// PutActive adds the active reservation.
func (u *UnitOfWork) PutActive(r *rota.Reservation) {
	Active.of(u).put(one, r.ID)
	Active.of(u).settle(one)
	Reservations.Put(u, r)
}

// PutNoActive notes that there is no active reservation.
func (u *UnitOfWork) PutNoActive() { Active.of(u).settle(one) }

// PutEdge notes that one schedule depends on another.
func (u *UnitOfWork) PutEdge(from, to string) {
	if u.edges == nil {
		u.edges = map[string][]string{}
	}
	u.edges[from] = append(u.edges[from], to)
	if _, known := u.edges[to]; !known {
		u.edges[to] = nil // a query for from loads the edges of everything it reaches
	}
}

// PutIntent adds an intent record.
func (u *UnitOfWork) PutIntent(q PendingIntentsQuery, i Intent) {
	IntentRecords.Put(u, &i)
	Append(PendingIntents, u, q, i)
}

// PutExpiredReservation adds a reservation that ended.
func (u *UnitOfWork) PutExpiredReservation(q ExpiredReservationsQuery, r *rota.Reservation) {
	Reservations.Put(u, r)
	Append(ExpiredReservations, u, q, r.ID)
}

// PutExpiredRequest adds an idempotency key that has expired.
func (u *UnitOfWork) PutExpiredRequest(q ExpiredRequestsQuery, r *Request) {
	Requests.Put(u, r)
	Append(ExpiredRequests, u, q, r.Key)
}

func (u *UnitOfWork) addResult(f *orderResult, j *rota.Job) {
	u.PutJob(j)
	f.ids = append(f.ids, j.ID)
}
