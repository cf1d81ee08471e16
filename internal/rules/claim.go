package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func needClaim(n *Need, c *rota.Claim) {
	taken, known := n.claimedBefore(ClaimedBefore{Command: c.ID})
	wanted := distinct(c.Types)
	bounded := needCapacity(n, wanted)
	if !known || len(taken) > 0 || n.unit.claimRepeated || !bounded || n.unit.needsTime(c) || nodeReserved(n.unit, c) {
		return
	}
	types, capacity := capacityOf(n.unit, wanted, c.Limit)
	if len(types) == 0 {
		return
	}
	heads, _ := n.heads(Heads{
		Types: types, Capacity: capacity, Limit: c.Limit, Shared: globalCapacity(n.unit, c.Limit), Bytes: rota.ClaimBytesMax,
		AfterEnqueues: n.unit.afterEnqueues,
	})
	for _, id := range heads {
		needStart(n, n.unit.job(id))
	}
}

// needCapacity asks for what bounds the starts of some types, and reports whether
// it is known.
func needCapacity(n *Need, types []string) bool {
	_, known := n.active()
	n.unit.lockActive = true
	n.throttle()
	for _, t := range types {
		n.typ(t)
	}
	if !known {
		return false
	}
	limits := n.unit.limits()
	if limits.Global > 0 {
		_, counted := n.open(OpenCount{})
		known = known && counted
	}
	for _, t := range types {
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			_, counted := n.open(OpenCount{Type: t})
			known = known && counted
		}
		if limit.Rate.Count > 0 {
			known = known && n.unit.buckets.rows[t] != nil
			n.bucket(t)
		}
	}
	return known
}

// needStart asks for what may keep a head of the order from starting.
func needStart(n *Need, j *rota.Job) {
	if j.ConcurrencyKey != "" && limitedKey(n.unit, j.ConcurrencyKey) {
		n.open(OpenCount{Key: j.ConcurrencyKey})
	}
	if j.GroupID.IsZero() {
		return
	}
	if g := n.group(j.GroupID); g != nil && g.Ending != "" {
		needEnd(n, j, false)
	}
}

// capacityOf returns the types of which jobs may start, and how many of each,
// up to maxCount.
func capacityOf(u *UnitOfWork, wanted []string, maxCount int) (types []string, capacity []int) {
	limits, shared := u.limits(), globalCapacity(u, maxCount)
	for _, t := range wanted {
		if typ := u.types.get(t); typ != nil && typ.Paused {
			continue
		}
		free := shared
		if rota.InternalType(t) {
			free = maxCount
		}
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			free = min(free, limit.Concurrency-u.open.get(OpenCount{Type: t}))
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
		return min(maxCount, max(0, limit-u.open.get(OpenCount{})))
	}
	return maxCount
}

// bucketOf returns the bucket of a type at the current time.
func bucketOf(u *UnitOfWork, typ string, rate rota.Rate) rota.Bucket {
	b := rota.Bucket{Type: typ}
	if stored := u.buckets.get(typ); stored != nil {
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

// decideClaim dispatches the heads of the order: job and run change together.
// If an earlier sending of this command took jobs, it takes no others, so that
// there is no lease of which no worker knows.
//
// A job at the head that may not start is held back, or it would block the head
// for ever.
func decideClaim(u *UnitOfWork, c *rota.Claim) (rota.Reply, *rota.Error) {
	if len(u.claimedBefore.ids) > 0 || u.claimRepeated {
		return &rota.Claimed{Jobs: stillOpen(u, u.claimedBefore.ids), Again: true, Now: u.Now}, nil
	}
	if nodeReserved(u, c) {
		return &rota.Claimed{Jobs: []*rota.Job{}, Now: u.Now}, nil
	}
	heads := headsOf(u, c)
	reply := &rota.Claimed{Jobs: make([]*rota.Job, 0, min(len(heads), c.Limit)), More: u.moreHeads, Now: u.Now}
	byKey, byType := map[string]int{}, map[string]int{}
	for _, id := range heads {
		j := u.job(id)
		if !j.Ready() || !slices.Contains(c.Types, j.Type) || len(reply.Jobs) == c.Limit {
			continue
		}
		if rejectHead(u, c, j, byKey[j.ConcurrencyKey]) {
			reply.More = true
			continue
		}
		byKey[j.ConcurrencyKey]++
		byType[j.Type]++
		reply.Jobs = append(reply.Jobs, startRun(u, c, id))
	}
	countStarts(u, byType)
	reply.Next = nextCapacityAt(u, c.Types)
	return reply, nil
}

// rejectHead takes a job that must not start out of the dispatch order: it ends the
// job if its group was ended, and holds it back if its key is at its limit. It
// reports whether it did.
func rejectHead(u *UnitOfWork, c *rota.Claim, j *rota.Job, started int) bool {
	if g := u.groups.get(j.GroupID); !j.GroupID.IsZero() && g != nil && g.Ending != "" {
		endMember(u, c, g, j.ID)
		return true
	}
	if j.ConcurrencyKey == "" {
		return false
	}
	if limit, limited := u.limits().Key(j.ConcurrencyKey); limited {
		if u.open.get(OpenCount{Key: j.ConcurrencyKey})+started >= limit {
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
			u.buckets.set(u, limit.Type, &b)
		}
	}
}

// nextCapacityAt is when the first of the types that have used up their rate
// may start a job again.
func nextCapacityAt(u *UnitOfWork, types []string) (next time.Time) {
	for _, t := range types {
		rate := u.limits().Type(t).Rate
		if typ := u.types.get(t); rate.Count == 0 || typ != nil && typ.Paused {
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
