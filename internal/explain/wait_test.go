package explain

import (
	"time"

	"github.com/rotajobs/rota"
)

var waits = []explained{
	{
		"its group was cancelled",
		about(func(j *rota.Job, f *Facts) {
			j.GroupID = jobID(3)
			f.Group = &rota.Group{ID: jobID(3), Ending: rota.EndingCancel, EndingBy: "ada", EndingReason: "not needed"}
		}),
		[]rota.Reason{
			because(rota.ReasonEnding, "Its group "+third+" was cancelled by ada (not needed), so it will not start.",
				"It will soon be cancelled; after that, to run it anyway: rota job retry "+self+"."),
			first,
		},
	},
	{
		"its group is skipped",
		about(func(j *rota.Job, f *Facts) {
			j.GroupID = jobID(3)
			f.Group = &rota.Group{ID: jobID(3), Ending: rota.EndingSkip, EndingReason: "a member died: job " + other}
		}),
		[]rota.Reason{
			because(rota.ReasonEnding, "Its group "+third+" was ended (a member died: job "+other+"), so it will not start.",
				"It will soon be recorded as SKIPPED; after that, to run it anyway: rota job retry "+self+"."),
			first,
		},
	},
	{
		"its type is paused",
		about(func(_ *rota.Job, f *Facts) { f.Type = &rota.Type{Name: "mail", Paused: true} }),
		[]rota.Reason{
			because(rota.ReasonPaused, "Its type, mail, is paused.", "Resume the type: POST /api/v1/types/mail/resume."),
			first,
		},
	},
	{
		"its time has not come",
		about(func(j *rota.Job, _ *Facts) { j.Hold, j.RunAt = rota.HoldDelay, testNow.Add(time.Hour) }),
		only(until(because(rota.ReasonDelay, "It may not start before 2026-05-04T13:00:00Z.",
			"It becomes ready at 2026-05-04T13:00:00Z; to run it now: rota job run-now "+self+"."),
			testNow.Add(time.Hour))),
	},
	{
		"the time of a member has not come",
		about(func(j *rota.Job, f *Facts) {
			j.Hold, j.RunAt, j.GroupID = rota.HoldDelay, testNow.Add(time.Hour), jobID(3)
			f.Group = &rota.Group{ID: jobID(3)}
		}),
		only(until(because(rota.ReasonDelay, "It may not start before 2026-05-04T13:00:00Z.",
			"It becomes ready at 2026-05-04T13:00:00Z; to run it now: rota job run-now "+self+"."), testNow.Add(time.Hour))),
	},
	{
		"neither the time nor the turn of a member has come",
		about(func(j *rota.Job, f *Facts) {
			j.Hold, j.RunAt, j.GroupID, j.GroupPosition = rota.HoldDelay|rota.HoldGroup, testNow.Add(time.Hour), jobID(3), 3
			f.Group = &rota.Group{ID: jobID(3)}
		}),
		[]rota.Reason{
			until(because(rota.ReasonDelay, "It may not start before 2026-05-04T13:00:00Z.",
				"This delay ends at 2026-05-04T13:00:00Z; to end it now: rota job edit "+self+" --delay 0s."), testNow.Add(time.Hour)),
			because(rota.ReasonGroup, "It is member 3 of group "+third+", the members before it have ended, and it is about to be released.", remedyServer),
		},
	},
	{
		"its time has come and it was not released",
		about(func(j *rota.Job, _ *Facts) { j.Hold, j.RunAt = rota.HoldDelay, testNow }),
		only(until(because(rota.ReasonDelay, "It may not start before 2026-05-04T12:00:00Z.",
			"That time has come. A server releases it within moments; if it does not, no server is running: rota serve."), testNow)),
	},
	{
		"it waits for a retry",
		about(func(j *rota.Job, f *Facts) {
			f.Failed = endedJob(2, rota.OutcomeFailed, rota.SequelRetry)
			f.Failed.Run.Error = "no such host"
			j.RetryOf, j.Attempt, j.Hold, j.RunAt = jobID(2), 2, rota.HoldDelay, testNow.Add(time.Minute)
		}),
		only(until(because(rota.ReasonRetry,
			"Attempt 1 failed at 2026-05-04T12:00:00Z (no such host), and attempt 2 of 4 waits until 2026-05-04T12:01:00Z.",
			"It becomes ready at 2026-05-04T12:01:00Z; to run it now: rota job run-now "+self+"."),
			testNow.Add(time.Minute))),
	},
	{
		"earlier members of its group have not ended",
		about(func(j *rota.Job, f *Facts) {
			j.Hold, j.GroupID, j.GroupPosition = rota.HoldGroup, jobID(9), 3
			f.Group = &rota.Group{ID: jobID(9), Name: "batch", Mode: rota.GroupSequential}
			f.Earlier = []*rota.Job{readyJob(2), readyJob(3)}
			f.Earlier[0].GroupPosition = 1
		}),
		only(naming(because(rota.ReasonGroup,
			"It is member 3 of group batch (00000000-0000-7000-8000-000000000009), which runs one member at a time, "+
				"and member 1 is before it: job "+other+", which waits in the queue.",
			"It may start when the members before it have ended; to explain the first of them: rota job explain "+other+"."), 2, 3)),
	},
	{
		"the members before it have ended and it was not released",
		about(func(j *rota.Job, f *Facts) {
			j.Hold, j.GroupID, j.GroupPosition = rota.HoldGroup, jobID(3), 3
			f.Group = &rota.Group{ID: jobID(3), Mode: rota.GroupSequential}
		}),
		only(because(rota.ReasonGroup, "It is member 3 of group "+third+", the members before it have ended, and it is about to be released.", remedyServer)),
	},
	{
		"an earlier execution has not ended",
		about(func(j *rota.Job, f *Facts) {
			j.Hold, j.Schedule = rota.HoldOverlap, "nightly"
			f.Ahead = []*rota.Job{runningJob(2)}
		}),
		only(naming(because(rota.ReasonOverlap, "It waits for earlier executions of schedule nightly to end: job "+other+", which is running.",
			"It may start when they have ended; to cancel the first of them: rota job cancel "+other+"."), 2)),
	},
	{
		"many earlier executions have not ended",
		about(func(j *rota.Job, f *Facts) {
			j.Hold, j.Schedule, j.ScopeKind, j.ScopeID = rota.HoldOverlap, "nightly", "tenant", "a"
			f.Ahead = []*rota.Job{runningJob(2), readyJob(3), readyJob(4), readyJob(5), readyJob(6), readyJob(7)}
			f.Ahead[0].Run.CancelAt = testNow
		}),
		only(naming(because(rota.ReasonOverlap,
			"It waits for earlier executions of schedule nightly for tenant a to end: job "+other+
				", which runs and was asked to stop, and at least 5 others.",
			"It may start when they have ended; to cancel the first of them: rota job cancel "+other+"."), 2, 3, 4, 5, 6)),
	},
	{
		"earlier executions have ended and it was not released",
		about(func(j *rota.Job, _ *Facts) { j.Hold, j.Schedule = rota.HoldOverlap, "nightly" }),
		only(because(rota.ReasonOverlap, "It waited for an earlier execution of schedule nightly, which has ended, and was not released.",
			"It is released when the next execution of the schedule ends; to run it now: rota job cancel "+self+", then rota job retry "+self+".")),
	},
	{
		"it is held back for an unknown reason",
		about(func(j *rota.Job, _ *Facts) { j.Hold = 1 << 7 }),
		only(because(rota.ReasonOrder, "It is held back for a reason that this version of Rota does not know (hold 128).",
			"Check the store with rota verify, and use the version of Rota that wrote this job.")),
	},
}

