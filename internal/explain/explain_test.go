package explain

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// testNow is the time of the tests.
var testNow = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// The job that is explained, and other jobs.
const (
	self  = "00000000-0000-7000-8000-000000000001"
	other = "00000000-0000-7000-8000-000000000002"
	third = "00000000-0000-7000-8000-000000000003"
)

// explained is a test case: the facts about a job and the reasons expected.
type explained struct {
	name  string
	facts *Facts
	want  []rota.Reason
}

var explanations = slices.Concat(ends, runs, waits, dependencies, limits, orders)

func TestExplain(t *testing.T) {
	for _, test := range explanations {
		t.Run(test.name, func(t *testing.T) {
			got := Explain(test.facts)
			for i := range max(len(got), len(test.want)) {
				if i >= len(got) || i >= len(test.want) || !reflect.DeepEqual(got[i], test.want[i]) {
					t.Fatalf("the explanation is\n%s\nwant\n%s", written(got), written(test.want))
				}
			}
		})
	}
}

func TestEveryReasonCodeHasExplainTest(t *testing.T) {
	tested := map[rota.ReasonCode]bool{}
	for _, test := range explanations {
		for _, r := range test.want {
			tested[r.Code] = true
		}
	}
	for _, code := range rota.ReasonCodes {
		if !tested[code] {
			t.Errorf("no test has the reason %s", code)
		}
	}
}

func written(reasons []rota.Reason) string {
	var b strings.Builder
	for _, r := range reasons {
		b.WriteString("  " + string(r.Code) + ": " + r.Text + "\n    " + r.Remedy + "\n")
		if !r.Until.IsZero() {
			b.WriteString("    until " + rules.Stamp(r.Until) + "\n")
		}
		for _, id := range r.Jobs {
			b.WriteString("    " + rules.JobRef(id) + "\n")
		}
	}
	return b.String()
}

// about returns the facts about a ready job, changed by a function.
func about(change func(j *rota.Job, f *Facts)) *Facts {
	f := &Facts{Now: testNow, Job: readyJob(1)}
	change(f.Job, f)
	return f
}

// aboutEnd returns the facts about a job whose run has ended.
func aboutEnd(outcome rota.Outcome, sequel rota.Sequel, change func(j *rota.Job, f *Facts)) *Facts {
	return about(func(_ *rota.Job, f *Facts) {
		f.Job = endedJob(1, outcome, sequel)
		change(f.Job, f)
	})
}

// because returns one reason.
func because(code rota.ReasonCode, text, remedy string) rota.Reason {
	return rota.Reason{Code: code, Text: text, Remedy: remedy}
}

func until(r rota.Reason, at time.Time) rota.Reason {
	r.Until = at
	return r
}

func naming(r rota.Reason, jobs ...int) rota.Reason {
	for _, n := range jobs {
		r.Jobs = append(r.Jobs, jobID(n))
	}
	return r
}

func only(r rota.Reason) []rota.Reason { return []rota.Reason{r} }

// first is the reason of a job at the head of the order that something else
// holds back.
var first = because(rota.ReasonOrder, "It is the first in the order.",
	"When nothing else holds it back, the next worker for type mail with a free slot takes it.")

