package session

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
)

// plan is the commands of a statement and a function that builds its answer from their replies.
type plan struct {
	commands []rota.Command
	answer   func([]rota.Reply) *Answer
	reword   func(error) error // words an error of the store for the statement; nil: unchanged
}

// failed returns the error of a plan that the store refused.
func (p *plan) failed(err error) error {
	if p.reword == nil {
		return err
	}
	return p.reword(err)
}

// fixedPlan returns a plan whose answer does not depend on the replies.
func fixedPlan(a *Answer, commands ...rota.Command) *plan {
	return &plan{commands: commands, answer: func([]rota.Reply) *Answer { return a }}
}

// planner turns statements into commands.
type planner struct {
	*Console
	store   rota.Store
	ctx     context.Context
	newMeta func() rota.Meta
	now     time.Time
	changes *overlay

	resent    bool // the statement was sent before; the store knows whether it was applied
	assumeNew bool // assume that the job does not exist; the store rejects the command if it does
}

func (s *Session) planner(ctx context.Context, changes *overlay) *planner {
	s.metas.count = 0
	return &planner{Console: s.console, store: s.store, ctx: ctx, newMeta: s.metas.next, now: s.console.config.Clock(), changes: changes, resent: s.resent}
}

func (p *planner) plan(statement ddl.Statement) (*plan, error) {
	switch q := statement.(type) {
	case *ddl.CreateJob:
		return p.create(q)
	case *ddl.AlterJob:
		return p.alter(q)
	case *ddl.DropJob:
		return p.drop(q)
	case *ddl.ExecuteJob:
		return p.execute(q)
	case *ddl.CancelRun:
		return p.cancel(q)
	case *ddl.Security:
		return p.security(q)
	case *ddl.AlterOwner:
		return p.alterOwner(q)
	}
	return nil, fmt.Errorf("console: cannot plan statement %T", statement)
}

// schedule is the schedule of a name, nil if there is none.
func (p *planner) schedule(name string) (*rota.Schedule, error) {
	if s, known := p.changes.schedules[name]; known {
		return s, nil
	}
	return orNil(p.store.Schedule(p.ctx, name))
}

// template is the template of a name, nil if there is none.
func (p *planner) template(name string) (*rota.Template, error) {
	if t, known := p.changes.templates[name]; known {
		return p.changes.withState(t), nil
	}
	t, err := orNil(p.store.Template(p.ctx, name))
	return p.changes.withState(t), err
}

func orNil[T any](one *T, err error) (*T, error) {
	switch rota.CodeOf(err) {
	case "":
		return one, nil
	case rota.NotFound:
		return nil, nil
	}
	return nil, err
}

// version returns the version that a command expects, or nil if the transaction itself has changed the definition or
// may have.
func (p *planner) version(of rota.ID, touched bool) *rota.ID {
	if touched || p.changes.dropped {
		return nil
	}
	return &of
}

func noJob(name string) *Error {
	return newError(StateUnknown, "check the name; SHOW JOBS lists the jobs", "there is no job %s", name).at(ddl.PlaceName)
}

func (p *planner) drop(q *ddl.DropJob) (*plan, error) {
	s, err := p.schedule(q.Name)
	switch {
	case err != nil:
		return nil, err
	case s == nil && p.resent: // the first sending dropped it
		return fixedPlan(tagAnswer(q.Tag())), nil
	case s == nil && q.IfExists:
		return fixedPlan(tagAnswer(q.Tag()).notice("there is no job %s, skipping", q.Name)), nil
	case s == nil:
		return nil, noJob(q.Name)
	}
	return fixedPlan(tagAnswer(q.Tag()), &rota.Drop{Meta: p.newMeta(), Name: q.Name, KeepHistory: q.KeepHistory}), nil
}

func (p *planner) execute(q *ddl.ExecuteJob) (*plan, error) {
	c := &rota.Trigger{Meta: p.newMeta(), Schedule: q.Name}
	if p.resent {
		if jobs, err := p.triggered(c); len(jobs) > 0 || err != nil {
			return fixedPlan(runsAnswer(q.Tag(), jobs)), err
		}
	}
	s, err := p.schedule(q.Name)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, noJob(q.Name)
	}
	return &plan{commands: []rota.Command{c}, answer: func(replies []rota.Reply) *Answer {
		return runsAnswer(q.Tag(), replies[0].(*rota.Triggered).Jobs)
	}}, nil
}

// runsAnswer returns the ids of the runs that EXECUTE JOB started.
func runsAnswer(tag string, jobs []*rota.Job) *Answer {
	a := rowsAnswer(tag, runColumns)
	for _, j := range jobs {
		a.Rows = append(a.Rows, []any{j.ExecutionID.String()})
	}
	return a
}

// triggered returns the jobs that a command created, even if their schedule was dropped.
func (p *planner) triggered(c *rota.Trigger) (jobs []*rota.Job, err error) {
	for i := 0; ; i++ {
		j, err := orNil(p.store.Job(p.ctx, c.JobID(i)))
		if j == nil || err != nil {
			return jobs, err
		}
		jobs = append(jobs, j)
	}
}

// applied reports whether a resent statement was already applied. It sends the command as a dry run with a version that
// never existed: the store accepts it only if it remembers the id of the command.
func (p *planner) applied(put rota.Meta, name string) (bool, error) {
	if !p.resent {
		return false, nil
	}
	probe, err := rota.Declare(put, name, rota.ScheduleSpec{Template: name, Every: time.Hour}, p.now)
	if err != nil {
		return false, err
	}
	probe.Mode, probe.Version = rota.PutReplace, new(rota.NewID())
	_, err = rota.Do[*rota.AllDone](p.ctx, p.store, &rota.All{Meta: rota.NewMeta(put.Actor), Members: []rota.Command{probe}, Dry: true})
	switch rota.CodeOf(err) {
	case "":
		return true, nil
	case rota.Conflict, rota.NotFound, rota.Invalid:
		return false, nil
	}
	return false, err
}

func (p *planner) cancel(q *ddl.CancelRun) (*plan, error) {
	id, err := rota.ParseID(q.ID)
	if err != nil {
		return nil, err
	}
	plan := fixedPlan(tagAnswer(q.Tag()), &rota.Cancel{Meta: p.newMeta(), JobID: id, Reason: "CANCEL JOB RUN"})
	plan.reword = func(err error) error {
		if rota.CodeOf(err) == rota.NotFound {
			return noRun(q.ID)
		}
		return err
	}
	return plan, nil
}

func noRun(id string) *Error {
	return newError(StateUnknown, "check the id; sys.job_runs lists the runs, and old ones are pruned", "run %s does not exist", id).at(ddl.PlaceRun)
}
