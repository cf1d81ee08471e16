package console

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/ddl"
)

// plan is a statement as commands, and the answer to it once they were done.
type plan struct {
	commands []rota.Command
	answer   func([]rota.Reply) *Answer
}

// said is a plan that answers the same whatever the replies.
func said(a *Answer, commands ...rota.Command) *plan {
	return &plan{commands, func([]rota.Reply) *Answer { return a }}
}

// planner turns statements into commands.
type planner struct {
	*Console
	ctx  context.Context
	mint func() rota.Meta
	now  time.Time
	seen *overlay

	again bool // the statement was sent before, and the store knows whether it was done
	blind bool // what it makes is taken not to be there: if it is, the store refuses
}

func (s *Session) planner(ctx context.Context, seen *overlay) *planner {
	s.heads.taken = 0
	return &planner{Console: s.console, ctx: ctx, mint: s.heads.take, now: s.console.config.Clock(), seen: seen, again: s.again}
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
	}
	return nil, fmt.Errorf("console: cannot plan statement %T", statement)
}

// schedule is the schedule of a name, nil if there is none.
func (p *planner) schedule(name string) (*rota.Schedule, error) {
	if s, known := p.seen.schedules[name]; known {
		return s, nil
	}
	return found(p.config.Store.Schedule(p.ctx, name))
}

// template is the template of a name, nil if there is none.
func (p *planner) template(name string) (*rota.Template, error) {
	if t, known := p.seen.templates[name]; known {
		return p.seen.state(t), nil
	}
	t, err := found(p.config.Store.Template(p.ctx, name))
	return p.seen.state(t), err
}

func found[T any](one *T, err error) (*T, error) {
	switch rota.CodeOf(err) {
	case "":
		return one, nil
	case rota.NotFound:
		return nil, nil
	}
	return nil, err
}

// version is what a command says it has read, unless the transaction itself has
// changed that, or may have.
func (p *planner) version(of rota.ID, touched bool) *rota.ID {
	if touched || p.seen.dropped {
		return nil
	}
	return &of
}

func noJob(name string) *Error {
	return refuse(StateUnknown, "check the name; SHOW JOBS lists the jobs", "there is no job %s", name)
}

func (p *planner) drop(q *ddl.DropJob) (*plan, error) {
	s, err := p.schedule(q.Name)
	switch {
	case err != nil:
		return nil, err
	case s == nil && p.again: // it is gone since it was dropped
		return said(done(q.Tag())), nil
	case s == nil && q.IfExists:
		return said(done(q.Tag()).notice("there is no job %s, skipping", q.Name)), nil
	case s == nil:
		return nil, noJob(q.Name)
	}
	return said(done(q.Tag()), &rota.Drop{Meta: p.mint(), Name: q.Name, KeepHistory: q.KeepHistory}), nil
}

func (p *planner) execute(q *ddl.ExecuteJob) (*plan, error) {
	c := &rota.Trigger{Meta: p.mint(), Schedule: q.Name}
	if p.again {
		if jobs, err := p.triggered(c); len(jobs) > 0 || err != nil {
			return said(runs(q.Tag(), jobs)), err
		}
	}
	s, err := p.schedule(q.Name)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, noJob(q.Name)
	}
	return &plan{[]rota.Command{c}, func(replies []rota.Reply) *Answer {
		return runs(q.Tag(), replies[0].(*rota.Triggered).Jobs)
	}}, nil
}

// runs answers with the ids of jobs that were started by hand.
func runs(tag string, jobs []*rota.Job) *Answer {
	a := table(tag, runColumns)
	for _, j := range jobs {
		a.Rows = append(a.Rows, []any{j.ExecutionID.String()})
	}
	return a
}

// triggered are the jobs that a command has made, also if their schedule is gone.
func (p *planner) triggered(c *rota.Trigger) (jobs []*rota.Job, err error) {
	for i := 0; ; i++ {
		j, err := found(p.config.Store.Job(p.ctx, c.JobID(i)))
		if j == nil || err != nil {
			return jobs, err
		}
		jobs = append(jobs, j)
	}
}

// applied says whether a statement that is sent again was done then: whether its
// schedule was declared by this very command, which the store remembers. A command that
// it does not know is refused here, since it has read a version that never was.
func (p *planner) applied(put rota.Meta, name string) (bool, error) {
	if !p.again {
		return false, nil
	}
	probe, err := rota.Declare(put, name, rota.ScheduleSpec{Template: name, Every: time.Hour}, p.now)
	if err != nil {
		return false, err
	}
	probe.Mode, probe.Version = rota.PutReplace, new(rota.NewID())
	_, err = rota.Do[*rota.AllDone](p.ctx, p.config.Store, &rota.All{Meta: rota.NewMeta(put.Actor), Members: []rota.Command{probe}, Dry: true})
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
	return said(done(q.Tag()), &rota.Cancel{Meta: p.mint(), JobID: id, Reason: "CANCEL JOB RUN"}), nil
}
