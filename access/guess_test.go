package access_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// countingReads counts the reads of definitions.
type countingReads struct {
	rota.Store
	reads int
}

func (c *countingReads) Template(ctx context.Context, name string) (*rota.Template, error) {
	c.reads++
	return c.Store.Template(ctx, name)
}

func (c *countingReads) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	c.reads++
	return c.Store.Schedule(ctx, name)
}

// creation is what CREATE JOB sends.
func creation(name string) rota.Command {
	return &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{
		&rota.PutTemplate{Meta: rota.NewMeta(""), Name: name, Mode: rota.PutCreate, Spec: rota.TemplateSpec{Type: "sql"}},
		&rota.PutSchedule{
			Meta: rota.NewMeta(""), Name: name, Mode: rota.PutCreate, State: rota.SchedulePaused,
			Spec: rota.ScheduleSpec{Template: name, Every: time.Hour}, Next: began.AddDate(1, 0, 0),
		},
	}}
}

// TestGuardReadsNoDefinitionTwice counts the reads of commands that are sent often.
func TestGuardReadsNoDefinitionTwice(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	store := &countingReads{Store: s.store}
	directory := access.NewDirectory(store, nil)
	defer directory.Close()
	as := func(user string) *access.Guard { return directory.Guard(s.as(user).Identity()) }
	if code := verdict(as("creator"), creation("new")); code != "" || store.reads != 0 {
		t.Errorf("a create: %q after %d reads, want none", code, store.reads)
	}
	enqueue := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}}
	if code := verdict(as("executor"), enqueue); code != "" || store.reads != 1 {
		t.Errorf("a job of a template: %q after %d reads, want 1", code, store.reads)
	}
	store.reads = 0
	g, began := as("executor"), time.Now()
	if _, err := g.Template(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	code := verdict(g, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}})
	if quick := time.Since(began) < access.RecentFor; code != "" || quick && store.reads != 1 {
		t.Errorf("a job of a template that was read before: %q after %d reads, want 1", code, store.reads)
	}
}

// TestGuessesChangeNoVerdict sends commands whose definitions are not as the Guard assumes.
func TestGuessesChangeNoVerdict(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	for user, want := range map[string]rota.Code{"owner": rota.Conflict, "alterer": rota.Conflict, "nobody": rota.Denied, "creator": rota.Denied, "admin": rota.Conflict} {
		if code := verdict(s.as(user), creation("job")); code != want {
			t.Errorf("%s creates a job whose name is taken: %q, want %q", user, code, want)
		}
	}
	former := s.as("owner")
	if _, err := former.Template(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
	s.define("job", "creator")
	if code := verdict(former, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}}); code != rota.NotFound {
		t.Errorf("the former owner creates a job of the new template, which it read before it was recreated: %q", code)
	}
	again := creation("twice")
	for range 2 {
		if code := verdict(s.as("creator"), again); code != "" {
			t.Errorf("a create that is sent twice: %q", code)
		}
	}
}
