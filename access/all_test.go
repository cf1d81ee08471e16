package access_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
)

// allOf returns a command with members.
func allOf(members ...rota.Command) *rota.All {
	return &rota.All{Meta: rota.NewMeta(""), Members: members}
}

// dropTable are params that change what a job of type sql runs.
const dropTable = `{"statement":"DROP TABLE x"}`

// templateRuns fails if a template has other params.
func (s *site) templateRuns(name, params string) {
	s.t.Helper()
	if t, err := s.store.Template(context.Background(), name); err != nil || string(t.Spec.Params) != params {
		s.t.Errorf("template %s: %+v, %v; want params %s", name, t, err, params)
	}
}

// newScheduler is a matrix whose executor has a template and a schedule of its own.
func newScheduler(t *testing.T) *site {
	s := newMatrix(t)
	s.grant("executor", rota.CreateJob, "")
	s.wantVerdict("a template", "executor", template("mine", `{"statement":"SELECT 2"}`), "")
	s.wantVerdict("a schedule", "executor", schedule("own", "mine", `{}`), "")
	return s
}

// TestMembersAreCheckedAsTheOnesBeforeLeaveTheDefinitions sends changes and uses of a definition as one command.
func TestMembersAreCheckedAsTheOnesBeforeLeaveTheDefinitions(t *testing.T) {
	s := newScheduler(t)
	s.role("boss", "owner")
	s.grant("dropper", rota.CreateJob, "")
	s.must(&rota.PutTemplate{Meta: rota.NewMeta("owner"), Name: "plain", Spec: rota.TemplateSpec{Type: "noop"}})
	s.grant("alterer", rota.AlterJob, "plain")
	s.grant("alterer", rota.ExecuteJob, "plain")
	s.grant("alterer", rota.CreateJob, "")
	s.must(schedule("another", "job", `{}`))
	trigger := &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "own", Params: []byte(dropTable)}
	asBoss := schedule("as-boss", "plain", `{"run_as":"boss"}`)
	for what, test := range map[string]struct {
		user string
		all  *rota.All
	}{
		"a schedule gets another template and is triggered":      {"executor", allOf(schedule("own", "job", `{}`), trigger)},
		"a schedule is deleted and its template changed":         {"dropper", allOf(&rota.DeleteSchedule{Meta: rota.NewMeta(""), Name: "job"}, template("job", dropTable))},
		"a job is dropped whose template another schedule uses":  {"dropper", allOf(&rota.Drop{Meta: rota.NewMeta(""), Name: "job"}, template("job", dropTable))},
		"the first part of a recreation and another template":    {"dropper", allOf(&rota.Drop{Meta: rota.NewMeta(""), Name: "job", Recreate: true}, template("job", dropTable))},
		"a template gets a type that has roles, then a schedule": {"alterer", allOf(template("plain", `{"statement":"x"}`), asBoss)},
		"a schedule names a role, then the type has roles":       {"alterer", allOf(asBoss, template("plain", `{"statement":"x"}`))},
	} {
		s.wantVerdict(what, test.user, test.all, rota.Denied)
	}
	s.templateRuns("job", `{"statement":"SELECT 1"}`)
	s.wantVerdict("the owner deletes a schedule and archives its template", "owner", allOf(
		&rota.DeleteSchedule{Meta: rota.NewMeta(""), Name: "job"}, &rota.Archive{Meta: rota.NewMeta(""), Name: "job"}), "")
}

// TestDropAndCreateInOneCommand creates a dropped job again with DROP JOB and CREATE JOB.
func TestDropAndCreateInOneCommand(t *testing.T) {
	s := newMatrix(t)
	s.grant("dropper", rota.CreateJob, "")
	create := template("job", dropTable)
	create.Mode = rota.PutCreate
	s.wantVerdict("drop and create", "dropper", allOf(&rota.Drop{Meta: rota.NewMeta(""), Name: "job"}, create, schedule("job", "job", `{}`)), "")
	if own, err := s.store.Template(context.Background(), "job"); err != nil || own.Owner != "dropper" {
		t.Errorf("the template is %+v, %v; want it to belong to dropper", own, err)
	}
}

// TestRecreateNeedsDropJob recreates a schedule of another user.
func TestRecreateNeedsDropJob(t *testing.T) {
	s := newMatrix(t)
	s.grant("alterer", rota.CreateJob, "")
	s.grant("alterer", rota.ExecuteJob, "job")
	recreate := schedule("job", "job", `{}`)
	recreate.Recreate = true
	s.wantVerdict("a recreation without DROP JOB", "alterer", recreate, rota.Denied)
	s.grant("alterer", rota.DropJob, "job")
	recreate.Meta = rota.NewMeta("")
	s.wantVerdict("a recreation with DROP JOB", "alterer", recreate, "")
}

// TestLargeTransactionOfAUser creates many definitions with one command.
func TestLargeTransactionOfAUser(t *testing.T) {
	s := newMatrix(t)
	var members []rota.Command
	for i := range 300 {
		name := fmt.Sprintf("many-%d", i)
		create, plan := template(name, `{"statement":"SELECT 1"}`), schedule(name, name, `{}`)
		create.Mode, plan.Mode = rota.PutCreate, rota.PutCreate
		members = append(members, create, plan)
	}
	s.wantVerdict("300 jobs", "creator", allOf(members...), "")
}

// TestScheduleThatChangesBesideATrigger reads a schedule, gives it another template, and triggers it.
func TestScheduleThatChangesBesideATrigger(t *testing.T) {
	s, ctx := newScheduler(t), context.Background()
	g := s.as("executor")
	if _, err := g.Schedule(ctx, "own"); err != nil {
		t.Fatal(err)
	}
	if code := verdict(s.as("executor"), schedule("own", "job", `{}`)); code != "" {
		t.Fatal(code)
	}
	trigger := func() rota.Command {
		return &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "own", Params: []byte(dropTable)}
	}
	if code := verdict(g, trigger()); code != rota.Denied {
		t.Errorf("a trigger after the schedule got the template of another user: %q", code)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				verdict(s.as("executor"), schedule("own", []string{"mine", "job"}[i%2], `{}`))
			}
		}
	}()
	for range 300 {
		reply, err := rota.Do[*rota.Triggered](ctx, g, trigger())
		if err != nil {
			continue
		}
		if j, err := s.store.Job(ctx, reply.Jobs[0].ID); err != nil || j.RunsFor() == "owner" {
			t.Errorf("a trigger with a statement of the executor runs with the rights of the owner: %+v, %v", j, err)
			break
		}
	}
	close(stop)
	<-stopped
}
