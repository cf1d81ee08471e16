package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// decideEnqueueGroup enqueues the members of a group. In a sequential group all
// but the first wait for the member before them.
func decideEnqueueGroup(u *UnitOfWork, c *rota.EnqueueGroup) (rota.Reply, *rota.Error) {
	for i := range c.Jobs {
		u.fullJobs.want(c.JobID(i))
		wantNew(u, &c.Jobs[i])
	}
	if g := Groups.get(u, c.GroupID()); g != nil {
		reply := &rota.GroupEnqueued{Group: g}
		for _, id := range GroupMembers.get(u, GroupMembersQuery{Group: g.ID, Kind: MembersFirst, Limit: rota.JobsMax}) {
			reply.Jobs = append(reply.Jobs, withoutToken(u.job(id)))
		}
		return reply, nil
	}
	g := &rota.Group{
		ID: c.GroupID(), Name: c.Name, Mode: c.Mode, OnFailure: c.OnFailure, Size: len(c.Jobs),
		CreatedBy: c.Actor, CreatedAt: u.Now,
	}
	if g.Mode == "" {
		g.Mode = rota.GroupParallel
	}
	if g.OnFailure == "" {
		g.OnFailure = rota.FailureContinue
	}
	taken := -1
	u.each(len(c.Jobs), func(i int) {
		if u.job(c.JobID(i)) != nil && taken < 0 {
			taken = i
		}
	})
	if taken >= 0 {
		return nil, prefixField(fmt.Sprintf("jobs[%d]", taken), idTaken("id", c.JobID(taken)))
	}
	Groups.set(u, g.ID, g)
	reply := &rota.GroupEnqueued{Group: g, Jobs: make([]*rota.Job, len(c.Jobs))}
	var refusal *rota.Error
	u.each(len(c.Jobs), func(i int) {
		j, refused := enqueueMember(u, c, g, i)
		if refused != nil && refusal == nil {
			refusal = prefixField(fmt.Sprintf("jobs[%d]", i), refused)
		}
		reply.Jobs[i] = j
	})
	if refusal != nil {
		return nil, refusal
	}
	return reply, nil
}

func enqueueMember(u *UnitOfWork, c *rota.EnqueueGroup, g *rota.Group, i int) (*rota.Job, *rota.Error) {
	nj, id := &c.Jobs[i], c.JobID(i)
	if refusal := mayUse(u, nj); refusal != nil {
		return nil, refusal
	}
	if holder := keyHolder(u, typeOf(u, nj), nj.UniqueKey); holder != nil {
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "unique_key", Reason: "is held by job " + holder.ID.String(),
			Hint: "remove this member, or its unique key",
		}
	}
	j := newJob(u, c.Actor, nj, id)
	j.GroupID, j.GroupPosition = g.ID, i+1
	hold := rota.Hold(0)
	if g.Mode == rota.GroupSequential && i > 0 {
		hold = rota.HoldGroup
	}
	enterQueue(u, j, hold)
	u.insert(j)
	holdKey(u, j)
	return j, nil
}

// mayHaveMore reports whether there may be more members than were loaded: the
// store returned as many as were queried, or this transaction has added
// members.
func (u *UnitOfWork) mayHaveMore(q GroupMembersQuery) bool {
	return len(GroupMembers.get(u, q)) >= q.Limit || len(u.membersOf(q)) >= q.Limit
}

// nextMembers returns the query for the members that may be next.
func nextMembers(group rota.ID) GroupMembersQuery {
	return GroupMembersQuery{Group: group, Kind: MembersLive, Limit: rota.MembersMax + 1}
}

// afterMemberEnd continues a group when the execution of a member has ended:
// after a death as the policy of the group states, otherwise with the next
// member.
func afterMemberEnd(u *UnitOfWork, c rota.Command, j *rota.Job) {
	g := Groups.get(u, j.GroupID)
	if g == nil || g.Ending != "" {
		return
	}
	if j.Sequel == rota.SequelDead && g.OnFailure != rota.FailureContinue {
		ending := rota.EndingStop
		if g.OnFailure == rota.FailureSkip {
			ending = rota.EndingSkip
		}
		g = endGroup(u, g, ending, "a member died: job "+j.ID.String(), actorOf(c))
		endMembers(u, c, g, GroupMembersQuery{Group: g.ID, Kind: MembersQueued, Limit: rota.MembersMax + 1})
		return
	}
	if g.Mode == rota.GroupSequential {
		releaseNextMember(u, g)
	}
}

// releaseNextMember releases the first member that has not ended. If all loaded
// members have ended in this transaction, a Sweep continues.
func releaseNextMember(u *UnitOfWork, g *rota.Group) {
	q := nextMembers(g.ID)
	if live := u.membersOf(q); len(live) > 0 {
		if live[0].Hold&rota.HoldGroup != 0 {
			releaseHold(u, live[0].ID, rota.HoldGroup)
		}
		return
	}
	if u.mayHaveMore(q) {
		u.addIntent(IntentGroup, g.ID.String())
	}
}

