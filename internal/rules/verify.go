package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// Verifier holds rows to the invariants. A store streams what it has, in any
// order, into Job, OrphanRun, Key and Ordered; each tells what it finds as it
// goes. End tells what only the whole shows. It remembers no row, only ids of
// runs, retries and plans, so that millions of jobs fit into memory.
type Verifier struct {
	tell func(rota.Violation)

	runs    map[rota.ID]rota.ID  // which job a run belongs to
	plans   map[[16]byte]rota.ID // by digest: which first attempt was planned
	retried map[rota.ID]struct{} // jobs of which a retry was seen
	owed    map[rota.ID]struct{} // jobs that were to be retried, whose retry was not seen yet
	queue   census               // every QUEUED job
	ready   census               // every ready one
}

// NewVerifier makes a Verifier that tells each violation once.
func NewVerifier(tell func(rota.Violation)) *Verifier {
	return &Verifier{
		tell:    tell,
		runs:    map[rota.ID]rota.ID{},
		plans:   map[[16]byte]rota.ID{},
		retried: map[rota.ID]struct{}{},
		owed:    map[rota.ID]struct{}{},
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
	v.run(j, r.RunID)
	v.sequel(j)
	v.chain(j, r.Parent)
	v.plan(j)
	v.keyOf(j, r.Key)
	v.count(j)
}

// OrphanRun tells of a run whose job is not there.
func (v *Verifier) OrphanRun(job rota.ID) {
	v.find(rota.CheckOrphanRun, []string{"run of job " + job.String()}, "there is no such job")
}

// End tells what only the whole shows. The store has then fed everything.
func (v *Verifier) End() {
	for _, id := range slices.SortedFunc(maps.Keys(v.owed), rota.ID.Compare) {
		v.about(id, rota.CheckRetryMissing, "its sequel is retry, but no job retries it")
	}
}

// find tells a violation.
func (v *Verifier) find(check string, rows []string, format string, args ...any) {
	v.tell(rota.Violation{Check: check, Rows: rows, Detail: fmt.Sprintf(format, args...)})
}

// about tells a violation of one job.
func (v *Verifier) about(job rota.ID, check, format string, args ...any) {
	v.find(check, []string{jobRef(job)}, format, args...)
}

// pair tells a violation that two jobs share.
func (v *Verifier) pair(check string, one, other rota.ID, format string, args ...any) {
	v.find(check, []string{jobRef(one), jobRef(other)}, format, args...)
}

func jobRef(id rota.ID) string {
	if id.IsZero() {
		return "job with the zero id"
	}
	return "job " + id.String()
}
