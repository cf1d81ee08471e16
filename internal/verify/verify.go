package verify

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Verifier checks rows against the invariants. A store streams its rows into
// it: first the definitions and the intents, then jobs in any order, then again
// the jobs that are related, next to each other, into Turns, KeyQueues,
// Redrives and Group. Each reports violations as it finds them. References is
// the last call.
//
// Verifier keeps no jobs, so that it can check millions of them. It keeps
// fingerprints of values that only one job may have. If some fingerprints are
// equal, NeedsSecondPass reports true and the store streams the jobs once more.
type Verifier struct {
	report func(rota.Violation)

	runs, plans, retries, owed fingerprints
	suspects                   suspects

	queue, ready orderChecksum // of all QUEUED jobs, of all ready jobs

	intents     map[rules.Intent]bool
	keysAfter   *string // a Sweep is to balance all keys after this one; nil: none
	limits      rota.ThrottleSpec
	templates   map[string]rota.TemplateState
	dropped     map[string]bool // templates without an owner
	schedules   map[string]*declaredSchedule
	createdFrom map[string]rota.ID // one job created from each template
	active      rota.ID            // the ACTIVE reservation
	principals  map[string]*declaredPrincipal
	hasAccess   bool // there are principals or tokens
	hasSecrets  bool
	secretsOf   string // template of the last secret
	secretCount int    // secrets of that template
	secretBytes int    // bytes of their values
}

// NewVerifier returns a Verifier that reports each violation once.
func NewVerifier(report func(rota.Violation)) *Verifier {
	return &Verifier{
		report: report, intents: map[rules.Intent]bool{}, templates: map[string]rota.TemplateState{}, dropped: map[string]bool{},
		schedules: map[string]*declaredSchedule{}, createdFrom: map[string]rota.ID{},
		principals: map[string]*declaredPrincipal{},
	}
}

// Row is a job with the rows it refers to, read in one snapshot.
type Row struct {
	Job    *rota.Job              // with its run, including the token
	RunID  rota.ID                // run id stored with the job, whether or not that run exists
	Parent *rota.Job              // job it retries; nil if that does not exist
	Key    *rules.UniqueKeyRecord // record of its unique key; nil if the key is free
}

// Job checks one job and the rows it refers to.
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

// OrphanRun reports data of a run that no job has.
func (v *Verifier) OrphanRun(job rota.ID) {
	v.violation(rota.CheckOrphanRun, []string{"run of job " + job.String()}, "there is data of a run, but the job has no run")
}

// violation reports a violation.
func (v *Verifier) violation(check string, rows []string, format string, args ...any) {
	v.report(rota.Violation{Check: check, Rows: rows, Detail: fmt.Sprintf(format, args...)})
}

// jobViolation reports a violation by one job.
func (v *Verifier) jobViolation(job rota.ID, check, format string, args ...any) {
	v.violation(check, []string{rules.JobRef(job)}, format, args...)
}

// pairViolation reports a violation by two jobs.
func (v *Verifier) pairViolation(check string, one, other rota.ID, format string, args ...any) {
	v.violation(check, []string{rules.JobRef(one), rules.JobRef(other)}, format, args...)
}