// membersOf returns the queried members as decided, by position.
func (u *UnitOfWork) membersOf(q GroupMembersQuery) (live []*rota.Job) {
	for _, id := range slices.Concat(GroupMembers.get(u, q), u.createdByGroup[q.Group]) {
		j := u.job(u.tailOfChain(id))
		if j != nil && q.picks(j) && !slices.Contains(live, j) {
			live = append(live, j)
		}
	}
	slices.SortStableFunc(live, func(a, b *rota.Job) int { return cmp.Compare(a.GroupPosition, b.GroupPosition) })
	return live[:min(len(live), q.Limit)]
}

func (q GroupMembersQuery) picks(j *rota.Job) bool {
	switch {
	case j.Sequel != "":
		return false
	case j.Status == rota.StatusQueued || q.Kind == MembersLive:
		return true
	}
	return q.Kind == MembersEnding && j.Run != nil && j.Run.Open() && j.Run.CancelAt.IsZero()
}

func endGroup(u *UnitOfWork, g *rota.Group, ending rota.Ending, reason, by string) *rota.Group {
	changed := *g
	changed.Ending, changed.EndingReason, changed.EndingBy = ending, reason, by
	Groups.set(u, g.ID, &changed)
	return &changed
}

// endMembers ends the loaded members except the one beyond the limit, which
// shows that a Sweep has to continue.
func endMembers(u *UnitOfWork, c rota.Command, g *rota.Group, q GroupMembersQuery) (cancelled, stopping int, more bool) {
	members := u.membersOf(q)
	more = u.mayHaveMore(q)
	u.each(min(len(members), q.Limit-1), func(i int) {
		switch endMember(u, c, g, members[i].ID) {
		case memberDequeued:
			cancelled++
		case memberStopping:
			stopping++
		}
	})
	if more {
		u.addIntent(IntentGroup, g.ID.String())
	}
	return cancelled, stopping, more
}

// memberEnd is what the end of a group did to a member.
type memberEnd uint8

const (
	memberUnchanged memberEnd = iota
	memberDequeued
	memberStopping
)

// endMember ends a member that has not started, or asks one that runs to stop,
// as its group was ended.
func endMember(u *UnitOfWork, c rota.Command, g *rota.Group, id rota.ID) memberEnd {
	j := u.job(id)
	switch {
	case j == nil || j.Sequel != "":
		return memberUnchanged
	case j.Status == rota.StatusQueued && g.Ending == rota.EndingSkip:
		skipJob(u, c, id, rota.CodeGroup, "skipped: "+g.EndingReason, false)
		return memberDequeued
	case j.Status == rota.StatusQueued:
		j = cancelJob(u, c, id, false)
		u.auditJobAs(c, g.EndingBy, rota.AuditJobCancelled, j, g.EndingReason, nil)
		return memberDequeued
	case g.Ending == rota.EndingCancel && stopRun(u, id, g.EndingBy, g.EndingReason):
		u.auditJobAs(c, g.EndingBy, rota.AuditJobStopping, u.job(id), g.EndingReason, nil)
		return memberStopping
	}
	return memberUnchanged
}

// membersToEnd returns the query for the members that the end of the group
// concerns.
func membersToEnd(g *rota.Group, limit int) GroupMembersQuery {
	which := MembersQueued
	if g.Ending == rota.EndingCancel {
		which = MembersEnding
	}
	return GroupMembersQuery{Group: g.ID, Kind: which, Limit: limit}
}

func GroupSubject(id rota.ID) string { return "group " + id.String() }

// decideCancelGroup records that the group is cancelled, which takes effect at
// once, and cancels the first members. A Sweep cancels the rest.
func decideCancelGroup(u *UnitOfWork, c *rota.CancelGroup) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, GroupSubject(c.GroupID))
	GroupMembers.want(u, nextMembers(c.GroupID))
	GroupMembers.want(u, GroupMembersQuery{Group: c.GroupID, Kind: MembersEnding, Limit: rota.MembersMax + 1})
	g := Groups.get(u, c.GroupID)
	switch {
	case g == nil:
		return nil, &rota.Error{
			Code: rota.NotFound, Field: "group_id", Reason: "there is no group " + c.GroupID.String(),
			Hint: "check the id; the group may have been pruned; rota group list shows the groups",
		}
	case u.auditedSubject(c, GroupSubject(g.ID)) || g.Ending == rota.EndingCancel:
		return &rota.CancelledGroup{Group: g}, nil
	case len(u.membersOf(nextMembers(g.ID))) == 0 && !u.mayHaveMore(nextMembers(g.ID)):
		return nil, &rota.Error{Code: rota.Conflict, Field: "group_id", Reason: "group " + g.ID.String() + " has ended", Hint: "no member is left to cancel"}
	}
	g = endGroup(u, g, rota.EndingCancel, c.Reason, c.Actor)
	u.auditSubject(c, rota.AuditGroupCancelled, GroupSubject(g.ID), c.Reason, nil)
	reply := &rota.CancelledGroup{Group: g}
	reply.Cancelled, reply.Stopping, reply.More = endMembers(u, c, g, GroupMembersQuery{Group: g.ID, Kind: MembersEnding, Limit: rota.MembersMax + 1})
	return reply, nil
}