func runningJob(n int) *rota.Job {
	j := readyJob(n)
	j.Status, j.Run = rota.StatusRunning, &rota.Run{Runner: "w1"}
	return j
}

// aboutBlocked returns the facts about a job that depends on the schedule
// extract.
func aboutBlocked(change func(f *Facts, d *rota.Schedule, l *LatestTail)) *Facts {
	return about(func(j *rota.Job, f *Facts) {
		j.Hold, j.Schedule, j.PlanTime = rota.HoldDependency, "load", testNow
		j.WaitFrom, j.WaitUntil = testNow.Add(-time.Hour), testNow.Add(time.Hour)
		d := &rota.Schedule{Name: "extract", State: rota.ScheduleEnabled, NextFire: testNow.Add(time.Minute)}
		l := LatestTail{}
		change(f, d, &l)
		f.Dependencies = append(f.Dependencies, Dependency{Schedule: d, Latest: []LatestTail{l}})
	})
}

const (
	waitedFor = "; this job waits until 2026-05-04T13:00:00Z."
	skippedAt = "; if it has not completed by 2026-05-04T13:00:00Z, this job is recorded as SKIPPED."
)

// waitsFor returns the reason of a job that depends on extract.
func waitsFor(text, remedy string, jobs ...int) []rota.Reason {
	text, remedy = "It depends on schedule extract, "+text+waitedFor, remedy+skippedAt
	return only(naming(until(because(rota.ReasonDependency, text, remedy), testNow.Add(time.Hour)), jobs...))
}

