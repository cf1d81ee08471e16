package storetest

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// Each helper sends one command with ordinary values, which the caller may change.

const lease = 30 * time.Second

// submit enqueues one job. The default type is mail.
func (y *story) submit(n rota.NewJob) rota.Submitted {
	y.Helper()
	if n.Type == "" {
		n.Type = "mail"
	}
	return do[*rota.Enqueued](y, &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{n}}).Jobs[0]
}

// enqueue enqueues one job that must be new.
func (y *story) enqueue(n rota.NewJob) *rota.Job {
	y.Helper()
	one := y.submit(n)
	if one.Duplicate {
		y.Fatalf("the job was answered as a duplicate of %s", one.Job.ID)
	}
	return one.Job
}

// enqueueMany enqueues several jobs, one command each.
func (y *story) enqueueMany(count int) []*rota.Job {
	y.Helper()
	jobs := make([]*rota.Job, count)
	for i := range jobs {
		jobs[i] = y.enqueue(rota.NewJob{})
	}
	return jobs
}

func (y *story) claimCommand(limit int, types ...string) *rota.Claim {
	if len(types) == 0 {
		types = []string{"mail"}
	}
	return &rota.Claim{
		Meta: y.ids.meta(), Worker: "w1", Incarnation: incarnationOne, Types: types,
		Limit: limit, Lease: lease, Seed: y.ids.seed(),
	}
}

// Two incarnations of one process, and one of another.
var (
	incarnationOne   = rota.ID{1, 15: 1}
	incarnationTwo   = rota.ID{1, 15: 2}
	incarnationOther = rota.ID{2, 15: 1}
)

func (y *story) claim(limit int, types ...string) []*rota.Job {
	y.Helper()
	return do[*rota.Claimed](y, y.claimCommand(limit, types...)).Jobs
}

// claimOne claims the first job of the queue, which must exist.
func (y *story) claimOne() *rota.Job {
	y.Helper()
	jobs := y.claim(1)
	if len(jobs) != 1 {
		y.Fatalf("claimed %d jobs, want 1", len(jobs))
	}
	return jobs[0]
}

// running enqueues a job and claims it.
func (y *story) running(n rota.NewJob) *rota.Job {
	y.Helper()
	id := y.enqueue(n).ID
	j := y.claimOne()
	if j.ID != id {
		y.Fatalf("claimed %s, want %s", j.ID, id)
	}
	return j
}

// leaseOf returns the lease of a claimed job.
func leaseOf(j *rota.Job) rota.LeaseRef {
	return rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
}

// finish finishes a claimed job. It fills in the lease.
func (y *story) finish(j *rota.Job, it rota.FinishItem) rota.FinishAnswer {
	y.Helper()
	it.LeaseRef = leaseOf(j)
	return do[*rota.Finished](y, &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{it}}).Items[0]
}

func (y *story) complete(j *rota.Job) rota.FinishAnswer {
	y.Helper()
	return y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCompleted})
}

func (y *story) fail(j *rota.Job) rota.FinishAnswer {
	y.Helper()
	return y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no such host", ErrorCode: "dns"})
}

// failPermanently fails a claimed job without a retry.
func (y *story) failPermanently(j *rota.Job) rota.FinishAnswer {
	y.Helper()
	return y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, Permanent: true})
}

func (y *story) mustFinish(j *rota.Job, it rota.FinishItem) rota.FinishAnswer {
	y.Helper()
	answer := y.finish(j, it)
	if answer.Code != "" {
		y.Fatalf("finish was answered %s", answer.Code)
	}
	return answer
}

func (y *story) heartbeat(j *rota.Job) rota.LeaseAnswer {
	y.Helper()
	c := &rota.Extend{Meta: y.ids.meta(), Lease: lease, Items: []rota.ExtendItem{{LeaseRef: leaseOf(j)}}}
	return do[*rota.Extended](y, c).Items[0]
}

func (y *story) note(j *rota.Job, it rota.NoteItem) rota.LeaseAnswer {
	y.Helper()
	it.LeaseRef = leaseOf(j)
	return do[*rota.Noted](y, &rota.Note{Meta: y.ids.meta(), Items: []rota.NoteItem{it}}).Items[0]
}

func (y *story) cancelCommand(id rota.ID) *rota.Cancel {
	return &rota.Cancel{Meta: y.ids.meta(), JobID: id, Reason: "not needed"}
}

func (y *story) cancel(id rota.ID) *rota.CancelledJob {
	y.Helper()
	return do[*rota.CancelledJob](y, y.cancelCommand(id))
}

func (y *story) makeReady() *rota.Readied {
	y.Helper()
	return do[*rota.Readied](y, &rota.Ready{Meta: y.ids.meta()})
}

func (y *story) reap() *rota.Reaped {
	y.Helper()
	return do[*rota.Reaped](y, &rota.Reap{Meta: y.ids.meta(), Incarnation: incarnationOther})
}

func (y *story) recover() *rota.Recovered {
	y.Helper()
	return do[*rota.Recovered](y, &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo})
}

func (y *story) move(j *rota.Job, place rota.Place, anchor *rota.Job) *rota.Job {
	y.Helper()
	c := &rota.Move{Meta: y.ids.meta(), JobID: j.ID, Place: place}
	if anchor != nil {
		c.Anchor = anchor.ID
	}
	return do[*rota.Moved](y, c).Job
}

// Checks that stories share.

func want[T comparable](y *story, what string, got, want T) {
	y.Helper()
	if got != want {
		y.Errorf("%s is %v, want %v", what, got, want)
	}
}

func wantTime(y *story, what string, got, want time.Time) {
	y.Helper()
	if !got.Equal(want) {
		y.Errorf("%s is %s, want %s", what, got, want)
	}
}

func wantIDs(y *story, what string, got []rota.ID, jobs ...*rota.Job) {
	y.Helper()
	if w := idsOf(jobs); !slices.Equal(got, w) {
		y.Errorf("%s is\n  %v, want\n  %v", what, got, w)
	}
}

// Answers with times are compared as text, which has no time zones.

func wantFinish(y *story, what string, got, want rota.FinishAnswer) {
	y.Helper()
	var g, w text
	g.finish("", got)
	w.finish("", want)
	if diff := difference(w.String(), g.String()); diff != "" {
		y.Errorf("%s differs:\n%s", what, diff)
	}
}

func wantLease(y *story, what string, got, want rota.LeaseAnswer) {
	y.Helper()
	var g, w text
	g.leases("", "lease", []rota.LeaseAnswer{got})
	w.leases("", "lease", []rota.LeaseAnswer{want})
	if diff := difference(w.String(), g.String()); diff != "" {
		y.Errorf("%s differs:\n%s", what, diff)
	}
}
