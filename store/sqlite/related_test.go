package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestFireUpdatesOnlyTimesOfSchedule fires with a trigger that forbids updates of other columns. A
// spec may hold a thousand scopes, so a fire must not rewrite it.
func TestFireUpdatesOnlyTimesOfSchedule(t *testing.T) {
	s := openTest(t, Config{})
	template(t, s, rota.TemplateSpec{Type: "mail"})
	declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour})
	execute(t, rawConn(t, s.path), `CREATE TRIGGER mine BEFORE UPDATE OF
		name, template, state, reason, anchor, version, created_by, created_at, updated_at, spec
		ON rota_schedules BEGIN SELECT RAISE(ROLLBACK, 'another column was updated'); END`)
	fire := dueFire(t, s, "hourly", time.Hour)
	apply(t, s, at(time.Hour, fire))
	row, err := s.Schedule(t.Context(), "hourly")
	must(t, err)
	if !row.NextFire.Equal(noon.Add(2*time.Hour)) || !row.LastFire.Equal(noon.Add(time.Hour)) || row.Spec.Every != time.Hour {
		t.Errorf("the schedule is %+v", row)
	}
}

// TestEdgesFollowScheduleSpec changes the dependencies in specs and compares the rows of
// rota_edges.
func TestEdgesFollowScheduleSpec(t *testing.T) {
	s := openTest(t, Config{})
	template(t, s, rota.TemplateSpec{Type: "mail"})
	for _, name := range []string{"a", "b", "c"} {
		declare(t, s, name, rota.ScheduleSpec{Every: time.Hour})
	}
	conn := rawConn(t, s.path)
	edges := func(want ...string) {
		t.Helper()
		if got := column(t, conn, `SELECT schedule || ' ' || depends_on FROM rota_edges ORDER BY schedule, depends_on`); !slices.Equal(got, want) {
			t.Errorf("the edges are %q, want %q", got, want)
		}
	}
	declare(t, s, "d", rota.ScheduleSpec{Every: time.Hour, DependsOn: []string{"a", "b"}})
	declare(t, s, "c", rota.ScheduleSpec{Every: time.Hour, DependsOn: []string{"d"}})
	edges("c d", "d a", "d b")
	declare(t, s, "d", rota.ScheduleSpec{Every: time.Hour, DependsOn: []string{"b"}})
	edges("c d", "d b")
	apply(t, s, at(time.Second, &rota.DeleteSchedule{Meta: rota.NewMeta("ada"), Name: "d"}))
	edges()
	verifyClean(t, s)
}

// TestChangingReplyDoesNotChangeCachedLimits changes the reply of PutThrottle, which must not
// change the cached limits. A second PutThrottle takes effect at once.
func TestChangingReplyDoesNotChangeCachedLimits(t *testing.T) {
	s := openTest(t, Config{})
	queued(t, s, 9)
	one := func(most int) rota.ThrottleSpec {
		return rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Concurrency: most}}}
	}
	put := putLimits(0, one(2))
	claimed := func() int { return len(apply(t, s, at(time.Second, claim(9)))[0].Reply.(*rota.Claimed).Jobs) }
	for range 2 { // the repeated command is answered from the row
		apply(t, s, put)[0].Reply.(*rota.ThrottlePut).Throttle.Spec.Types[0].Concurrency = 7
	}
	if got := claimed(); got != 2 {
		t.Errorf("%d jobs were claimed, want 2", got)
	}
	apply(t, s, putLimits(time.Second, one(5)))
	if got := claimed(); got != 3 {
		t.Errorf("%d more jobs were claimed, want 3", got)
	}
}

// TestUnreadableSpecIsNamedInError damages a spec. The error names the row.
func TestUnreadableSpecIsNamedInError(t *testing.T) {
	s := openTest(t, Config{})
	template(t, s, rota.TemplateSpec{Type: "mail"})
	execute(t, rawConn(t, s.path), `UPDATE rota_templates SET spec = '{'`)
	_, err := s.Template(t.Context(), "digest")
	checkError(t, err, rota.Internal, "template digest", "rota verify")
	_, err = s.Apply(t.Context(), at(time.Second, enqueue(rota.NewJob{Template: "digest"})))
	checkError(t, err, rota.Internal, "template digest", "rota verify")
}

