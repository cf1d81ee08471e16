package access

import (
	"context"
	"slices"

	"github.com/rotajobs/rota"
)

// RunRights are the rights that a job runs with.
type RunRights struct {
	User     string
	Admin    bool
	External bool     // it may start commands
	Roles    []string // roles it is a member of, sorted
}

// IsMember reports whether a job may run as a role: as an administrator, as the user itself or as a member.
func (r *RunRights) IsMember(role string) bool {
	return r.Admin || r.User == role || slices.Contains(r.Roles, role)
}

// RunRights returns the rights of the user whose rights a job runs with. A user that was dropped has none: the error is
// Denied. So is a user that was created after the execution.
func (d *Directory) RunRights(ctx context.Context, j *rota.Job) (*RunRights, error) {
	user := j.RunsFor()
	s, err := d.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if user != rota.AdminUser {
		u := s.user(user)
		before := u == nil
		if !before {
			if before, err = newObjects(d.store).isBefore(ctx, j, u.CreatedAt); err != nil {
				return nil, err
			}
		}
		if before {
			return nil, &rota.Error{
				Code: rota.Denied, Reason: "the job runs with the rights of user " + user + ", who does not exist",
				Hint: "create the job again as another user, or change its owner: ALTER JOB name OWNER TO user",
			}
		}
	}
	r := s.rightsOf(user)
	external, err := d.mayRunExternal(ctx, r, j)
	return &RunRights{User: user, Admin: r.admin, Roles: r.roles, External: external}, err
}

func notFoundIsNil(err error) error {
	if rota.CodeOf(err) == rota.NotFound {
		return nil
	}
	return err
}

// mayRunExternal reports whether the rights include EXECUTE EXTERNAL JOB for a job: on all jobs, or on its definition.
func (d *Directory) mayRunExternal(ctx context.Context, r *rights, j *rota.Job) (bool, error) {
	name := jobName(j)
	if _, granted := r.byJob[name][rota.ExecuteExternalJob]; r.onAll(rota.ExecuteExternalJob) || !granted {
		return r.onAll(rota.ExecuteExternalJob), nil
	}
	o, err := newObjects(d.store).ofJob(ctx, j)
	if err != nil || o == nil {
		return false, err
	}
	return r.on(rota.ExecuteExternalJob, o.name, o.since), nil
}

// RunDenied counts a run that was refused because its user lacks a right.
func (d *Directory) RunDenied(j *rota.Job, refusal *rota.Error) {
	d.recorder.denied(j.RunsFor(), refusal)
}

// RecordRunAs writes to the audit that a job runs as a role. It returns when the entry is stored, so that no job runs as a
// role without one.
func (d *Directory) RecordRunAs(ctx context.Context, j *rota.Job, role string) error {
	one := rota.AccessRecord{
		Act: rota.AuditRunAs, Actor: j.RunsFor(), Subject: rota.JobSubject(j.ID), JobID: j.ID, ExecutionID: j.ExecutionID,
		Schedule: j.Schedule, Count: 1, Detail: "as role " + role,
	}
	if j.Run != nil {
		one.RunID = j.Run.ID
	}
	return d.send(ctx, &rota.RecordAccess{Meta: rota.NewMeta(""), Records: []rota.AccessRecord{one}})
}
