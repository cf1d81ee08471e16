package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func needClaim(n *Need, c *rota.Claim) {
	taken, known := n.taken(ClaimedBefore{Command: c.ID})
	lanes := distinct(c.Types)
	bounded := needRooms(n, lanes)
	if !known || len(taken) > 0 || n.unit.took || !bounded || n.unit.timeless(c) || heldBack(n.unit, c) {
		return
	}
	types, rooms := roomsOf(n.unit, lanes, c.Limit)
	if len(types) == 0 {
		return
	}
	heads, _ := n.heads(Heads{
		Types: types, Capacity: rooms, Limit: c.Limit, Shared: globalRoom(n.unit, c.Limit), Bytes: rota.ClaimBytesMax,
		AfterEnqueues: n.unit.joint,
	})
	for _, id := range heads {
		needStart(n, n.unit.job(id))
	}
}

// needRooms asks for what bounds the starts of some types, and reports whether
// it is known.
func needRooms(n *Need, types []string) bool {
	_, known := n.active()
	n.unit.activeBinds = true
	n.throttle()
	for _, t := range types {
		n.typ(t)
	}
	if !known {
		return false
	}
	limits := n.unit.limits()
	if limits.Global > 0 {
		_, counted := n.open(Open{})
		known = known && counted
	}
	for _, t := range types {
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			_, counted := n.open(Open{Type: t})
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
		n.open(Open{Key: j.ConcurrencyKey})
	}
	if j.GroupID.IsZero() {
		return
	}
	if g := n.group(j.GroupID); g != nil && g.Ending != "" {
		needEnd(n, j, false)
	}
}

// roomsOf are the types of which something may start, and how much of each, up to
// a number.
func roomsOf(w *UnitOfWork, lanes []string, most int) (types []string, rooms []int) {
	limits, shared := w.limits(), globalRoom(w, most)
	for _, t := range lanes {
		if typ := w.types.get(t); typ != nil && typ.Paused {
			continue
		}
		room := shared
		if rota.InternalType(t) {
			room = most
		}
		limit := limits.Type(t)
		if limit.Concurrency > 0 {
			room = min(room, limit.Concurrency-w.open.get(Open{Type: t}))
		}
		if limit.Rate.Count > 0 {
			room = min(room, bucketOf(w, t, limit.Rate).Room(limit.Rate))
		}
		if room > 0 {
			types, rooms = append(types, t), append(rooms, room)
		}
	}
	return types, rooms
}

// globalRoom is how many jobs the limit of all lets start, up to a number. Those
// of Rota's own it neither counts nor holds back.
func globalRoom(w *UnitOfWork, most int) int {
	if limit := w.limits().Global; limit > 0 {
		return min(most, max(0, limit-w.open.get(Open{})))
	}
	return most
}

// bucketOf is the bucket of a type as it stands now.
func bucketOf(w *UnitOfWork, typ string, rate rota.Rate) rota.Bucket {
	b := rota.Bucket{Type: typ}
	if kept := w.buckets.get(typ); kept != nil {
		b = *kept
	}
	return b.At(rate, w.Now)
}

// heldBack says whether a direct run keeps this worker from claiming.
func heldBack(w *UnitOfWork, c *rota.Claim) bool {
	r := w.activeReservation()
	return r != nil && r.Node == c.Worker && r.ExpiresAt.After(w.Now)
}

// timeless says that only the time tells whether a direct run keeps this worker
// from claiming, and that it is not known yet.
func (w *UnitOfWork) timeless(c *rota.Claim) bool {
	r := w.activeReservation()
	return w.Now.IsZero() && r != nil && r.Node == c.Worker
}

// decideClaim dispatches the head of the order: job and run change in one
// step. If this very command took jobs when it was sent before, it takes no
// others, so that no lease is taken that nobody knows of.
//
// What stands in the order and yet may not start is put aside, or it would stand
// at the head for ever.
func decideClaim(w *UnitOfWork, c *rota.Claim) (rota.Reply, *rota.Error) {
	if len(w.taken.ids) > 0 || w.took {
		return &rota.Claimed{Jobs: stillOpen(w, w.taken.ids), Again: true, Now: w.Now}, nil
	}
	if heldBack(w, c) {
		return &rota.Claimed{Jobs: []*rota.Job{}, Now: w.Now}, nil
	}
	heads := headsOf(w, c)
	reply := &rota.Claimed{Jobs: make([]*rota.Job, 0, min(len(heads), c.Limit)), More: w.moreHeads, Now: w.Now}
	byKey, byType := map[string]int{}, map[string]int{}
	for _, id := range heads {
		j := w.job(id)
		if !j.Ready() || !slices.Contains(c.Types, j.Type) || len(reply.Jobs) == c.Limit {
			continue
		}
		if putAside(w, c, j, byKey[j.ConcurrencyKey]) {
			reply.More = true
			continue
		}
		byKey[j.ConcurrencyKey]++
		byType[j.Type]++
		reply.Jobs = append(reply.Jobs, dispatch(w, c, id))
	}
	spend(w, byType)
	reply.Next = roomAgain(w, c.Types)
	return reply, nil
}

// putAside takes a job out of the order that must not start: its group was
// ended, or its key is at its limit.
func putAside(w *UnitOfWork, c *rota.Claim, j *rota.Job, started int) bool {
	if g := w.groups.get(j.GroupID); !j.GroupID.IsZero() && g != nil && g.Ending != "" {
		doom(w, c, g, j.ID)
		return true
	}
	if j.ConcurrencyKey == "" {
		return false
	}
	if limit, limited := w.limits().Key(j.ConcurrencyKey); limited {
		if w.open.get(Open{Key: j.ConcurrencyKey})+started >= limit {
			w.edit(j.ID).Hold = rota.HoldKey
			return true
		}
	}
	return false
}

// spend notes down what was started of the types that have a rate.
func spend(w *UnitOfWork, started map[string]int) {
	for _, limit := range w.limits().Types {
		if n := started[limit.Type]; n > 0 && limit.Rate.Count > 0 {
			b := bucketOf(w, limit.Type, limit.Rate)
			b.Starts[0] += n
			w.buckets.set(w, limit.Type, &b)
		}
	}
}

// roomAgain is when the first of the types that have used up their rate has
// room again.
func roomAgain(w *UnitOfWork, types []string) (next time.Time) {
	for _, t := range types {
		rate := w.limits().Type(t).Rate
		if typ := w.types.get(t); rate.Count == 0 || typ != nil && typ.Paused {
			continue
		}
		b := bucketOf(w, t, rate)
		if b.Room(rate) > 0 {
			continue
		}
		if at := b.RoomAt(rate); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

func dispatch(w *UnitOfWork, c *rota.Claim, id rota.ID) *rota.Job {
	j := w.depart(id)
	j.Status = rota.StatusRunning
	j.StartedAt = w.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.ID, id), Runner: c.Worker, Incarnation: c.Incarnation, Token: c.TokenFor(id),
		StartedAt: w.Now, HeartbeatAt: w.Now, StaleAfter: micros(w.Now.Add(c.Lease)),
	}
	return j
}

// stillOpen are those of the jobs whose leases are good: to answer with the
// others would have them run twice.
func stillOpen(w *UnitOfWork, ids []rota.ID) []*rota.Job {
	jobs := make([]*rota.Job, 0, len(ids))
	for _, id := range ids {
		if j := w.job(id); j.Run != nil && j.Run.Open() {
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
