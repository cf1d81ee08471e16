package rules

import "github.com/rotajobs/rota"

// intentsMax is how many intents one Sweep reads.
const intentsMax = 100

// keyQueueToSweep returns the query for as much of a key queue as a Sweep may
// change.
func keyQueueToSweep(u *UnitOfWork, key string, limit int) KeyQueue {
	queue := keyQueueQuery(u, key)
	queue.Limit = max(queue.Limit, limit)
	return queue
}

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
		return balance(u, keyQueueToSweep(u, i.Name, limit), maxCount)
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
