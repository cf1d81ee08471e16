package access_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// reasonOf is the reason and the hint of the refusal of a command.
func reasonOf(t *testing.T, s *site, user string, c rota.Command) string {
	t.Helper()
	_, err := rota.Do[rota.Reply](context.Background(), s.as(user), c)
	if err == nil {
		t.Fatalf("%s as %s is allowed", c.Verb(), user)
	}
	return err.Error()
}

// TestTakenNameShowsNeitherOwnerNorSpec creates a template and a schedule whose names are taken by ones that the user may not
// see. A user without CREATE JOB does not learn that they exist.
func TestTakenNameShowsNeitherOwnerNorSpec(t *testing.T) {
	s := newMatrix(t)
	template := func(name string) rota.Command {
		return &rota.PutTemplate{Meta: rota.NewMeta(""), Name: name, Mode: rota.PutCreate, Spec: rota.TemplateSpec{Type: "noop"}}
	}
	schedule := func(name string) rota.Command {
		return &rota.PutSchedule{
			Meta: rota.NewMeta(""), Name: name, Mode: rota.PutCreate, Spec: rota.ScheduleSpec{Template: name, Every: time.Hour}, Next: began.AddDate(1, 0, 0),
		}
	}
	for _, create := range []func(string) rota.Command{template, schedule} {
		taken, free := reasonOf(t, s, "nobody", create("job")), reasonOf(t, s, "nobody", create("absent"))
		if taken != free || !strings.Contains(taken, "CREATE JOB") {
			t.Errorf("the refusals differ:\n%s\n%s", taken, free)
		}
		if taken := reasonOf(t, s, "creator", create("job")); !strings.Contains(taken, "the name job is taken") || strings.Contains(taken, "owner") {
			t.Error(taken)
		}
	}
}

// TestInvisibleAnchorIsLikeAnAbsentOne moves a job next to one that the user may not see.
func TestInvisibleAnchorIsLikeAnAbsentOne(t *testing.T) {
	s := newMatrix(t)
	own, foreign, absent := s.trigger("job").ID, s.enqueue("admin").ID, rota.NewID()
	move := func(anchor rota.ID) string {
		c := &rota.Move{Meta: rota.NewMeta(""), JobID: own, Place: rota.PlaceBefore, Anchor: anchor}
		return strings.ReplaceAll(reasonOf(t, s, "owner", c), anchor.String(), "IT")
	}
	if a, b := move(foreign), move(absent); a != b || !strings.Contains(a, "there is no job IT") {
		t.Errorf("the refusals differ:\n%s\n%s", a, b)
	}
}
