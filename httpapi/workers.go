package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
)

// The worker protocol. A worker claims jobs, which are leased to it, extends the
// leases while it works, and tells how each job ended. Who stops extending loses
// the lease, and what it says afterwards changes nothing.

// Codes of the items of an answer.
const (
	leaseOK   = "ok"
	leaseLost = "lease_lost"
)

// LeaseRequest names a lease, with its proof.
type LeaseRequest struct {
	RunID      ID     `json:"run_id" nullable:"false" doc:"Of the run, from the claim."`
	JobID      ID     `json:"job_id" nullable:"false" doc:"Of its job."`
	LeaseToken string `json:"lease_token" doc:"The proof, from the claim."`
}

func (r *LeaseRequest) ref() (rota.LeaseRef, error) {
	ref := rota.LeaseRef{JobID: r.JobID.ID, RunID: r.RunID.ID}
	if r.LeaseToken == "" { // it is refused with the others that are missing
		return ref, nil
	}
	token, err := rota.ParseToken(r.LeaseToken)
	ref.Token = token
	return ref, err
}

func leaseCode(code rota.Code) string {
	if code == "" {
		return leaseOK
	}
	return leaseLost
}

// leaseOf is the lease that a request asks for.
func leaseOf(given *Duration) time.Duration {
	if given == nil {
		return rota.DefaultLease
	}
	return time.Duration(*given)
}

func (a *api) workerRoutes() {
	route(a, operation{
		method: "POST", path: "/claim", id: "claim", tag: "Workers", summary: "Take jobs to run",
		description: "Takes the first ready jobs of some types and leases them to the worker. If there are none it waits, for as long as it is told to, and answers as soon as there is one; no items say that there was nothing. " +
			"Sent again under the same Idempotency-Key it answers with those of its jobs that are still open. A UUIDv7 as the key costs the server least. " +
			"Without a key, what was claimed for a worker whose connection broke meanwhile is failed at once with the code shutdown, and tried again at once if its attempts allow it; with a key it waits for the worker until its lease ends.",
		example:  `{"worker": "mailer-1", "types": ["mail"], "limit": 10, "lease": "30s", "wait": "30s"}`,
		response: Claimed{}, errors: []int{409}, class: classPoll,
	}, claimJobs)
	route(a, operation{
		method: "POST", path: "/extend", id: "extend", tag: "Workers", summary: "Keep leases, and hear who is to stop",
		description: "Send it every third of a lease. Each item is answered by itself: one that is lost leaves the others be. Sending it again is harmless.",
		example: `{"lease": "30s", "items": [{"run_id": "` + exampleID + `", "job_id": "` + exampleID + `",
			"lease_token": "5f60718293a4b5c6d7e8f9000a1b2c3d", "progress": {"done": 17, "of": 100}}]}`,
		response: Extended{}, errors: []int{413}, bulk: true,
	}, extendLeases)
	route(a, operation{
		method: "POST", path: "/finish", id: "finish", tag: "Workers", summary: "Tell how jobs ended",
		description: "Each item is answered by itself: one whose lease is lost changes nothing and leaves the others be. A request that is malformed is refused whole. " +
			"Sending it again is harmless, and needs no Idempotency-Key.",
		example: `{"items": [{"run_id": "` + exampleID + `", "job_id": "` + exampleID + `", "lease_token": "5f60718293a4b5c6d7e8f9000a1b2c3d",
			"outcome": "completed", "result": {"sent": 3}, "log": "sent 3 mails\n"}]}`,
		response: Finished{}, errors: []int{413}, bulk: true,
	}, finishRuns)
}
