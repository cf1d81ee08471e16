package rules

import "github.com/rotajobs/rota"

// intentsMax is how many intents one Sweep reads.
const intentsMax = 100

// decideSweep executes intents one after the other until it has changed as many
// rows as it may.
func decideSweep(u *UnitOfWork, c *rota.Sweep) (rota.Reply, *rota.Error) {
	intents := PendingIntents.get(u, PendingIntentsQuery{Limit: intentsMax + 1})
	reply := &rota.Swept{More: len(intents) > intentsMax}
	maxCount := sweepLimit(c.Limit)
	u.each(min(len(intents), intentsMax), func(i int) {
		if reply.Count >= maxCount {
			reply.More = true
			return
		}
		touched, done := executeIntent(u, c, intents[i], maxCount-reply.Count, maxCount+1)
		reply.Count += touched
		if !done {
			reply.More = true
			return
		}
		IntentRecords.set(u, intents[i], nil)
	})
	return reply, nil
}

// executeIntent executes one intent for at most maxCount rows. limit is the limit
// with which its rows were queried.
func executeIntent(u *UnitOfWork, c *rota.Sweep, i Intent, maxCount, limit int) (touched int, done bool) {
	switch i.Kind {
	case IntentGroup:
		return sweepGroup(u, c, i, maxCount, limit)
	case IntentKey:
		return sweepKey(u, i.Name, maxCount, limit)
	case IntentKeys:
		return sweepKeys(u, i, maxCount, limit)
	case IntentDrop:
		return sweepDrop(u, c, i.Name, maxCount, limit)
	}
	if t := Templates.get(u, i.Name); t == nil || t.State != rota.TemplateArchived {
		return 0, true
	}
	users := u.usersOf(i.Name, limit)
	for _, s := range users[:min(len(users), maxCount)] {
		disable(u, c, s, "template "+i.Name+" is archived")
	}
	return min(len(users), maxCount), len(users) <= maxCount
}

// sweepKey balances the queues of a key.
func sweepKey(u *UnitOfWork, key string, maxCount, limit int) (touched int, done bool) {
	types := []string{""}
	if limitsTypesApart(u, key) {
		types = KeyTypes.get(u, KeyTypesQuery{Key: key})
	}
	done = true
	u.each(len(types), func(i int) {
		queue := keyQueueOf(u, key, types[i])
		queue.Limit = max(queue.Limit, limit)
		n, balanced := balance(u, queue, maxCount-touched)
		touched, done = touched+n, done && balanced
	})
	return touched, done
}

// sweepKeys balances the queues of the next keys. It stops at a key that it
// cannot finish, and replaces the intent by one for the keys after the last
// that it has balanced.
func sweepKeys(u *UnitOfWork, i Intent, maxCount, limit int) (touched int, done bool) {
	Throttle.want(u, one) // under its lock, no change of the limits adds this intent while it is removed
	keys := LiveKeys.get(u, LiveKeysQuery{After: i.Name, Limit: rota.SweepKeysMax + 1})
	last, done := i.Name, true
	u.each(min(len(keys), rota.SweepKeysMax), func(i int) {
		if !done {
			return
		}
		var n int
		if n, done = sweepKey(u, keys[i], maxCount-touched, limit); done {
			last = keys[i]
		}
		touched += n
	})
	if done && len(keys) <= rota.SweepKeysMax {
		return touched, true
	}
	if last != i.Name {
		IntentRecords.set(u, i, nil)
		u.addIntent(IntentKeys, last)
	}
	return touched, false
}

func sweepGroup(u *UnitOfWork, c *rota.Sweep, i Intent, maxCount, limit int) (touched int, done bool) {
	id, err := rota.ParseID(i.Name)
	if err != nil {
		return 0, true
	}
	g := Groups.get(u, id)
	switch {
	case g == nil:
		return 0, true
	case g.Ending == "":
		releaseNextMember(u, g)
		return 0, true
	}
	members := u.membersOf(membersToEnd(g, limit))
	u.each(min(len(members), maxCount), func(i int) { endMember(u, c, g, members[i].ID) })
	return min(len(members), maxCount), len(members) <= maxCount
}
