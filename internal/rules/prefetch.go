package rules

import "github.com/rotajobs/rota"

// prefetch loads rows that the commonest commands are known to need, before
// they are decided: their rules would miss these rows one after the other. A
// row that it leaves out costs a round of loading, and nothing else. It returns
// the number of rounds.
//
// A remote store can return its time together with the first rows, so commands
// whose first rows do not depend on the time are prefetched without it.
func prefetch(tx Tx, at *batchTime, u *UnitOfWork, commands []rota.Command, valid []int) (rounds int, err error) {
	if len(valid) == 0 {
		return 0, nil
	}
	if !loadsWithoutTime(commands[valid[0]]) {
		if err := at.update(u); err != nil {
			return 0, err
		}
	}
	for ; rounds < roundsMax; rounds++ {
		for _, i := range valid {
			attempt(func() { want(u, commands[i]) })
		}
		attempt(func() { wantHeadsIfCached(tx, u, commands[len(commands)-1]) })
		if !u.misses() {
			break
		}
		if err := u.load(tx); err != nil {
			return rounds, err
		}
		if err := at.update(u); err != nil {
			return rounds, err
		}
	}
	return rounds, at.update(u)
}

// want asks for the rows that a command is known to need.
func want(u *UnitOfWork, c rota.Command) {
	switch c := c.(type) {
	case *rota.Enqueue:
		wantEnqueue(u, c)
	case *rota.Claim:
		wantClaim(u, c)
	case *rota.Finish:
		wantFinish(u, c)
	case *rota.Extend:
		Active.want(u, one)
		u.SkipLocked = true
		for i := range c.Items {
			u.leases.want(c.Items[i].JobID)
		}
	case *rota.Fire:
		Schedules.want(u, c.Schedule)
		if s, known := Schedules.peek(u, c.Schedule); known && s != nil {
			wantFire(u, c, s)
		}
	case *rota.Note:
		for i := range c.Items {
			u.leases.want(c.Items[i].JobID)
		}
	}
}

func wantEnqueue(u *UnitOfWork, c *rota.Enqueue) {
	for i, id := range u.jobIDs(c) {
		u.newJobs.want(id)
		wantNew(u, &c.Jobs[i])
	}
}

// wantNew asks for what a requested job is created from.
func wantNew(u *UnitOfWork, nj *rota.NewJob) {
	typ, key := nj.Type, or(nj.ConcurrencyKey, "")
	if nj.Template != "" {
		Templates.want(u, nj.Template)
		t, known := Templates.peek(u, nj.Template)
		if !known || t == nil {
			return
		}
		typ, key = t.Spec.Type, or(nj.ConcurrencyKey, t.Spec.ConcurrencyKey)
	}
	Types.want(u, typ)
	u.wantTail(priorityOf(u, nj))
	if key != "" {
		Throttle.want(u, one)
	}
	if nj.UniqueKey != "" {
		UniqueKeys.want(u, UniqueKey{typ, nj.UniqueKey})
	}
	if plan, planned := planOfNew(nj, typ); planned {
		Schedules.want(u, definitionName(nj, typ))
		Plans.want(u, plan)
	}
}

// wantTail asks for the end of a priority.
func (u *UnitOfWork) wantTail(priority int) {
	if _, known := u.tails[priority]; !known {
		Tails.want(u, Tail{Priority: priority, Count: tailCount})
	}
}

func wantFinish(u *UnitOfWork, c *rota.Finish) {
	Active.want(u, one)
	Throttle.want(u, one)
	for i := range c.Items {
		u.leases.want(c.Items[i].JobID)
	}
}
