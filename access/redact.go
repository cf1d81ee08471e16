package access

import (
	"context"

	"github.com/rotajobs/rota"
)

// hideCredentials removes verifiers and hashes from a reply. They never leave the store, not even for an administrator.
func hideCredentials(reply rota.Reply) {
	switch reply := reply.(type) {
	case *rota.AllDone:
		for _, member := range reply.Replies {
			hideCredentials(member)
		}
	case *rota.PrincipalPut:
		if reply.Principal != nil {
			reply.Principal = withoutVerifier(reply.Principal)
		}
	case *rota.Granted:
		for i := range reply.Principals {
			reply.Principals[i] = withoutVerifier(reply.Principals[i])
		}
	case *rota.TokenPut:
		if reply.Token != nil {
			reply.Token = withoutHash(reply.Token)
		}
	case *rota.TokenRevoked:
		reply.Token = withoutHash(reply.Token)
	}
}

// redactReply hides what the identity may not see in a reply. A caller who may only execute a job gets its id and state. An
// owner that grants privileges learns nothing else about the user that gets them. A command that is sent again may find a
// definition that another user has created meanwhile, which is NotFound.
func (r *reader) redactReply(ctx context.Context, reply rota.Reply) error {
	switch reply := reply.(type) {
	case *rota.Granted:
		for i, p := range reply.Principals {
			if !r.seesEverything() && !r.isSelf(p.Name) {
				reply.Principals[i] = &rota.Principal{Name: p.Name, Kind: p.Kind}
			}
		}
	case *rota.TemplatePut:
		if reply.Template != nil && !r.seesObject(templateObject(reply.Template)) {
			return notFound(kindTemplate, reply.Template.Name)
		}
		reply.Template = r.shownTemplate(reply.Template)
	case *rota.SchedulePut:
		if reply.Schedule != nil && !r.seesObject(scheduleObject(reply.Schedule)) {
			return notFound(kindSchedule, reply.Schedule.Name)
		}
	}
	return r.redactJobs(ctx, reply)
}

// redactJobs hides what the identity may not see of the jobs in a reply.
func (r *reader) redactJobs(ctx context.Context, reply rota.Reply) error {
	if all, is := reply.(*rota.AllDone); is {
		for _, member := range all.Replies {
			if err := r.redactReply(ctx, member); err != nil {
				return err
			}
		}
	}
	if r.viewsAll() {
		return nil
	}
	var failed error
	one := func(j **rota.Job) {
		if *j == nil || failed != nil {
			return
		}
		var sees bool
		if sees, failed = r.seesJob(ctx, *j); failed == nil && !sees {
			*j = redacted(*j)
		}
	}
	many := func(jobs []*rota.Job) {
		for i := range jobs {
			one(&jobs[i])
		}
	}
	switch reply := reply.(type) {
	case *rota.Enqueued:
		if failed = r.redactHolders(ctx, reply); failed != nil {
			return failed
		}
		for i := range reply.Jobs {
			one(&reply.Jobs[i].Job)
		}
	case *rota.CancelledJob:
		one(&reply.Job)
	case *rota.Edited:
		one(&reply.Job)
	case *rota.Moved:
		one(&reply.Job)
	case *rota.Redriven:
		one(&reply.Job)
	case *rota.Triggered:
		many(reply.Jobs)
	case *rota.Backfilled:
		many(reply.Jobs)
	case *rota.GroupEnqueued:
		many(reply.Jobs)
	}
	return failed
}

// redactHolders removes the jobs of others that hold the unique key or the plan of a requested job, unless they are visible.
// If nothing was created, the command is refused: the caller learns that the key is taken, and nothing else.
func (r *reader) redactHolders(ctx context.Context, reply *rota.Enqueued) error {
	hidden := 0
	for i := range reply.Jobs {
		j := reply.Jobs[i].Job
		if j == nil || j.CreatedBy == r.user && !j.CreatedAt.Before(r.since) {
			continue
		}
		sees, err := r.seesJob(ctx, j)
		if err != nil {
			return err
		}
		if !sees {
			reply.Jobs[i] = rota.Submitted{Duplicate: true}
			hidden++
		}
	}
	if hidden == 0 || hidden < len(reply.Jobs) {
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Field: "jobs[0].unique_key", Reason: "is taken by a job of another user", Hint: "choose another key, or wait until that job has ended",
	}
}

// Redact returns a job as the caller may see it who waited for its end: if it may not see its history, only the outcome,
// the times and the code of the error.
func (g *Guard) Redact(ctx context.Context, j *rota.Job) (*rota.Job, error) {
	r, err := g.reader(ctx)
	if err != nil || r.viewsAll() {
		return j, err
	}
	sees, err := r.seesJob(ctx, j)
	if err != nil || sees {
		return j, err
	}
	shown := redacted(j)
	shown.StartedAt, shown.FinishedAt = j.StartedAt, j.FinishedAt
	if run := j.Run; run != nil {
		shown.Run = &rota.Run{
			ID: run.ID, StartedAt: run.StartedAt, FinishedAt: run.FinishedAt, CancelAt: run.CancelAt, Outcome: run.Outcome, ErrorCode: run.ErrorCode,
		}
	}
	return shown, nil
}

// RedactGroup returns a group as the caller may see it who has changed it: without its name and its users if it may not see
// the group.
func (g *Guard) RedactGroup(ctx context.Context, group *rota.Group) (*rota.Group, error) {
	r, err := g.reader(ctx)
	if err != nil || r.viewsAll() || r.ownsGroup(group) {
		return group, err
	}
	return &rota.Group{
		ID: group.ID, Mode: group.Mode, OnFailure: group.OnFailure, Size: group.Size, Ending: group.Ending, CreatedAt: group.CreatedAt,
		Pruned: group.Pruned, Tally: group.Tally,
	}, nil
}

// redacted returns what a caller without VIEW JOB HISTORY may know of a job that its command created or found.
func redacted(j *rota.Job) *rota.Job {
	return &rota.Job{
		ID: j.ID, ExecutionID: j.ExecutionID, Type: j.Type, Name: j.Name, Template: j.Template, Schedule: j.Schedule,
		Status: j.Status, Hold: j.Hold, Priority: j.Priority, Attempt: j.Attempt, Policy: j.Policy, Sequel: j.Sequel,
		ScopeKind: j.ScopeKind, ScopeID: j.ScopeID, PlanTime: j.PlanTime, RunAt: j.RunAt, CreatedAt: j.CreatedAt, QueuedAt: j.QueuedAt,
	}
}

// storedPassword stands for a password that is set. The verifier never leaves the store.
const storedPassword = "***"

func withoutVerifier(p *rota.Principal) *rota.Principal {
	if p.Spec.Verifier == "" {
		return p
	}
	shown := *p
	shown.Spec.Verifier = storedPassword
	return &shown
}

func withoutHash(t *rota.AccessToken) *rota.AccessToken {
	shown := *t
	shown.Hash, shown.Verifier = "", ""
	return &shown
}
