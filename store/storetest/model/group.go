package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

func (s *step) enqueueGroup(c *rota.EnqueueGroup) (rota.Reply, *rota.Error) {
	if g := s.group(c.GroupID()); g != nil {
		return &rota.GroupEnqueued{Group: g, Jobs: s.members(g, func(j *rota.Job) bool { return j.Attempt == 1 })}, nil
	}
	for i := range c.Jobs {
		if s.find(c.JobID(i)) != nil {
			return nil, s.refuse(rota.Conflict, fmt.Sprintf("jobs[%d].id", i), "another job has this id")
		}
	}
	g := &rota.Group{
		ID: c.GroupID(), Name: c.Name, Mode: cmp.Or(c.Mode, rota.GroupParallel),
		OnFailure: cmp.Or(c.OnFailure, rota.FailureContinue), Size: len(c.Jobs), CreatedBy: c.Actor, CreatedAt: s.now,
	}
	reply := &rota.GroupEnqueued{Group: g}
	for i := range c.Jobs {
		j, err := s.enqueueMember(c, g, i)
		if err != nil {
			return nil, err
		}
		reply.Jobs = append(reply.Jobs, j)
	}
	s.groups = append(s.groups, g)
	return reply, nil
}

func (s *step) enqueueMember(c *rota.EnqueueGroup, g *rota.Group, i int) (*rota.Job, *rota.Error) {
	field := fmt.Sprintf("jobs[%d]", i)
	j, err := s.draft(&c.Jobs[i], c.JobID(i), field)
	if err != nil {
		return nil, err
	}
	if s.holder(j.Type, j.UniqueKey) != nil {
		return nil, s.refuse(rota.Conflict, field+".unique_key", "another job holds this key")
	}
	j.GroupID, j.GroupPosition = g.ID, i+1
	if g.Mode == rota.GroupSequential && i > 0 {
		j.Hold = rota.HoldGroup
	}
	s.enterQueue(j)
	s.holdKey(j)
	return j, nil
}

func (s *step) cancelGroup(c *rota.CancelGroup) (rota.Reply, *rota.Error) {
	g := s.group(c.GroupID)
	switch {
	case g == nil:
		return nil, s.refuse(rota.NotFound, "group_id", "there is no group %s", c.GroupID)
	case s.auditedSubject(groupSubject(g.ID)) || g.Ending == rota.EndingCancel:
		return &rota.CancelledGroup{Group: g}, nil
	case len(s.members(g, live)) == 0:
		return nil, s.refuse(rota.Conflict, "group_id", "group %s has ended", g.ID)
	}
	g.Ending, g.EndingReason, g.EndingBy = rota.EndingCancel, c.Reason, c.Actor
	s.auditSubject(rota.AuditGroupCancelled, groupSubject(g.ID), c.Reason, nil)
	reply := &rota.CancelledGroup{Group: g}
	for _, j := range s.endMembers(g) {
		if j.Status == rota.StatusRunning {
			reply.Stopping++
		} else {
			reply.Cancelled++
		}
	}
	reply.More = s.intents[intent{"group", g.ID.String()}]
	return reply, nil
}

// afterMemberEnd applies the effects of the end of a member: a dead one may end the others, and
// in a sequential group the next gets the turn.
func (s *step) afterMemberEnd(j *rota.Job) {
	g := s.group(j.GroupID)
	if g == nil || g.Ending != "" {
		return
	}
	if j.Sequel == rota.SequelDead && g.OnFailure != rota.FailureContinue {
		g.Ending = rota.EndingStop
		if g.OnFailure == rota.FailureSkip {
			g.Ending = rota.EndingSkip
		}
		g.EndingReason, g.EndingBy = "a member died: job "+j.ID.String(), s.actor()
		s.endMembers(g)
		return
	}
	if g.Mode != rota.GroupSequential {
		return
	}
	if next := s.members(g, live); len(next) > 0 && next[0].Status == rota.StatusQueued && next[0].Hold&rota.HoldGroup != 0 {
		s.releaseHold(next[0], rota.HoldGroup)
	}
}

// endMembers ends the members of an ended group, as many as one command may end. A Sweep does
// the rest.
func (s *step) endMembers(g *rota.Group) []*rota.Job {
	members, more := page(s.membersToEnd(g), rota.MembersMax)
	for _, j := range members {
		s.endMember(g, j)
	}
	if more {
		s.intents[intent{"group", g.ID.String()}] = true
	}
	return members
}

// membersToEnd returns the members that are still to be ended: those that have not started and,
// if the group was cancelled, those that run and were not asked to stop.
func (s *step) membersToEnd(g *rota.Group) []*rota.Job {
	return s.members(g, func(j *rota.Job) bool {
		unasked := leased(j) && j.Run.CancelAt.IsZero()
		return live(j) && (j.Status == rota.StatusQueued || g.Ending == rota.EndingCancel && unasked)
	})
}

func (s *step) endMember(g *rota.Group, j *rota.Job) {
	switch {
	case j.Status == rota.StatusRunning:
		if s.askToStop(j, g.EndingBy, g.EndingReason) {
			s.auditJobAs(g.EndingBy, rota.AuditJobStopping, j, g.EndingReason, nil)
		}
	case g.Ending == rota.EndingSkip:
		s.skip(j, rota.CodeGroup, "skipped: "+g.EndingReason)
	default:
		s.cancelQueued(j)
		s.auditJobAs(g.EndingBy, rota.AuditJobCancelled, j, g.EndingReason, nil)
	}
}

// members returns the matching jobs of a group, in their order.
func (s *step) members(g *rota.Group, cond func(*rota.Job) bool) []*rota.Job {
	jobs := s.sorted(func(j *rota.Job) bool { return j.GroupID == g.ID && cond(j) })
	slices.SortStableFunc(jobs, func(a, b *rota.Job) int { return a.GroupPosition - b.GroupPosition })
	return jobs
}