// TestJobsReturnsMatchesOfEveryFilterCombination compares the pages of each combination of filters
// with a filter over all jobs.
func TestJobsReturnsMatchesOfEveryFilterCombination(t *testing.T) {
	s := openTest(t, Config{})
	group := fillHistory(t, s)
	all := listJobs(t, s, rota.JobQuery{Limit: rota.PageMax})
	redriven := map[rota.ID]bool{}
	for _, j := range all {
		redriven[j.RedriveOf] = true
	}
	found := map[string]int{}
	for i := range 1 << 6 {
		q := rota.JobQuery{Limit: 3}
		pick := func(bit int, set func()) {
			if i&(1<<bit) != 0 {
				set()
			}
		}
		pick(0, func() { q.Status = rota.StatusRunning })
		pick(1, func() { q.Type = "mail" })
		pick(2, func() { q.Template = "digest" })
		pick(3, func() { q.Schedule = "hourly" })
		pick(4, func() { q.GroupID = group })
		pick(5, func() { q.Dead = true })
		var want []rota.ID
		for _, j := range all {
			if (q.Status == "" || j.Status == q.Status) && (q.Type == "" || j.Type == q.Type) &&
				(q.Template == "" || j.Template == q.Template) && (q.Schedule == "" || j.Schedule == q.Schedule) &&
				(q.GroupID.IsZero() || j.GroupID == q.GroupID) &&
				(!q.Dead || j.Sequel == rota.SequelDead && !redriven[j.ExecutionID]) {
				want = append(want, j.ID)
			}
		}
		var got []rota.ID
		for page := listJobs(t, s, q); len(page) > 0; page = listJobs(t, s, q) {
			for _, j := range page {
				got = append(got, j.ID)
			}
			q.Before = page[len(page)-1].ID
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v returns %d jobs, want %d", q, len(got), len(want))
		}
		found[listIndex(&q)] += len(want)
	}
	for index, n := range found {
		if n == 0 {
			t.Errorf("no query of this test has a match in the index %q", index)
		}
	}
}

func listJobs(t *testing.T, s rota.Store, q rota.JobQuery) []*rota.Job {
	t.Helper()
	jobs, err := s.Jobs(t.Context(), q)
	must(t, err)
	return jobs
}

// fillHistory creates jobs of all kinds and ends some of them. It returns a group with members in
// every state.
func fillHistory(t *testing.T, s rota.Store) rota.ID {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	template(t, s, rota.TemplateSpec{Type: "mail", Policy: rota.PolicyPatch{Backoff: new(time.Duration(0))}})
	declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour, Scopes: []rota.Scope{{Kind: "shard", ID: "1"}, {Kind: "shard", ID: "2"}}})
	c := newGroup(rota.GroupParallel, "", 6)
	for i := range c.Jobs {
		c.Jobs[i] = rota.NewJob{Template: "digest", MaxRetries: new(i % 2)}
	}
	apply(t, s, at(0, c))
	for range 6 {
		apply(t, s, at(0, &rota.Trigger{Meta: rota.NewMeta("ada"), Schedule: "hourly"}))
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"}, rota.NewJob{Type: "web"}, rota.NewJob{Template: "digest"})))
	}
	for n := range 60 {
		for _, j := range apply(t, s, at(time.Second, claim(1)))[0].Reply.(*rota.Claimed).Jobs {
			end := finish(j, []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeFailed}[random.IntN(3)])
			if n < 40 {
				end.Items[0].Permanent = random.IntN(2) == 0
				apply(t, s, at(2*time.Second, end))
			}
		}
	}
	for i, j := range listJobs(t, s, rota.JobQuery{Dead: true}) {
		if i%2 == 0 {
			apply(t, s, at(3*time.Second, &rota.Redrive{Meta: rota.NewMeta("ada"), JobID: j.ID}))
		}
	}
	return c.GroupID()
}

// TestGroupTallyMatchesMembers compares the tally with a count over the members.
func TestGroupTallyMatchesMembers(t *testing.T) {
	s := openTest(t, Config{})
	id := fillHistory(t, s)
	var want rota.GroupTally
	for _, j := range listJobs(t, s, rota.JobQuery{GroupID: id, Limit: rota.PageMax}) {
		if j.Sequel != rota.SequelRetry {
			want.Count(j)
		}
	}
	g, err := s.Group(t.Context(), id)
	must(t, err)
	if g.Tally != want || want.Completed == 0 || want.Dead == 0 {
		t.Errorf("counted %+v, want %+v", g.Tally, want)
	}
	groups, err := s.Groups(t.Context(), rota.ID{}, 0)
	must(t, err)
	if len(groups) != 1 || groups[0].Tally != want {
		t.Errorf("listed %+v", groups)
	}
}

// TestPrunableFindsSameExecutionsForAnyPageSize compares the results with page sizes 1, 3 and 1000.
func TestPrunableFindsSameExecutionsForAnyPageSize(t *testing.T) {
	s := openTest(t, Config{})
	fillHistory(t, s)
	later := time.Now().Add(100 * 24 * time.Hour) // ids contain the time of the real clock
	for name, keep := range map[string]rota.Retention{
		"by age":   rota.DefaultRetention,
		"by count": {Completed: rota.Keep{Count: 1}, Dead: rota.Keep{Count: 2}, Cancelled: rota.Keep{Count: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var first string
			for _, limit := range []int{1, 3, 1000} {
				var found []string
				q := rota.PruneQuery{Retention: keep, Now: later, Limit: limit}
				for more := true; more; {
					page, err := s.Prunable(t.Context(), q)
					must(t, err)
					for _, id := range page.Executions {
						found = append(found, id.String())
					}
					q.From, more = page.Next, page.More
				}
				text := fmt.Sprintf("%d of %+v: %s", len(found), q.From.Seen, strings.Join(found, " "))
				if first == "" {
					first = text
				}
				if text != first || len(found) == 0 {
					t.Errorf("with page size %d Prunable finds %s\nwant %s", limit, text, first)
				}
			}
		})
	}
}
