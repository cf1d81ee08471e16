package access_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// shows reports what of the matrix a reader shows: each read is a word.
func shows(t *testing.T, r rota.Reader, history *rota.Job, group rota.ID) (words []string) {
	t.Helper()
	ctx := context.Background()
	add := func(name string, shown bool, err error) {
		switch {
		case err != nil && rota.CodeOf(err) == rota.Denied:
			words = append(words, name+" denied")
		case err != nil && rota.CodeOf(err) != rota.NotFound:
			t.Errorf("%s: %v", name, err)
		case err == nil && shown:
			words = append(words, name)
		}
	}
	isHistory := func(j *rota.Job) bool { return j.ID == history.ID }
	_, err := r.Job(ctx, history.ID)
	add("Job", true, err)
	_, err = r.LastAttempt(ctx, history.ID)
	add("LastAttempt", true, err)
	_, err = r.Execution(ctx, history.ID)
	add("Execution", true, err)
	_, err = r.Explain(ctx, history.ID)
	add("Explain", true, err)
	jobs, err := r.Jobs(ctx, rota.JobQuery{})
	add("Jobs", slices.ContainsFunc(jobs, isHistory), err)
	page, err := r.FindJobs(ctx, rota.JobQuery{})
	add("FindJobs", slices.ContainsFunc(page.Jobs, isHistory), err)
	n, err := r.CountJobs(ctx, rota.JobQuery{Schedule: "job"})
	add("CountJobs", n == 1, err)
	queue, err := r.Queue(ctx, rota.ID{}, 10)
	add("Queue", slices.ContainsFunc(queue, isHistory), err)
	audit, err := r.Audit(ctx, rota.AuditQuery{Schedule: "job"})
	add("Audit", len(audit.Entries) > 0, err)
	_, err = r.Template(ctx, "job")
	add("Template", true, err)
	templates, err := r.Templates(ctx, rota.NameQuery{})
	add("Templates", slices.ContainsFunc(templates, func(t *rota.Template) bool { return t.Name == "job" }), err)
	_, err = r.Schedule(ctx, "job")
	add("Schedule", true, err)
	schedules, err := r.Schedules(ctx, rota.ScheduleQuery{})
	add("Schedules", slices.ContainsFunc(schedules, func(s *rota.Schedule) bool { return s.Name == "job" }), err)
	_, err = r.Definition(ctx, rota.DefinitionID("job"))
	add("Definition", true, err)
	_, err = r.Group(ctx, group)
	add("Group", true, err)
	groups, err := r.Groups(ctx, rota.ID{}, 10)
	add("Groups", len(groups) > 0, err)
	_, err = r.Stats(ctx)
	add("Stats", true, err)
	_, err = r.Throttle(ctx)
	add("Throttle", true, err)
	_, err = r.Webhooks(ctx)
	add("Webhooks", true, err)
	_, err = r.Principal(ctx, "viewer")
	add("Principal", true, err)
	principals, err := r.Principals(ctx, rota.NameQuery{})
	add("Principals", slices.ContainsFunc(principals, func(p *rota.Principal) bool { return p.Name == "viewer" }), err)
	return words
}

