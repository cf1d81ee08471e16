package explain

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// Facts is what a store reads in one snapshot for Explain. Facts that do not
// concern the job may be left empty.
type Facts struct {
	Now     time.Time
	Job     *rota.Job // last attempt of its execution
	Failed  *rota.Job // attempt that it retries
	Redrive *rota.Job // for a job that has ended: last attempt of the redrive of its execution

	Group   *rota.Group
	Earlier []*rota.Job // for a job with HoldGroup: live members before it, by position, the first NamedJobsMax+1

	Ahead        []*rota.Job  // for a job with HoldOverlap: the executions it waits for, running ones first, by id, the first NamedJobsMax+1
	Dependencies []Dependency // for a job with HoldDependency: the dependencies of its schedule, by name

	Type        *rota.Type
	Limits      rota.ThrottleSpec
	Open        int // running jobs
	OpenType    int // running jobs of its type
	OpenKey     int // running jobs of its concurrency key
	ReadyKey    int // ready jobs of its concurrency key and its type
	Bucket      *rota.Bucket
	Reservation *rota.Reservation // the ACTIVE one

	Before     int // ready jobs before it, counted up to CountMax+1
	BeforeType int // ready jobs of its type before it, counted likewise
}

// NamedJobsMax is how many jobs an explanation names.
const NamedJobsMax = 5

// CountMax is how far an explanation counts the jobs before a job.
const CountMax = 10_000

// Explain returns why a job does not run: every reason, in the order of
// rota.ReasonCodes, and at least one. A job that runs or has ended has exactly
// one.
//
// Limits change all the time, so they are reported only for jobs that wait for
// nothing else. Explain agrees with Claim: if the only reason is the order and
// the job is the first of its type, a claim for its type takes it. If there is
// any other reason but a reservation, no claim takes it. If there is a
// reservation, the reserved node does not take it.
func Explain(f *Facts) []rota.Reason {
	a := &explainer{Facts: f}
	switch j := f.Job; {
	case j.Status == rota.StatusCancelled || j.Ended():
		a.explainEnded()
	case j.Status == rota.StatusRunning:
		a.running()
	default:
		a.waiting()
	}
	return a.reasons
}

// explainer collects the reasons of one explanation.
type explainer struct {
	*Facts
	reasons []rota.Reason
}

// addReason adds a reason. The caller adds the time at which it ends and the
// jobs it names.
func (a *explainer) addReason(code rota.ReasonCode, text, remedy string) *rota.Reason {
	a.reasons = append(a.reasons, rota.Reason{Code: code, Text: text, Remedy: remedy})
	return &a.reasons[len(a.reasons)-1]
}

// waiting adds the reasons of a job that has not started.
func (a *explainer) waiting() {
	a.ending()
	a.paused()
	a.delay()
	a.dependencies()
	a.groupTurn()
	a.overlap()
	a.key()
	if a.Job.Hold&^rota.HoldKey == 0 {
		a.global()
		a.typeLimit()
		a.rate()
		a.reservation()
	}
	if a.Job.Ready() {
		a.order()
	}
	if len(a.reasons) == 0 {
		a.addReason(rota.ReasonOrder,
			fmt.Sprintf("It is held back for a reason that this version of Rota does not know (hold %d).", a.Job.Hold),
			"Check the store with rota verify, and use the version of Rota that wrote this job.")
	}
}

// ending explains a member of a group that was ended: it does not start.
func (a *explainer) ending() {
	g := a.Group
	if g == nil || g.Ending == "" {
		return
	}
	fate := "cancelled"
	if g.Ending == rota.EndingSkip {
		fate = "recorded as SKIPPED"
	}
	a.addReason(rota.ReasonEnding,
		fmt.Sprintf("Its %s was %s, so it will not start.", groupName(g, g.ID), endingText(g)),
		fmt.Sprintf("It will soon be %s; after that, to run it anyway: rota job retry %s.", fate, a.Job.ID))
}

// endingText returns how a group was ended, by which actor and why.
func endingText(g *rota.Group) string {
	how := "ended"
	if g.Ending == rota.EndingCancel {
		how = "cancelled"
		if g.EndingBy != "" {
			how += " by " + g.EndingBy
		}
	}
	return how + inBrackets(g.EndingReason)
}

// paused explains a job of a paused type: it is kept and not started.
func (a *explainer) paused() {
	if a.Type != nil && a.Type.Paused {
		a.addReason(rota.ReasonPaused,
			fmt.Sprintf("Its type, %s, is paused.", a.Job.Type),
			fmt.Sprintf("Resume the type: POST /api/v1/types/%s/resume.", a.Job.Type))
	}
}
