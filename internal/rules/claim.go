package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// wantCapacity asks for what bounds the starts of some types. What the limits
// count is known only with the limits themselves.
func (u *UnitOfWork) wantCapacity(types []string) {
	Active.want(u, one)
	Throttle.want(u, one)
	for _, t := range types {
		Types.want(u, t)
	}
	if _, known := Throttle.peek(u, one); !known {
		return
	}
	limits := u.limits()
	if limits.Global > 0 {
		OpenCounts.want(u, OpenCount{})
	}
	for _, t := range types {
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			OpenCounts.want(u, OpenCount{Type: t})
		}
		if limit.Rate.Count > 0 {
			Buckets.want(u, t)
		}
	}
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

// headsQuery returns the query for the jobs that a claim may take, false if no
// job may start.
func headsQuery(u *UnitOfWork, c *rota.Claim) (Heads, bool) {
	types, capacity := capacityOf(u, distinct(c.Types), c.Limit)
	return Heads{
		Types: types, Capacity: capacity, Limit: c.Limit, Shared: globalCapacity(u, c.Limit), Bytes: rota.ClaimBytesMax,
		AfterEnqueues: u.afterEnqueues,
	}, len(types) > 0
}

// capacityOf returns the types of which jobs may start, and how many of each,
// up to maxCount.
func capacityOf(u *UnitOfWork, wanted []string, maxCount int) (types []string, capacity []int) {
	limits, shared := u.limits(), globalCapacity(u, maxCount)
	for _, t := range wanted {
		if typ := Types.get(u, t); typ != nil && typ.Paused {
			continue
		}
		free := shared
		if rota.InternalType(t) {
			free = maxCount
		}
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			free = min(free, limit.Concurrency-OpenCounts.get(u, OpenCount{Type: t}))
		}
		if limit.Rate.Count > 0 {
			free = min(free, bucketOf(u, t, limit.Rate).Available(limit.Rate))
		}
		if free > 0 {
			types, capacity = append(types, t), append(capacity, free)
		}
	}
	return types, capacity
}

// globalCapacity is how many jobs the global limit lets start, up to maxCount. The
// limit neither counts nor holds back jobs of internal types.
func globalCapacity(u *UnitOfWork, maxCount int) int {
	if limit := u.limits().Global; limit > 0 {
		return min(maxCount, max(0, limit-OpenCounts.get(u, OpenCount{})))
	}
	return maxCount
}

// bucketOf returns the bucket of a type at the current time.
func bucketOf(u *UnitOfWork, typ string, rate rota.Rate) rota.Bucket {
	b := rota.Bucket{Type: typ}
	if stored := Buckets.get(u, typ); stored != nil {
		b = *stored
	}
	return b.At(rate, u.Now)
}

// nodeReserved reports whether a direct run keeps this worker from claiming.
func nodeReserved(u *UnitOfWork, c *rota.Claim) bool {
	r := u.activeReservation()
	return r != nil && r.Node == c.Worker && r.ExpiresAt.After(u.Now)
}

// needsTime reports whether only the time, which is not known yet, decides if a
// direct run keeps this worker from claiming.
func (u *UnitOfWork) needsTime(c *rota.Claim) bool {
	r := u.activeReservation()
	return u.Now.IsZero() && r != nil && r.Node == c.Worker
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

// decideClaim dispatches the heads of the order: job and run change together.
// If an earlier sending of this command took jobs, it takes no others, so that
// there is no lease of which no worker knows.
//
// A job at the head that may not start is held back, or it would block the head
// for ever.
func decideClaim(u *UnitOfWork, c *rota.Claim) (rota.Reply, *rota.Error) {
	u.wantCapacity(c.Types)
	u.lockActive = true
	if taken := u.jobsClaimedBefore(c); len(taken) > 0 || u.claimRepeated {
		return &rota.Claimed{Jobs: stillOpen(u, taken), Again: true, Now: u.Now}, nil
	}
	if nodeReserved(u, c) {
		return &rota.Claimed{Jobs: []*rota.Job{}, Now: u.Now}, nil
	}
	heads := headsOf(u, c)
	reply := &rota.Claimed{Jobs: make([]*rota.Job, 0, min(len(heads), c.Limit)), More: u.moreHeads, Now: u.Now}
	byKey, byType := map[string]int{}, map[string]int{}
	u.each(len(heads), func(i int) {
		j := u.job(heads[i])
		if !j.Ready() || !slices.Contains(c.Types, j.Type) || len(reply.Jobs) == c.Limit {
			return
		}
		if rejectHead(u, c, j, byKey[j.ConcurrencyKey]) {
			reply.More = true
			return
		}
		byKey[j.ConcurrencyKey]++
		byType[j.Type]++
		reply.Jobs = append(reply.Jobs, startRun(u, c, j.ID))
	})
	countStarts(u, byType)
	reply.Next = nextCapacityAt(u, c.Types)
	return reply, nil
}

// rejectHead takes a job that must not start out of the dispatch order: it ends the
// job if its group was ended, and holds it back if its key is at its limit. It
// reports whether it did.
func rejectHead(u *UnitOfWork, c *rota.Claim, j *rota.Job, started int) bool {
	if groupEnding(u, j) {
		endMember(u, c, Groups.get(u, j.GroupID), j.ID)
		return true
	}
	if j.ConcurrencyKey == "" {
		return false
	}
	if limit, limited := u.limits().Key(j.ConcurrencyKey); limited {
		if OpenCounts.get(u, OpenCount{Key: j.ConcurrencyKey})+started >= limit {
			u.edit(j.ID).Hold = rota.HoldKey
			return true
		}
	}
	return false
}

// countStarts records the starts of types that have a rate.
func countStarts(u *UnitOfWork, started map[string]int) {
	for _, limit := range u.limits().Types {
		if n := started[limit.Type]; n > 0 && limit.Rate.Count > 0 {
			b := bucketOf(u, limit.Type, limit.Rate)
			b.Starts[0] += n
			Buckets.set(u, limit.Type, &b)
		}
	}
}

// nextCapacityAt is when the first of the types that have used up their rate
// may start a job again.
func nextCapacityAt(u *UnitOfWork, types []string) (next time.Time) {
	for _, t := range types {
		rate := u.limits().Type(t).Rate
		if typ := Types.get(u, t); rate.Count == 0 || typ != nil && typ.Paused {
			continue
		}
		b := bucketOf(u, t, rate)
		if b.Available(rate) > 0 {
			continue
		}
		if at := b.AvailableAt(rate); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

func startRun(u *UnitOfWork, c *rota.Claim, id rota.ID) *rota.Job {
	j := u.editLeavingQueue(id)
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
