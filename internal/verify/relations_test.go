package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// checkDetails returns a Verifier and the details it reports.
func checkDetails() (*Verifier, *[]string) {
	var found []string
	return NewVerifier(func(v rota.Violation) { found = append(found, v.Check+": "+v.Detail) }), &found
}

func TestLostFieldNamesRelationThatRetryChanged(t *testing.T) {
	for field, change := range map[string]func(*rota.Job){
		"template":         func(j *rota.Job) { j.Template = "other" },
		"schedule":         func(j *rota.Job) { j.CountsAt = j.CountsAt.Add(time.Second) },
		"place in a group": func(j *rota.Job) { j.GroupPosition++ },
		"concurrency key":  func(j *rota.Job) { j.ConcurrencyKey = "other" },
	} {
		parent := endedJob(1, rota.OutcomeFailed, rota.SequelRetry)
		retry := retryOf(parent, 2)
		change(retry)
		if got := lostField(retry, parent); got != field {
			t.Errorf("lost %q, want %q", got, field)
		}
	}
}

// TestQueuedEarlyIgnoresJobThatWaitedForMoreThanTime: a clock that was set back
// meanwhile makes their queued_at look early.
func TestQueuedEarlyIgnoresJobThatWaitedForMoreThanTime(t *testing.T) {
	skipped := endedJob(1, rota.OutcomeSkipped, rota.SequelNone)
	keyed, member, plain := readyJob(2), readyJob(3), readyJob(4)
	keyed.ConcurrencyKey = "printer"
	member.GroupID, member.GroupPosition = jobID(9), 1
	for j, early := range map[*rota.Job]bool{skipped: false, keyed: false, member: false, plain: true} {
		j.RunAt = j.QueuedAt.Add(time.Second)
		v, names := checkNames()
		v.Job(Row{Job: j})
		if slices.Contains(*names, rota.CheckQueuedEarly) != early {
			t.Errorf("%s: found %v", j.ID, *names)
		}
	}
}

func TestSkippedExecutionMayLoseItsKey(t *testing.T) {
	j := endedJob(1, rota.OutcomeSkipped, rota.SequelNone)
	j.UniqueKey = "k"
	for _, held := range []*rules.UniqueKeyRecord{nil, {ExecutionID: jobID(2)}, {ExecutionID: j.ID}} {
		v, names := checkNames()
		v.Job(Row{Job: j, Key: held})
		if len(*names) > 0 {
			t.Errorf("with %+v found %v", held, *names)
		}
	}
}

func TestRedriveTwiceIgnoresCancelledRedrives(t *testing.T) {
	dead := endedJob(1, rota.OutcomeFailed, rota.SequelDead)
	cancelled := endedJob(2, rota.OutcomeCancelled, rota.SequelNone)
	active, other := readyJob(3), readyJob(4)
	for _, j := range []*rota.Job{cancelled, active, other} {
		j.RedriveOf = dead.ID
	}
	other.RedriveOf = jobID(7)
	v, names := checkNames()
	r := v.Redrives()
	r.Next(cancelled, cancelled, dead, false)
	r.Next(active, active, dead, false)
	r.Next(other, other, nil, false) // of an execution that was pruned
	r.Next(copyWithID(other, 5), other, nil, false)
	if len(*names) > 0 {
		t.Errorf("found %v", *names)
	}
	dead2 := copyWithID(dead, 9)
	for n := 10; n <= 11; n++ {
		again := copyWithID(active, n)
		again.RedriveOf = dead2.ID
		r.Next(again, again, dead2, false)
	}
	if !slices.Equal(*names, []string{rota.CheckRedriveTwice}) {
		t.Errorf("found %v", *names)
	}
}

func TestRedriveTwiceIgnoresRepeatsOfCompletedExecutions(t *testing.T) {
	done := endedJob(1, rota.OutcomeCompleted, rota.SequelNone)
	one, other := readyJob(2), readyJob(3)
	one.RedriveOf, other.RedriveOf = done.ID, done.ID
	v, names := checkNames()
	r := v.Redrives()
	r.Next(one, one, done, true)
	r.Next(other, other, done, true)
	if len(*names) > 0 {
		t.Errorf("found %v", *names)
	}
}

func copyWithID(j *rota.Job, n int) *rota.Job {
	like := *j
	like.ID, like.ExecutionID = jobID(n), jobID(n)
	return &like
}