var ends = []explained{
	{
		"it completed",
		aboutEnd(rota.OutcomeCompleted, rota.SequelNone, func(*rota.Job, *Facts) {}),
		only(because(rota.ReasonEnded, "It completed at 2026-05-04T12:00:00Z, in attempt 1 of 4.",
			"Nothing is left to do; to run it again: rota job run-again "+self+".")),
	},
	{
		"it failed for good",
		aboutEnd(rota.OutcomeFailed, rota.SequelDead, func(j *rota.Job, _ *Facts) {
			j.Attempt = 4
			j.Run.ErrorCode, j.Run.Error = "dns", "no such host\n  mail.example."
		}),
		only(because(rota.ReasonEnded, "It failed for good at 2026-05-04T12:00:00Z, in attempt 4 of 4: dns: no such host mail.example.",
			"Fix the cause, then retry it: rota dead retry "+self+".")),
	},
	{
		"its time ran out for good",
		aboutEnd(rota.OutcomeCancelled, rota.SequelDead, func(j *rota.Job, _ *Facts) { j.Run.ErrorCode = rota.CodeTimeout }),
		only(because(rota.ReasonEnded, "It failed for good at 2026-05-04T12:00:00Z, in attempt 1 of 4: timeout.",
			"Fix the cause, then retry it: rota dead retry "+self+".")),
	},
	{
		"it failed for good and was redriven",
		aboutEnd(rota.OutcomeFailed, rota.SequelDead, func(_ *rota.Job, f *Facts) { f.Redrive = readyJob(2) }),
		only(naming(because(rota.ReasonEnded, "It failed for good at 2026-05-04T12:00:00Z, in attempt 1 of 4.",
			"It was retried as job "+other+": rota job explain "+other+"."), 2)),
	},
	{
		"its redrive was cancelled",
		aboutEnd(rota.OutcomeFailed, rota.SequelDead, func(_ *rota.Job, f *Facts) {
			f.Redrive = readyJob(2)
			f.Redrive.Status = rota.StatusCancelled
		}),
		only(naming(because(rota.ReasonEnded, "It failed for good at 2026-05-04T12:00:00Z, in attempt 1 of 4.",
			"Fix the cause, then retry it: rota dead retry "+self+"."), 2)),
	},
	{
		"it was skipped",
		aboutEnd(rota.OutcomeSkipped, rota.SequelNone, func(j *rota.Job, _ *Facts) {
			j.Run.ErrorCode, j.Run.Error = rota.CodeDependency, "skipped: schedule extract did not complete in time"
		}),
		only(because(rota.ReasonEnded, "It was skipped at 2026-05-04T12:00:00Z: schedule extract did not complete in time.",
			"To run it anyway: rota job retry "+self+".")),
	},
	{
		"it was cancelled while it ran",
		aboutEnd(rota.OutcomeCancelled, rota.SequelNone, func(j *rota.Job, _ *Facts) {
			j.Run.CancelAt, j.Run.CancelBy, j.Run.CancelReason = testNow, "ada", "not needed"
		}),
		only(because(rota.ReasonEnded, "It was cancelled at 2026-05-04T12:00:00Z while it ran: ada asked it to stop (not needed).",
			"To run it anyway: rota job retry "+self+".")),
	},
	{
		"it was cancelled before it started",
		about(func(j *rota.Job, _ *Facts) {
			j.Status, j.FinishedAt, j.Sequel = rota.StatusCancelled, testNow, rota.SequelNone
		}),
		only(because(rota.ReasonEnded, "It was cancelled at 2026-05-04T12:00:00Z, before it started.",
			"To run it anyway: rota job retry "+self+".")),
	},
	{
		"it was cancelled with its group",
		about(func(j *rota.Job, f *Facts) {
			j.Status, j.FinishedAt, j.Sequel, j.GroupID = rota.StatusCancelled, testNow, rota.SequelNone, jobID(3)
			f.Group = &rota.Group{ID: jobID(3), Name: "batch", Ending: rota.EndingStop, EndingReason: "a member died: job " + other}
		}),
		only(because(rota.ReasonEnded, "It was cancelled at 2026-05-04T12:00:00Z, before it started; "+
			"its group batch ("+third+") was ended (a member died: job "+other+").",
			"To run it anyway: rota job retry "+self+".")),
	},
	{
		"its end was not settled",
		aboutEnd(rota.OutcomeFailed, "", func(*rota.Job, *Facts) {}),
		only(because(rota.ReasonEnded, "It failed at 2026-05-04T12:00:00Z, in attempt 1 of 4.",
			"Its worker settles this at its next start; if it does not, check the store with rota verify.")),
	},
}

// aboutRun returns the facts about a job that runs.
func aboutRun(change func(r *rota.Run, j *rota.Job)) *Facts {
	return about(func(j *rota.Job, _ *Facts) {
		j.Status, j.StartedAt = rota.StatusRunning, testNow.Add(-time.Minute)
		j.Run = &rota.Run{Runner: "w1", StartedAt: j.StartedAt, HeartbeatAt: testNow, StaleAfter: testNow.Add(time.Minute)}
		change(j.Run, j)
	})
}

var runs = []explained{
	{
		"it runs",
		aboutRun(func(*rota.Run, *rota.Job) {}),
		only(because(rota.ReasonRunning, "Worker w1 has been running it since 2026-05-04T11:59:00Z, in attempt 1 of 4.",
			"Wait until it ends, or ask it to stop: rota job cancel "+self+".")),
	},
	{
		"it was asked to stop",
		aboutRun(func(r *rota.Run, _ *rota.Job) { r.CancelAt, r.CancelBy = testNow, "ada" }),
		only(because(rota.ReasonRunning,
			"Worker w1 has been running it since 2026-05-04T11:59:00Z, in attempt 1 of 4; at 2026-05-04T12:00:00Z ada asked it to stop.",
			"It ends when its handler returns.")),
	},
	{
		"its lease has expired",
		aboutRun(func(r *rota.Run, _ *rota.Job) {
			r.HeartbeatAt, r.StaleAfter = testNow.Add(-40*time.Second), testNow.Add(-10*time.Second)
		}),
		only(because(rota.ReasonRunning, "Worker w1 took it at 2026-05-04T11:59:00Z and sent its last heartbeat at 2026-05-04T11:59:20Z; "+
			"its lease ended at 2026-05-04T11:59:50Z.",
			"It will soon be recorded as FAILED, and is retried if attempts are left; if this does not happen, no server is running: rota serve.")),
	},
	{
		"its run was lost",
		aboutRun(func(_ *rota.Run, j *rota.Job) { j.Run = nil }),
		only(because(rota.ReasonRunning, "It was started at 2026-05-04T11:59:00Z, and its process ended in the middle of a write.",
			"Its worker settles this at its next start; if it does not, check the store with rota verify.")),
	},
}

// inOrderOfCodes reports whether reasons are sorted, most important first.
func inOrderOfCodes(reasons []rota.Reason) bool {
	return slices.IsSortedFunc(reasons, func(a, b rota.Reason) int {
		return cmp.Compare(slices.Index(rota.ReasonCodes, a.Code), slices.Index(rota.ReasonCodes, b.Code))
	})
}
