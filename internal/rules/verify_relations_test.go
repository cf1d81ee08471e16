package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// details is a Verifier and what it tells.
func details() (*Verifier, *[]string) {
	var told []string
	return NewVerifier(func(v rota.Violation) { told = append(told, v.Check+": "+v.Detail) }), &told
}

func TestRetryKeepsItsCompany(t *testing.T) {
	for field, change := range map[string]func(*rota.Job){
		"template":         func(j *rota.Job) { j.Template = "other" },
		"schedule":         func(j *rota.Job) { j.CountsAt = j.CountsAt.Add(time.Second) },
		"place in a group": func(j *rota.Job) { j.GroupPosition++ },
		"concurrency key":  func(j *rota.Job) { j.ConcurrencyKey = "other" },
	} {
		parent := endedJob(1, rota.OutcomeFailed, rota.SequelRetry)
		retry := retryOf(parent, 2)
		change(retry)
		if got := lost(retry, parent); got != field {
			t.Errorf("lost %q, want %q", got, field)
		}
	}
}

// TestQueuedEarlyKnowsWhoWaitedForMore: a clock that was set back meanwhile
// makes their places look early.
func TestQueuedEarlyKnowsWhoWaitedForMore(t *testing.T) {
	skipped := endedJob(1, rota.OutcomeSkipped, rota.SequelNone)
	keyed, member, plain := readyJob(2), readyJob(3), readyJob(4)
	keyed.ConcurrencyKey = "printer"
	member.GroupID, member.GroupPosition = jobID(9), 1
	for j, early := range map[*rota.Job]bool{skipped: false, keyed: false, member: false, plain: true} {
		j.RunAt = j.QueuedAt.Add(time.Second)
		v, names := told()
		v.Job(Row{Job: j})
		if slices.Contains(*names, rota.CheckQueuedEarly) != early {
			t.Errorf("%s: found %v", j.ID, *names)
		}
	}
}

func TestSkippedExecutionMayPassItsKeyOn(t *testing.T) {
	j := endedJob(1, rota.OutcomeSkipped, rota.SequelNone)
	j.UniqueKey = "k"
	for _, held := range []*KeyRecord{nil, {ExecutionID: jobID(2)}, {ExecutionID: j.ID}} {
		v, names := told()
		v.Job(Row{Job: j, Key: held})
		if len(*names) > 0 {
			t.Errorf("with %+v found %v", held, *names)
		}
	}
}

func TestCalledOffRedrivesMayBeMany(t *testing.T) {
	dead := endedJob(1, rota.OutcomeFailed, rota.SequelDead)
	off := endedJob(2, rota.OutcomeCancelled, rota.SequelNone)
	goes, other := readyJob(3), readyJob(4)
	for _, j := range []*rota.Job{off, goes, other} {
		j.RedriveOf = dead.ID
	}
	other.RedriveOf = jobID(7)
	v, names := told()
	r := v.Redrives()
	r.Next(off, off, dead)
	r.Next(goes, goes, dead)
	r.Next(other, other, nil) // of an execution that was pruned
	if len(*names) > 0 {
		t.Errorf("found %v", *names)
	}
	r.Next(readyLike(other, 5), other, nil)
	if !slices.Equal(*names, []string{rota.CheckRedriveTwice}) {
		t.Errorf("found %v", *names)
	}
}

func readyLike(j *rota.Job, n int) *rota.Job {
	like := *j
	like.ID, like.ExecutionID = jobID(n), jobID(n)
	return &like
}