// keyQueueJobs returns the jobs of a key, one per letter, in dispatch order: o
// runs, r is ready, h is held back by the key, d waits for something else.
func keyQueueJobs(key, letters string) (jobs []*rota.Job) {
	for i, c := range letters {
		j := readyJob(i + 1)
		j.ConcurrencyKey = key
		switch c {
		case 'o':
			j.Status = rota.StatusRunning
		case 'h':
			j.Hold = rota.HoldKey
		case 'd':
			j.Hold = rota.HoldDelay
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func TestKeyQueueWalkFindsUnbalancedQueue(t *testing.T) {
	for _, test := range []struct {
		limit   int // 0: none
		letters string
		clean   bool
	}{
		{0, "oorrd", true},
		{0, "rh", false},
		{2, "orh", true},
		{2, "rr", true},
		{2, "rrr", false},
		{2, "oh", false},
		{2, "od", true},
		{2, "ooohh", true},
		{2, "ooor", true}, // of a type that is not the one that runs
		{1, "rh", true},
		{1, "hr", false},
		{1, "dhhr", false},
	} {
		if found := walkKeyQueue(test.limit, test.letters, false); (len(found) == 0) != test.clean {
			t.Errorf("limit %d, %s: found %v", test.limit, test.letters, found)
		}
		if found := walkKeyQueue(test.limit, test.letters, true); len(found) > 0 {
			t.Errorf("limit %d, %s: found %v, although a Sweep is pending", test.limit, test.letters, found)
		}
	}
}

// walkKeyQueue returns the checks reported for a key queue whose jobs are
// streamed in reverse, after those of another key.
func walkKeyQueue(limit int, letters string, owed bool) []string {
	v, names := checkNames()
	if limit > 0 {
		v.limits.Keys = []rota.KeyLimit{{Key: "printer", Concurrency: limit}}
	}
	if owed {
		v.Intent(rules.Intent{Kind: rules.IntentKey, Name: "printer"}, true)
	}
	jobs := keyQueueJobs("printer", letters)
	slices.Reverse(jobs)
	walk := v.KeyQueues()
	for _, j := range append(keyQueueJobs("free", "r"), jobs...) {
		walk.Next(j)
	}
	walk.End()
	return *names
}

// A limit of each key of a type counts only the jobs of the type, and a key's
// other types are free.
func TestKeyQueueWalkCountsEachKeyAndType(t *testing.T) {
	prefix := rota.ThrottleSpec{EachKey: []rota.EachKeyLimit{{Pattern: "print*", Concurrency: 1}}}
	perType := rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}}}
	for _, test := range []struct {
		limits       rota.ThrottleSpec
		mails, other string // as in keyQueueJobs
		clean        bool
	}{
		{prefix, "rh", "rh", true},
		{prefix, "oh", "h", true},
		{prefix, "h", "o", true},
		{prefix, "rr", "", false},
		{prefix, "h", "", false},
		{perType, "rh", "rrr", true},
		{perType, "oh", "oorr", true},
		{perType, "h", "o", false}, // the other type does not count
		{perType, "rr", "", false},
		{perType, "r", "h", false}, // the other type has no limit
	} {
		for _, pending := range []*rules.Intent{nil, {Kind: rules.IntentKeys, Name: "printer"}, {Kind: rules.IntentKeys}, {Kind: rules.IntentKeys, Name: "printed"}} {
			v, names := checkNames()
			v.limits = test.limits
			if pending != nil {
				v.Intent(*pending, true)
			}
			walk := v.KeyQueues()
			for _, j := range keyQueueJobs("printer", test.mails) {
				j.Type = "mail"
				walk.Next(j)
			}
			for _, j := range keyQueueJobs("printer", test.other) {
				j.Type = "other"
				walk.Next(j)
			}
			walk.End()
			swept := pending != nil && pending.Name < "printer" // a Sweep is to visit it
			if (len(*names) == 0) != (test.clean || swept) {
				t.Errorf("%+v, mails %s, others %s, intent %v: found %v", test.limits, test.mails, test.other, pending, *names)
			}
		}
	}
}

func TestTurnWalkReportsBySchedulesAndScopes(t *testing.T) {
	job := func(n int, schedule, scope string, hold rota.Hold) *rota.Job {
		j := readyJob(n)
		j.Schedule, j.Hold = schedule, hold
		if scope != "" {
			j.ScopeKind, j.ScopeID = "shard", scope
		}
		return j
	}
	v, found := checkDetails()
	turns := v.Turns()
	for _, j := range []*rota.Job{
		job(1, "a", "", rota.HoldOverlap), job(2, "a", "", rota.HoldDelay), job(3, "a", "1", rota.HoldOverlap),
		job(4, "a", "2", 0), job(5, "b", "2", rota.HoldOverlap), job(6, "b", "2", rota.HoldOverlap|rota.HoldDependency),
	} {
		turns.Next(j)
	}
	turns.End()
	want := []string{
		"overlap_turn: all its live jobs for shard 1 wait for another to end",
		"overlap_turn: all its live jobs for shard 2 wait for another to end",
	}
	if !slices.Equal(*found, want) {
		t.Errorf("found %q", *found)
	}
}

