package rules

import "github.com/rotajobs/rota"

// intentsMax is how many intents one Sweep reads.
const intentsMax = 100

func needSweep(n *Need, c *rota.Sweep) {
	limit := sweepLimit(c.Limit) + 1
	intents, _ := n.intents(Intents{Limit: intentsMax + 1})
	for _, i := range intents {
		switch i.Kind {
		case IntentGroup:
			needSweepGroup(n, i, limit)
		case IntentKey:
			if n.throttle(); !n.Throttle {
				n.unit.keyQueues.lookup(&n.KeyQueues, keyQueueToSweep(n.unit, i.Name, limit))
			}
		case IntentTemplate:
			n.template(i.Name)
			needUsing(n, i.Name, limit)
		case IntentDrop:
			needSweepDrop(n, i.Name, limit)
		}
	}
}

// keyQueueToSweep returns the query for as much of a key queue as a Sweep may
// change.
func keyQueueToSweep(u *UnitOfWork, key string, limit int) KeyQueue {
	queue := keyQueueQuery(u, key)
	queue.Limit = max(queue.Limit, limit)
	return queue
}

func needSweepGroup(n *Need, i Intent, limit int) {
	id, err := rota.ParseID(i.Name)
	if err != nil {
		return
	}
	g := n.group(id)
	switch {
	case g == nil:
	case g.Ending != "":
		needEndMembers(n, membersToEnd(g, limit))
	default:
		needEndMembers(n, nextMembers(id))
	}
}

// decideSweep executes intents one after the other until it has changed as many
// rows as it may.
func decideSweep(u *UnitOfWork, c *rota.Sweep) (rota.Reply, *rota.Error) {
	intents := u.pendingIntents.get(Intents{Limit: intentsMax + 1})
	reply := &rota.Swept{More: len(intents) > intentsMax}
	maxCount := sweepLimit(c.Limit)
	for _, i := range intents[:min(len(intents), intentsMax)] {
		if reply.Count >= maxCount {
			reply.More = true
			break
		}
		touched, done := executeIntent(u, c, i, maxCount-reply.Count, maxCount+1)
		reply.Count += touched
		if !done {
			reply.More = true
			continue
		}
		u.intents.set(u, i, nil)
	}
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
	if t := u.templates.get(i.Name); t == nil || t.State != rota.TemplateArchived {
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
	g := u.groups.get(id)
	switch {
	case g == nil:
		return 0, true
	case g.Ending == "":
		releaseNextMember(u, g)
		return 0, true
	}
	members := u.membersOf(membersToEnd(g, limit))
	for _, j := range members[:min(len(members), maxCount)] {
		endMember(u, c, g, j.ID)
	}
	return min(len(members), maxCount), len(members) <= maxCount
}