var dependencies = []explained{
	{
		"what it depends on is paused and owes a fire",
		aboutBlocked(func(_ *Facts, d *rota.Schedule, _ *LatestTail) { d.State, d.NextFire = rota.SchedulePaused, testNow }),
		waitsFor("which has not fired for 2026-05-04T12:00:00Z yet and is paused", "Resume it: rota schedule resume extract"),
	},
	{
		"what it depends on owes a fire",
		aboutBlocked(func(_ *Facts, d *rota.Schedule, l *LatestTail) {
			d.NextFire, l.Tail = testNow, endedJob(2, rota.OutcomeCompleted, rota.SequelNone)
		}),
		waitsFor("which has not fired for 2026-05-04T12:00:00Z yet",
			"A server fires it; if it does not fire, no server is running: rota serve"),
	},
	{
		"what it depends on has not run",
		aboutBlocked(func(*Facts, *rota.Schedule, *LatestTail) {}),
		waitsFor("which has not run for a time after 2026-05-04T11:00:00Z and up to 2026-05-04T12:00:00Z",
			"No such execution is under way; to run this job anyway: rota job cancel "+self+", then rota job retry "+self),
	},
	{
		"what it depends on is disabled and has not run for its scope",
		aboutBlocked(func(_ *Facts, d *rota.Schedule, l *LatestTail) {
			d.State, l.Scope = rota.ScheduleDisabled, rota.Scope{Kind: "tenant", ID: "a"}
		}),
		waitsFor("which is disabled and has not run for tenant a for a time after 2026-05-04T11:00:00Z and up to 2026-05-04T12:00:00Z",
			"No such execution is under way; to run this job anyway: rota job cancel "+self+", then rota job retry "+self),
	},
	{
		"what it depends on is running",
		aboutBlocked(func(_ *Facts, _ *rota.Schedule, l *LatestTail) { l.Tail = runningJob(2) }),
		waitsFor("whose latest execution, job "+other+", is running", "Wait until it ends", 2),
	},
	{
		"what it depends on waits for a retry",
		aboutBlocked(func(_ *Facts, _ *rota.Schedule, l *LatestTail) {
			l.Tail = retryOf(endedJob(3, rota.OutcomeFailed, rota.SequelRetry), 2)
			l.Tail.Hold, l.Tail.RunAt = rota.HoldDelay, testNow.Add(time.Minute)
		}),
		waitsFor("whose latest execution, job "+other+", failed, and waits until 2026-05-04T12:01:00Z for attempt 2 of 4",
			"See why: rota job explain "+other, 2),
	},
	{
		"what it depends on failed for good",
		aboutBlocked(func(_ *Facts, _ *rota.Schedule, l *LatestTail) {
			l.Tail = endedJob(2, rota.OutcomeFailed, rota.SequelDead)
		}),
		waitsFor("whose latest execution, job "+other+", has failed for good",
			"Fix the cause, then retry it: rota dead retry "+other, 2),
	},
	{
		"what it depends on was skipped",
		aboutBlocked(func(_ *Facts, _ *rota.Schedule, l *LatestTail) {
			l.Tail = endedJob(2, rota.OutcomeSkipped, rota.SequelNone)
		}),
		waitsFor("whose latest execution, job "+other+", was skipped", "Run it anyway: rota job retry "+other, 2),
	},
	{
		"what it depends on was cancelled",
		aboutBlocked(func(_ *Facts, _ *rota.Schedule, l *LatestTail) {
			l.Tail = readyJob(2)
			l.Tail.Status, l.Tail.FinishedAt, l.Tail.Sequel = rota.StatusCancelled, testNow, rota.SequelNone
		}),
		waitsFor("whose latest execution, job "+other+", was cancelled", "Run it anyway: rota job retry "+other, 2),
	},
	{
		"its wait is over",
		aboutBlocked(func(f *Facts, _ *rota.Schedule, l *LatestTail) {
			f.Now, l.Tail = testNow.Add(time.Hour), runningJob(2)
		}),
		only(naming(until(because(rota.ReasonDependency,
			"It depends on schedule extract, whose latest execution, job "+other+", is running"+waitedFor,
			"Wait until it ends; the wait is over, and this job will soon be recorded as SKIPPED."), testNow.Add(time.Hour)), 2)),
	},
	{
		"what it depends on has completed and it was not released",
		aboutBlocked(func(_ *Facts, _ *rota.Schedule, l *LatestTail) {
			l.Tail = endedJob(2, rota.OutcomeCompleted, rota.SequelNone)
		}),
		only(until(because(rota.ReasonDependency, "The dependencies of schedule load have completed, and this job is about to be released.",
			"A server releases it, at 2026-05-04T13:00:00Z at the latest; if it does not, no server is running: rota serve."),
			testNow.Add(time.Hour))),
	},
}