// walkGroup streams members, one per letter: e has ended, o runs, s runs and
// was asked to stop, r is ready, h waits for an earlier member.
func walkGroup(v *Verifier, g *rota.Group, letters string) {
	walk := v.Group(g)
	for i, c := range letters {
		j := readyJob(i + 1)
		j.GroupID, j.GroupPosition = g.ID, i+1
		switch c {
		case 'e':
			j = endedJob(i+1, rota.OutcomeCompleted, rota.SequelNone)
			j.GroupPosition = i + 1
		case 'o', 's':
			j.Status, j.Run = rota.StatusRunning, &rota.Run{}
			if c == 's' {
				j.Run.CancelAt = verifyNow
			}
		case 'h':
			j.Hold = rota.HoldGroup
		}
		walk.Next(j)
	}
	walk.End()
}

func TestGroupWalkFindsStuckGroup(t *testing.T) {
	sequential := rota.Group{ID: jobID(99), Mode: rota.GroupSequential, OnFailure: rota.FailureStop, Size: 3}
	parallel, pruned, stopped, cancelled := sequential, sequential, sequential, sequential
	parallel.Mode = rota.GroupParallel
	pruned.Pruned.Dead = 1
	stopped.Ending, cancelled.Ending = rota.EndingStop, rota.EndingCancel
	for _, test := range []struct {
		group   rota.Group
		letters string
		owed    bool
		want    string
	}{
		{sequential, "rhh", false, ""},
		{sequential, "ohh", false, ""},
		{sequential, "eoh", false, ""},
		{sequential, "ehh", false, rota.CheckGroupTurn},
		{sequential, "ehh", true, ""},
		{sequential, "orh", false, rota.CheckGroupTurn},
		{sequential, "eee", false, ""},
		{sequential, "eo", false, rota.CheckGroupPlaces},
		{pruned, "eo", false, ""},
		{parallel, "oro", false, ""},
		{parallel, "orh", false, rota.CheckGroupTurn},
		{stopped, "eee", false, ""},
		{stopped, "eeo", false, ""},
		{stopped, "eeh", false, rota.CheckGroupEnded},
		{stopped, "eeh", true, ""},
		{cancelled, "ees", false, ""},
		{cancelled, "eeo", false, rota.CheckGroupEnded},
		{cancelled, "eeo", true, ""},
	} {
		v, names := checkNames()
		if test.owed {
			v.Intent(rules.Intent{Kind: rules.IntentGroup, Name: test.group.ID.String()}, true)
		}
		walkGroup(v, &test.group, test.letters)
		if got := strings.Join(*names, " "); got != test.want {
			t.Errorf("%s %s, owed %v: found %q, want %q", test.group.Mode, test.letters, test.owed, got, test.want)
		}
	}
}

func TestReferencesReportsEachCycleOnce(t *testing.T) {
	v, found := checkDetails()
	for name, dependsOn := range map[string][]string{
		"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": nil, "e": {"a", "f"}, "f": {"g"}, "g": {"f"}, "h": {"h"}, "i": {"d"},
	} {
		v.schedules[name] = &declaredSchedule{template: "t", dependsOn: dependsOn}
	}
	v.templates["t"] = rota.TemplateActive
	v.References()
	want := []string{
		"dependency_cycle: it depends on itself: a → b → c → a",
		"dependency_cycle: it depends on itself: f → g → f",
		"dependency_cycle: it depends on itself: h → h",
	}
	if !slices.Equal(*found, want) {
		t.Errorf("found %q", *found)
	}
}

func TestEnabledScheduleOfArchivedTemplateAwaitsSweep(t *testing.T) {
	v, names := checkNames()
	v.templates["old"] = rota.TemplateArchived
	v.schedules["s"] = &declaredSchedule{template: "old", enabled: true}
	v.Intent(rules.Intent{Kind: rules.IntentTemplate, Name: "old"}, true)
	v.References()
	if len(*names) > 0 {
		t.Errorf("found %v", *names)
	}
}

// TestOneTimeScheduleIsSpentOnlyAfterItsTimeFired: a schedule that was declared
// with a new time, or that has no next fire, has not fired.
func TestOneTimeScheduleIsSpentOnlyAfterItsTimeFired(t *testing.T) {
	spec := rota.ScheduleSpec{Template: "t", At: verifyNow}.Canonical()
	for last, want := range map[time.Time]int{verifyNow: 1, verifyNow.Add(-time.Hour): 0, {}: 0} {
		v, names := checkNames()
		v.templates["t"] = rota.TemplateActive
		v.Schedule(ScheduleRow{
			Schedule: &rota.Schedule{Name: "once", State: rota.ScheduleEnabled, Owner: rota.AdminUser, LastFire: last},
			Template: "t", Spec: rota.EncodeSpec(spec),
		})
		v.References()
		if len(*names) != want {
			t.Errorf("last fired at %s: found %v", last, *names)
		}
	}
}