// TestReadsShowWhatTheUserMaySee reads everything as each user, from the store and from a view.
func TestReadsShowWhatTheUserMaySee(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	history := s.trigger("job")
	group := s.must(&rota.EnqueueGroup{Meta: rota.NewMeta("admin"), Jobs: []rota.NewJob{{Type: "noop"}}}).(*rota.GroupEnqueued).Group.ID
	hidden := []string{"Stats denied", "Throttle denied", "Webhooks denied"}
	definition := []string{"Template", "Templates", "Schedule", "Schedules", "Definition"}
	runs := []string{"Job", "LastAttempt", "Execution", "Explain", "Jobs", "FindJobs", "CountJobs", "Queue", "Audit"}
	all := []string{"Group", "Groups", "Stats", "Throttle"}
	for _, r := range relations {
		want := hidden
		switch r.user {
		case "nobody", "creator":
		case "owner", "viewer":
			want = slices.Concat(runs, definition, hidden)
		case "view-all":
			want = slices.Concat(runs, definition, all, []string{"Webhooks denied"})
		case "admin", "admin-user":
			want = slices.Concat(runs, definition, all, []string{"Webhooks", "Principal", "Principals"})
		default:
			want = slices.Concat(definition, hidden)
		}
		if r.user == "viewer" {
			want = append(want, "Principal", "Principals")
		}
		guard := s.as(r.user)
		if got := shows(t, guard, history, group); !slices.Equal(got, want) {
			t.Errorf("%s sees\n%v, want\n%v", r.user, got, want)
		}
		view, err := guard.View(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := shows(t, view, history, group); !slices.Equal(got, want) {
			t.Errorf("the view of %s shows\n%v, want\n%v", r.user, got, want)
		}
		_ = view.Close()
	}
}

// TestPagesHoldOnlyVisibleJobs lists jobs of which the user sees every second, in pages of every size.
func TestPagesHoldOnlyVisibleJobs(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	s.users("ada", "bob")
	var own []rota.ID
	s.setUp(func() {
		for i := range 60 {
			c := &rota.Enqueue{Meta: rota.NewMeta([]string{"ada", "bob"}[i%2]), Jobs: []rota.NewJob{{Type: "noop"}}}
			s.must(c)
			if i%2 == 0 {
				own = append(own, c.JobID(0))
			}
		}
	})
	guard := s.as("ada")
	for _, oldest := range []bool{false, true} {
		want := slices.Clone(own)
		slices.SortFunc(want, rota.ID.Compare)
		if !oldest {
			slices.Reverse(want)
		}
		for _, limit := range []int{1, 2, 7, 29, 30, 31, 60, 100} {
			var found, listed []rota.ID
			q := rota.JobQuery{Limit: limit, Oldest: oldest}
			for pages := 0; ; pages++ {
				page, err := guard.FindJobs(ctx, q)
				if err != nil || pages > 100 {
					t.Fatal(err, pages)
				}
				for _, j := range page.Jobs {
					found = append(found, j.ID)
				}
				if !page.More {
					break
				}
				if oldest {
					q.After = page.Next
				} else {
					q.Before = page.Next
				}
			}
			q = rota.JobQuery{Limit: limit, Oldest: oldest}
			for {
				page, err := guard.Jobs(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				for _, j := range page {
					listed = append(listed, j.ID)
				}
				if len(page) < limit {
					break
				}
				if last := page[len(page)-1].ID; oldest {
					q.After = last
				} else {
					q.Before = last
				}
			}
			if !slices.Equal(found, want) || !slices.Equal(listed, want) {
				t.Errorf("oldest first %v, pages of %d: found %d, listed %d, want %d", oldest, limit, len(found), len(listed), len(want))
			}
		}
	}
	if n, err := guard.CountJobs(ctx, rota.JobQuery{}); n != 30 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if queue, err := guard.Queue(ctx, rota.ID{}, 1000); len(queue) != 30 || err != nil {
		t.Errorf("%d jobs in the queue, %v", len(queue), err)
	}
}

// TestExplanationNamesNoJobOfOthers explains a job that waits for a job of its group whose history the user may not see.
func TestExplanationNamesNoJobOfOthers(t *testing.T) {
	s := newSite(t)
	s.users("ada", "bob")
	s.define("theirs", "bob")
	jobs := s.must(&rota.EnqueueGroup{
		Meta: rota.NewMeta("ada"), Mode: rota.GroupSequential, Jobs: []rota.NewJob{{Template: "theirs"}, {Type: "noop"}},
	}).(*rota.GroupEnqueued).Jobs
	for user, names := range map[string]bool{"admin": true, "ada": false} {
		reasons, err := s.as(user).Explain(context.Background(), jobs[1].ID)
		if err != nil || len(reasons) == 0 {
			t.Fatal(reasons, err)
		}
		if text := fmt.Sprint(reasons); strings.Contains(text, jobs[0].ID.String()) != names {
			t.Errorf("the explanation for %s: %s", user, text)
		}
	}
}

// TestAuditShowsOwnActs shows a user its own acts, and nothing about the access of others.
func TestAuditShowsOwnActs(t *testing.T) {
	s := newSite(t)
	s.users("ada", "bob")
	s.grant("ada", rota.CreateJob, "")
	if code := verdict(s.as("ada"), &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "t", Spec: rota.TemplateSpec{Type: "noop"}}); code != "" {
		t.Fatal(code)
	}
	s.define("theirs", "bob")
	page, err := s.as("ada").Audit(context.Background(), rota.AuditQuery{})
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Act != rota.AuditTemplateCreated || page.Entries[0].Actor != "ada" {
		t.Errorf("%v, %v", page.Entries, err)
	}
}

// A search that finds only hidden rows answers as one that finds nothing, also with small pages.
func TestSearchTellsNothingOfHiddenRows(t *testing.T) {
	s := newSite(t)
	s.users("ada", "bob")
	jobs := make([]rota.NewJob, 150)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "noop", Name: "payroll"}
	}
	s.must(&rota.Enqueue{Meta: rota.NewMeta("bob"), Jobs: jobs})
	g, ctx := s.as("ada"), context.Background()
	for _, text := range []string{"payroll", "payrxll"} {
		page, err := g.FindJobs(ctx, rota.JobQuery{Text: text, Limit: 1})
		if err != nil || len(page.Jobs) > 0 || page.More {
			t.Errorf("a search of jobs for %s answers %+v, %v", text, page, err)
		}
		entries, err := g.Audit(ctx, rota.AuditQuery{Text: text, Limit: 1})
		if err != nil || len(entries.Entries) > 0 || entries.More {
			t.Errorf("a search of the audit for %s answers %+v, %v", text, entries, err)
		}
	}
}
