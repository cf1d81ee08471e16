package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// A claim leases ready jobs to a worker, in this order:
//
//  1. It reads what bounds it: whether an earlier sending took jobs, the active
//     reservation, the limits, and the types (wantClaim). What the limits count
//     is read once the limits are known.
//  2. It computes how many jobs of each type may start (capacity.go), and asks
//     the store for the heads of the dispatch order within these capacities
//     (headsQuery). The store locks the jobs that it returns.
//  3. It starts each head, or takes a head that must not start out of the
//     dispatch order (rejectHead).
//  4. It counts the starts of types that have a rate, and answers with the
//     jobs.
//
// Every claim is a step of its own: it finds the jobs that earlier commands of
// the batch created like any others.

// decideClaim dispatches the heads of the order: job and run change together.
// If an earlier sending of this command took jobs, it takes no others, so that
// there is no lease of which no worker knows.
func decideClaim(u *UnitOfWork, c *rota.Claim) (rota.Reply, *rota.Error) {
	u.wantCapacity(c.Types)
	u.lockActive = true
	if taken := u.jobsClaimedBefore(c); len(taken) > 0 || u.claimRepeated {
		return &rota.Claimed{Jobs: stillOpen(u, taken), Again: true, Now: u.Now}, nil
	}
	if nodeReserved(u, c) {
		return &rota.Claimed{Jobs: []*rota.Job{}, Now: u.Now}, nil
	}
	heads := u.headsOf(c)
	reply := &rota.Claimed{Jobs: make([]*rota.Job, 0, min(len(heads), c.Limit)), More: u.moreHeads, Now: u.Now}
	byKey, byType := map[OpenCount]int{}, map[string]int{}
	u.each(len(heads), func(i int) {
		j := u.job(heads[i])
		if !j.Ready() || !slices.Contains(c.Types, j.Type) || len(reply.Jobs) == c.Limit {
			return
		}
		if rejectHead(u, c, j, byKey) {
			reply.More = true
			return
		}
		byType[j.Type]++
		reply.Jobs = append(reply.Jobs, startRun(u, c, j.ID))
	})
	countStarts(u, byType)
	reply.Next = nextCapacityAt(u, c.Types)
	return reply, nil
}

// wantClaim asks for what bounds a claim, and then for the heads of the order.
func wantClaim(u *UnitOfWork, c *rota.Claim) {
	u.wantClaimedBefore(c)
	u.wantCapacity(c.Types)
	u.lockActive = true
	if u.claimedBefore.known && len(u.claimedBefore.ids) == 0 && !u.claimRepeated && u.boundsKnown() {
		wantHeads(u, c)
	}
}

// wantHeadsIfCached asks for the heads of the order at once if the cache of the
// store knows everything that bounds the claim. The only other question is then
// whether the claim was sent before, which is rare, so the store reads that and
// the heads together.
func wantHeadsIfCached(tx Tx, u *UnitOfWork, last rota.Command) {
	c, claims := last.(*rota.Claim)
	cache, has := tx.(RowCache)
	if !claims || !has || u.orders.ClaimedBefore == nil {
		return
	}
	cache.LoadCached(u)
	u.wantCapacity(c.Types)
	if u.boundsKnown() {
		wantHeads(u, c)
	}
}

// boundsKnown reports whether nothing that bounds a claim is to be loaded.
func (u *UnitOfWork) boundsKnown() bool {
	for _, k := range []kind{Types.kind, Throttle.kind, Active.kind, OpenCounts.kind, Buckets.kind, Reservations.kind} {
		if t := u.tables[k]; t != nil && t.missing() > 0 {
			return false
		}
	}
	return true
}

// wantHeads asks for the heads of the order, if the claim takes any.
func wantHeads(u *UnitOfWork, c *rota.Claim) {
	if u.needsTime(c) || nodeReserved(u, c) {
		return
	}
	if q, some := headsQuery(u, c); some {
		wantOnce(&u.heads, &u.orders.Heads, q)
	}
}

// needsTime reports whether only the time, which is not known yet, decides if a
// direct run keeps this worker from claiming.
func (u *UnitOfWork) needsTime(c *rota.Claim) bool {
	r := u.activeReservation()
	return u.Now.IsZero() && r != nil && r.Node == c.Worker
}

// headsOf returns the heads of the dispatch order that the claim may take.
func (u *UnitOfWork) headsOf(c *rota.Claim) []rota.ID {
	if q, some := headsQuery(u, c); some {
		return queryOnce(&u.heads, &u.orders.Heads, q)
	}
	return nil
}

// headsQuery returns the query for the jobs that a claim may take, false if no
// job may start.
func headsQuery(u *UnitOfWork, c *rota.Claim) (Heads, bool) {
	types, capacity := capacityOf(u, distinct(c.Types), c.Limit)
	return Heads{
		Types: types, Capacity: capacity, Limit: c.Limit, Shared: globalCapacity(u, c.Limit), Bytes: rota.ClaimBytesMax,
	}, len(types) > 0
}

// jobsClaimedBefore returns the jobs that an earlier sending of the claim took.
func (u *UnitOfWork) jobsClaimedBefore(c *rota.Claim) []rota.ID {
	u.wantClaimedBefore(c)
	return queryOnce(&u.claimedBefore, &u.orders.ClaimedBefore, ClaimedBefore{Command: c.ID})
}

func (u *UnitOfWork) wantClaimedBefore(c *rota.Claim) {
	if !u.claimedBefore.queried {
		u.claims = append(u.claims, c.ID)
	}
	wantOnce(&u.claimedBefore, &u.orders.ClaimedBefore, ClaimedBefore{Command: c.ID})
}

// nodeReserved reports whether a direct run keeps this worker from claiming.
func nodeReserved(u *UnitOfWork, c *rota.Claim) bool {
	r := u.activeReservation()
	return r != nil && r.Node == c.Worker && r.ExpiresAt.After(u.Now)
}

// rejectHead takes a job that must not start out of the dispatch order: it ends the
// job if its group was ended, and holds it back if its key is at its limit. It
// reports whether it did; if not, it counts the start. started has the starts
// of this claim that the limits of keys count.
func rejectHead(u *UnitOfWork, c *rota.Claim, j *rota.Job, started map[OpenCount]int) bool {
	if groupEnding(u, j) {
		endMember(u, c, Groups.get(u, j.GroupID), j.ID)
		return true
	}
	limit, limited := u.limits().Key(j.ConcurrencyKey, j.Type)
	if !limited {
		return false
	}
	counted := OpenCount{Key: j.ConcurrencyKey, Type: limit.OfType}
	if OpenCounts.get(u, counted)+started[counted] >= limit.Concurrency {
		u.edit(j.ID).Hold = rota.HoldKey
		return true
	}
	started[counted]++
	return false
}

func startRun(u *UnitOfWork, c *rota.Claim, id rota.ID) *rota.Job {
	j := u.edit(id)
	j.Status = rota.StatusRunning
	j.StartedAt = u.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.ID, id), Runner: c.Worker, Incarnation: c.Incarnation, Token: c.TokenFor(id),
		StartedAt: u.Now, HeartbeatAt: u.Now, StaleAfter: micros(u.Now.Add(c.Lease)),
	}
	return j
}

// stillOpen returns the jobs whose leases are still held. A reply with the
// others would make them run twice.
func stillOpen(u *UnitOfWork, ids []rota.ID) []*rota.Job {
	jobs := make([]*rota.Job, 0, len(ids))
	for _, id := range ids {
		if j := u.job(id); j.Run != nil && j.Run.Open() {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func distinct(names []string) []string {
	if len(names) < 2 {
		return names
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
