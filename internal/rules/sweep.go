package rules

import "github.com/rotajobs/rota"

// intentsMax is how many intents one Sweep looks at.
const intentsMax = 100

func needSweep(n *Need, c *rota.Sweep) {
	limit := sweep(c.Limit) + 1
	intents, _ := n.intents(Intents{Limit: intentsMax + 1})
	for _, i := range intents {
		switch i.Kind {
		case IntentGroup:
			needSweepGroup(n, i, limit)
		case IntentKey:
			if n.throttle(); !n.Throttle {
				n.unit.lanes.ask(&n.KeyQueues, laneToSweep(n.unit, i.Name, limit))
			}
		case IntentTemplate:
			n.template(i.Name)
			needUsing(n, i.Name, limit)
		case IntentDrop:
			needSweepDrop(n, i.Name, limit)
		}
	}
}

// laneToSweep asks for as much of a lane as a Sweep may change.
func laneToSweep(w *UnitOfWork, key string, limit int) KeyQueue {
	lane := laneOf(w, key)
	lane.Limit = max(lane.Limit, limit)
	return lane
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
		needDoom(n, doomedMembers(g, limit))
	default:
		needDoom(n, nextMembers(id))
	}
}

// decideSweep carries out intents one after the other until it has touched as
// many rows as it may.
func decideSweep(w *UnitOfWork, c *rota.Sweep) (rota.Reply, *rota.Error) {
	intents := w.standingBy.get(Intents{Limit: intentsMax + 1})
	reply := &rota.Swept{More: len(intents) > intentsMax}
	most := sweep(c.Limit)
	for _, i := range intents[:min(len(intents), intentsMax)] {
		if reply.Count >= most {
			reply.More = true
			break
		}
		touched, done := carryOut(w, c, i, most-reply.Count, most+1)
		reply.Count += touched
		if !done {
			reply.More = true
			continue
		}
		w.intents.set(w, i, nil)
	}
	return reply, nil
}

// carryOut does what one intent asks for, for at most so many rows. Asked is the
// limit with which its rows were looked for.
func carryOut(w *UnitOfWork, c *rota.Sweep, i Intent, most, asked int) (touched int, done bool) {
	switch i.Kind {
	case IntentGroup:
		return sweepGroup(w, c, i, most, asked)
	case IntentKey:
		return balance(w, laneToSweep(w, i.Name, asked), most)
	case IntentDrop:
		return sweepDrop(w, c, i.Name, most, asked)
	}
	if t := w.templates.get(i.Name); t == nil || t.State != rota.TemplateArchived {
		return 0, true
	}
	users := w.usersOf(i.Name, asked)
	for _, s := range users[:min(len(users), most)] {
		disable(w, c, s, "template "+i.Name+" is archived")
	}
	return min(len(users), most), len(users) <= most
}

func sweepGroup(w *UnitOfWork, c *rota.Sweep, i Intent, most, asked int) (touched int, done bool) {
	id, err := rota.ParseID(i.Name)
	if err != nil {
		return 0, true
	}
	g := w.groups.get(id)
	switch {
	case g == nil:
		return 0, true
	case g.Ending == "":
		nextTurn(w, g)
		return 0, true
	}
	members := w.membersOf(doomedMembers(g, asked))
	for _, j := range members[:min(len(members), most)] {
		doom(w, c, g, j.ID)
	}
	return min(len(members), most), len(members) <= most
}