// laneJobs are the jobs of a key as a word tells: o runs, r is ready, h is held
// back by the key, d waits for something else. They stand in this order.
func laneJobs(key, word string) (jobs []*rota.Job) {
	for i, c := range word {
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

func TestLanesAreBalanced(t *testing.T) {
	for _, test := range []struct {
		limit int // 0: none
		word  string
		clean bool
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
		if found := walkLane(test.limit, test.word, false); (len(found) == 0) != test.clean {
			t.Errorf("limit %d, %s: found %v", test.limit, test.word, found)
		}
		if found := walkLane(test.limit, test.word, true); len(found) > 0 {
			t.Errorf("limit %d, %s: found %v, although a Sweep is to see to it", test.limit, test.word, found)
		}
	}
}

// walkLane says what is found in a lane whose jobs come in another order, after
// those of another key.
func walkLane(limit int, word string, owed bool) []string {
	v, names := told()
	if limit > 0 {
		v.limits.Keys = []rota.KeyLimit{{Key: "printer", Concurrency: limit}}
	}
	if owed {
		v.Intent(Intent{IntentKey, "printer"}, true)
	}
	jobs := laneJobs("printer", word)
	slices.Reverse(jobs)
	lanes := v.KeyQueues()
	for _, j := range append(laneJobs("free", "r"), jobs...) {
		lanes.Next(j)
	}
	lanes.End()
	return *names
}

func TestTurnsAreGivenByScheduleAndScope(t *testing.T) {
	job := func(n int, schedule, scope string, hold rota.Hold) *rota.Job {
		j := readyJob(n)
		j.Schedule, j.Hold = schedule, hold
		if scope != "" {
			j.ScopeKind, j.ScopeID = "shard", scope
		}
		return j
	}
	v, told := details()
	turns := v.Turns()
	for _, j := range []*rota.Job{
		job(1, "a", "", rota.HoldOverlap), job(2, "a", "", rota.HoldDelay), job(3, "a", "1", rota.HoldOverlap),
		job(4, "a", "2", 0), job(5, "b", "2", rota.HoldOverlap), job(6, "b", "2", rota.HoldOverlap|rota.HoldDependency),
	} {
		turns.Next(j)
	}
	turns.End()
	want := []string{
		"overlap_turn: all that has not ended of it for shard 1 waits for another to end",
		"overlap_turn: all that has not ended of it for shard 2 waits for another to end",
	}
	if !slices.Equal(*told, want) {
		t.Errorf("told %q", *told)
	}
}

// rollOf calls members as a word tells: e has ended, o runs, s runs and was
// asked to stop, r is ready, h waits for its turn.
func rollOf(v *Verifier, g *rota.Group, word string) {
	roll := v.Group(g)
	for i, c := range word {
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
		roll.Next(j)
	}
	roll.End()
}

func TestGroupsGoOn(t *testing.T) {
	sequential := rota.Group{ID: jobID(99), Mode: rota.GroupSequential, OnFailure: rota.FailureStop, Size: 3}
	parallel, pruned, stopped, cancelled := sequential, sequential, sequential, sequential
	parallel.Mode = rota.GroupParallel
	pruned.Pruned.Dead = 1
	stopped.Ending, cancelled.Ending = rota.EndingStop, rota.EndingCancel
	for _, test := range []struct {
		group rota.Group
		word  string
		owed  bool
		want  string
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
		v, names := told()
		if test.owed {
			v.Intent(Intent{IntentGroup, test.group.ID.String()}, true)
		}
		rollOf(v, &test.group, test.word)
		if got := strings.Join(*names, " "); got != test.want {
			t.Errorf("%s %s, owed %v: found %q, want %q", test.group.Mode, test.word, test.owed, got, test.want)
		}
	}
}

func TestEveryCycleIsNamedOnce(t *testing.T) {
	v, told := details()
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
	if !slices.Equal(*told, want) {
		t.Errorf("told %q", *told)
	}
}

func TestSweepMayStillOweADisabling(t *testing.T) {
	v, names := told()
	v.templates["old"] = rota.TemplateArchived
	v.schedules["s"] = &declaredSchedule{template: "old", enabled: true}
	v.Intent(Intent{IntentTemplate, "old"}, true)
	v.References()
	if len(*names) > 0 {
		t.Errorf("found %v", *names)
	}
}

// TestOnceIsSpentWhenItsTimeWasFired: one that was declared anew, or that nobody
// gave a next fire, has not fired.
func TestOnceIsSpentWhenItsTimeWasFired(t *testing.T) {
	spec := rota.ScheduleSpec{Template: "t", At: verifyNow}.Canonical()
	for last, want := range map[time.Time]int{verifyNow: 1, verifyNow.Add(-time.Hour): 0, {}: 0} {
		v, names := told()
		v.templates["t"] = rota.TemplateActive
		v.Schedule(ScheduleRow{
			Schedule: &rota.Schedule{Name: "once", State: rota.ScheduleEnabled, LastFire: last},
			Template: "t", Spec: rota.EncodeSpec(spec),
		})
		v.References()
		if len(*names) != want {
			t.Errorf("last fired at %s: found %v", last, *names)
		}
	}
}
