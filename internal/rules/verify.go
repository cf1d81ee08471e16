package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// Verifier holds rows to the invariants. A store streams what it has into it:
// first what was declared and what a Sweep is to see to, then jobs in any order,
// then again those that have to do with each other, side by side, into Turns,
// Lanes, Redrives and the Roll of each group. Each tells what it finds as it
// goes; References is the last. It keeps no jobs, so that millions of them fit
// into memory: if some of them seem to share what only one may have, they are
// streamed once more.
type Verifier struct {
	report func(rota.Violation)

	runs, plans, retries, owed fingerprints
	suspects                   suspects

	queue, ready orderChecksum // every QUEUED job, and every ready one

	intents   map[Intent]bool
	limits    rota.ThrottleSpec
	templates map[string]rota.TemplateState
	schedules map[string]*declaredSchedule
	madeFrom  map[string]rota.ID // by template, one job that was made from it
	active    rota.ID            // the reservation that is ACTIVE
}

// NewVerifier makes a Verifier that tells each violation once.
func NewVerifier(report func(rota.Violation)) *Verifier {
	return &Verifier{
		report: report, intents: map[Intent]bool{}, templates: map[string]rota.TemplateState{},
		schedules: map[string]*declaredSchedule{}, madeFrom: map[string]rota.ID{},
	}
}

// Row is a job with what it refers to, as one state of the store has it.
type Row struct {
	Job    *rota.Job  // with its run, the token included
	RunID  rota.ID    // the run it says it has, whether or not that is there
	Parent *rota.Job  // the job it retries; nil if there is none
	Key    *KeyRecord // who holds its unique key; nil if nobody does
}

// Job looks at one job and at what it refers to.
func (v *Verifier) Job(r Row) {
	j := r.Job
	v.identity(j)
	v.content(j)
	v.shape(j)
	v.relations(j)
	v.delivery(j)
	v.run(j, r.RunID)
	v.sequel(j)
	v.chain(j, r.Parent)
	v.keyOf(j, r.Key)
	v.recordFingerprints(j)
	v.countQueued(j)
}

// OrphanRun tells of what is left of a run that no job has.
func (v *Verifier) OrphanRun(job rota.ID) {
	v.violation(rota.CheckOrphanRun, []string{"run of job " + job.String()}, "there is something of a run, but the job has none")
}

// violation tells a violation.
func (v *Verifier) violation(check string, rows []string, format string, args ...any) {
	v.report(rota.Violation{Check: check, Rows: rows, Detail: fmt.Sprintf(format, args...)})
}

// jobViolation tells a violation of one job.
func (v *Verifier) jobViolation(job rota.ID, check, format string, args ...any) {
	v.violation(check, []string{jobRef(job)}, format, args...)
}

// pairViolation tells a violation that two jobs share.
func (v *Verifier) pairViolation(check string, one, other rota.ID, format string, args ...any) {
	v.violation(check, []string{jobRef(one), jobRef(other)}, format, args...)
}

func jobRef(id rota.ID) string {
	if id.IsZero() {
		return "job with the zero id"
	}
	return "job " + id.String()
}
