package rules

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// Facts are what a store reads out in one snapshot for Explain. What does not
// concern the job may be left empty.
type Facts struct {
	Now     time.Time
	Job     *rota.Job // the last attempt of its execution
	Failed  *rota.Job // the attempt that it retries
	Redrive *rota.Job // of a job that has ended: the last attempt of what tries its execution anew

	Group   *rota.Group
	Earlier []*rota.Job // of a job with HoldGroup: live members before it, by their place, the first FewJobs+1

	Ahead        []*rota.Job  // of a job with HoldOverlap: what it waits behind, those under way first, by id, the first FewJobs+1
	Dependencies []Dependency // of a job with HoldDependency: what its schedule depends on, by name

	Type        *rota.Type
	Limits      rota.ThrottleSpec
	Open        int // jobs that run
	OpenType    int // of its type
	OpenKey     int // of its concurrency key
	ReadyKey    int // jobs of its concurrency key and its type that are ready
	Bucket      *rota.Bucket
	Reservation *rota.Reservation // the ACTIVE one

	Before     int // ready jobs that come before it, counted up to BeforeMax+1
	BeforeType int // those of its type, counted likewise
}

// NamedJobsMax is how many jobs an explanation names.
const NamedJobsMax = 5

// CountMax is how far it counts those that come before a job.
const CountMax = 10_000

// Explain says why a job does not run: every reason, in the order of
// rota.ReasonCodes, and at least one. Of a job that runs or has ended there is
// exactly one.
//
// Limits are of the moment, so they are told of jobs that wait for nothing
// else. It agrees with Claim: a job whose only reason is the order, and that is
// the first of its type, is what a claim for its type takes; one that any other
// reason but a reservation holds back is taken by nobody, and one that a
// reservation holds back is not taken by the node that is reserved.
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

// explainer is an explanation as it is being told.
type explainer struct {
	*Facts
	reasons []rota.Reason
}

// addReason tells a reason. What ends by itself or names jobs is added to it.
func (a *explainer) addReason(code rota.ReasonCode, text, remedy string) *rota.Reason {
	a.reasons = append(a.reasons, rota.Reason{Code: code, Text: text, Remedy: remedy})
	return &a.reasons[len(a.reasons)-1]
}

// waiting tells the reasons of a job that has not started.
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
			"Look with rota verify, and use the version of Rota that wrote it.")
	}
}

// ending: what is left of a group that was ended does not start.
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
		fmt.Sprintf("It is about to be %s; after that, to run it all the same: rota job retry %s.", fate, a.Job.ID))
}

// endingText says how a group was ended, by whom and why.
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

// paused: jobs of a paused type are kept and not started.
func (a *explainer) paused() {
	if a.Type != nil && a.Type.Paused {
		a.addReason(rota.ReasonPaused,
			fmt.Sprintf("Its type, %s, is paused.", a.Job.Type),
			fmt.Sprintf("Resume the type: POST /api/v1/types/%s/resume.", a.Job.Type))
	}
}
