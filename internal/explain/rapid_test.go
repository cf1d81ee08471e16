package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"pgregory.net/rapid"
)

// TestExplainReturnsReasonForAnyFacts checks that any facts, however
// incomplete, give at least one reason, most important first.
func TestExplainReturnsReasonForAnyFacts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := randomFacts(rt)
		reasons := Explain(f)
		if len(reasons) == 0 {
			rt.Fatalf("there is no reason for %+v", f.Job)
		}
		if !inOrderOfCodes(reasons) {
			rt.Fatalf("the reasons are not in their order:\n%s", written(reasons))
		}
		for _, r := range reasons {
			if !isSentence(r.Text) || !isSentence(r.Remedy) {
				rt.Fatalf("not sentences:\n%s", written(reasons))
			}
		}
		if f.Job.Status != rota.StatusQueued && len(reasons) != 1 {
			rt.Fatalf("a job that is %s has %d reasons", f.Job.State(), len(reasons))
		}
		last := reasons[len(reasons)-1].Code
		if f.Job.Ready() && last != rota.ReasonOrder {
			rt.Fatalf("a ready job lacks the reason order:\n%s", written(reasons))
		}
	})
}

func isSentence(text string) bool {
	return strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..") && !strings.ContainsAny(text, "\n\x00") &&
		!strings.Contains(text, "%!") && !strings.Contains(text, "  ") && strings.ToUpper(text[:1]) == text[:1]
}

// randomFacts returns facts of which any may be missing, as after a crash.
func randomFacts(rt *rapid.T) *Facts {
	draw := func(label string) bool { return rapid.Bool().Draw(rt, label) }
	n := func(label string, highest int) int { return rapid.IntRange(0, highest).Draw(rt, label) }
	f := &Facts{
		Now: testNow, Job: randomJob(rt, 1), Open: n("open", 3), OpenType: n("open of type", 3), OpenKey: n("open of key", 3),
		ReadyKey: n("ready of key", 3), Before: n("before", 3), BeforeType: n("before of type", 3),
		Limits: rota.ThrottleSpec{
			Global: n("global", 2), Keys: []rota.KeyLimit{{Key: "db", Concurrency: 1 + n("key", 2)}},
			Types: []rota.TypeLimit{{Type: "mail", Concurrency: n("type", 2), Rate: rota.Rate{Count: n("rate", 2), Per: time.Minute}}},
		},
	}
	if draw("failed") {
		f.Failed = randomJob(rt, 2)
	}
	if draw("redrive") {
		f.Redrive = randomJob(rt, 2)
	}
	if draw("paused") {
		f.Type = &rota.Type{Name: "mail", Paused: true}
	}
	if draw("group") {
		f.Group = &rota.Group{ID: jobID(9), Ending: rapid.SampledFrom([]rota.Ending{"", rota.EndingCancel, rota.EndingStop, rota.EndingSkip}).Draw(rt, "ending")}
	}
	if draw("bucket") {
		f.Bucket = &rota.Bucket{Type: "mail", Starts: []int{2}}
	}
	if draw("reservation") {
		f.Reservation = &rota.Reservation{Node: "w1", Status: rota.ReservationActive, ExpiresAt: someTime(rt)}
	}
	for i := range n("others", NamedJobsMax+1) {
		f.Earlier, f.Ahead = append(f.Earlier, randomJob(rt, 10+i)), append(f.Ahead, randomJob(rt, 20+i))
	}
	for range n("dependencies", 2) {
		f.Dependencies = append(f.Dependencies, randomDependency(rt))
	}
	return f
}

func randomDependency(rt *rapid.T) Dependency {
	state := rapid.SampledFrom([]rota.ScheduleState{rota.ScheduleEnabled, rota.SchedulePaused, rota.ScheduleDisabled}).Draw(rt, "state")
	d := Dependency{Schedule: &rota.Schedule{Name: "extract", State: state, NextFire: someTime(rt)}}
	for range rapid.IntRange(0, 2).Draw(rt, "scopes") {
		l := LatestTail{Scope: rota.Scope{Kind: "tenant", ID: "a"}}
		if rapid.Bool().Draw(rt, "ran") {
			l.Tail = randomJob(rt, 30)
		}
		d.Latest = append(d.Latest, l)
	}
	return d
}

// randomJob returns a job of any shape that the rules or a crash can leave.
func randomJob(rt *rapid.T, n int) *rota.Job {
	j := readyJob(n)
	j.Status = rapid.SampledFrom([]rota.Status{rota.StatusQueued, rota.StatusQueued, rota.StatusRunning, rota.StatusCancelled}).Draw(rt, "status")
	j.GroupID, j.GroupPosition = jobID(9), n
	j.RunAt, j.PlanTime, j.WaitFrom, j.WaitUntil = someTime(rt), testNow, someTime(rt), someTime(rt)
	j.Schedule, j.ConcurrencyKey = "load", rapid.SampledFrom([]string{"", "db", "free\nkey"}).Draw(rt, "key")
	if rapid.Bool().Draw(rt, "retry") {
		j.RetryOf, j.Attempt = jobID(99), 2
	}
	switch j.Status {
	case rota.StatusQueued:
		j.Hold = rota.Hold(rapid.IntRange(0, 255).Draw(rt, "hold"))
	case rota.StatusCancelled:
		j.FinishedAt, j.Sequel = testNow, rota.SequelNone
	case rota.StatusRunning:
		randomRun(rt, j)
	}
	return j
}

func randomRun(rt *rapid.T, j *rota.Job) {
	j.StartedAt, j.FinishedAt = testNow, someTime(rt)
	j.Sequel = rapid.SampledFrom([]rota.Sequel{"", rota.SequelNone, rota.SequelRetry, rota.SequelDead}).Draw(rt, "sequel")
	if rapid.Bool().Draw(rt, "lost") {
		return
	}
	outcomes := []rota.Outcome{"", rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeSkipped, rota.OutcomeCancelled}
	j.Run = &rota.Run{
		Runner: "w1", Outcome: rapid.SampledFrom(outcomes).Draw(rt, "outcome"), StaleAfter: someTime(rt), CancelAt: someTime(rt),
		ErrorCode:    rapid.SampledFrom([]string{"", rota.CodeTimeout, "dns"}).Draw(rt, "code"),
		Error:        rapid.SampledFrom([]string{"", "skipped: it", "no\nhost.", strings.Repeat("é", 300), "\xff"}).Draw(rt, "error"),
		CancelReason: rapid.SampledFrom([]string{"", "why not?", " \t"}).Draw(rt, "reason"),
	}
}

func someTime(rt *rapid.T) time.Time {
	times := []time.Time{{}, testNow.Add(-time.Minute), testNow, testNow.Add(time.Minute)}
	return times[rapid.IntRange(0, len(times)-1).Draw(rt, "time")]
}

// TestExplainTextsAreSentences checks the texts of the test cases.
func TestExplainTextsAreSentences(t *testing.T) {
	for _, test := range explanations {
		for _, r := range Explain(test.facts) {
			if !isSentence(r.Text) || !isSentence(r.Remedy) {
				t.Errorf("%s: %s", test.name, written([]rota.Reason{r}))
			}
		}
		if got := Explain(test.facts); !inOrderOfCodes(got) || !slices.EqualFunc(got, Explain(test.facts), sameReason) {
			t.Errorf("%s: the reasons are out of order, or differ the second time", test.name)
		}
	}
}

func sameReason(a, b rota.Reason) bool {
	return a.Code == b.Code && a.Text == b.Text && a.Remedy == b.Remedy && a.Until.Equal(b.Until) && slices.Equal(a.Jobs, b.Jobs)
}
