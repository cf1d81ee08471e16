package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// The worker protocol. A worker claims jobs, which are leased to it, extends the leases while it runs
// the jobs, and reports their outcomes. A worker that stops extending loses the lease, and its later
// requests for the run change nothing.

func (a *server) workerRoutes() {
	route(a, operation{
		method: "POST", path: "/claim", id: "claim", scope: workerScope, tag: "Workers", summary: "Claim jobs",
		description: "Claims the first ready jobs of the given types and leases them to the worker. If no job is ready, the request waits up to wait; an empty list means that no job became ready. " +
			"A request with the same Idempotency-Key returns those of its jobs that are still open. A UUIDv7 is the cheapest key for the server. " +
			"Without a key, jobs claimed for a worker whose connection broke fail immediately with the code shutdown, and are retried immediately if attempts are left. With a key they stay leased to the worker until the lease expires.",
		example:  `{"worker": "mailer-1", "types": ["mail"], "limit": 10, "lease": "30s", "wait": "30s"}`,
		response: api.Claimed{}, errors: []int{409}, class: classPoll,
	}, claimJobs)
	route(a, operation{
		method: "POST", path: "/extend", id: "extend", scope: workerScope, tag: "Workers", summary: "Extend leases",
		description: "Send it every third of the lease duration. The response also says which runs must stop. Each item is handled separately: a lost lease does not affect the others. The request may be repeated. " +
			"With wait, the leases are extended at once, and the response is sent when one of the runs must stop, at the latest after wait. A server that is busy, or older, answers at once: send the next request a third of the lease later.",
		example: `{"lease": "30s", "items": [{"run_id": "` + api.ExampleID + `", "job_id": "` + api.ExampleID + `",
			"lease_token": "5f60718293a4b5c6d7e8f9000a1b2c3d", "progress": {"done": 17, "of": 100}}]}`,
		response: api.Extended{}, errors: []int{413}, bulk: true,
	}, extendLeases)
	route(a, operation{
		method: "POST", path: "/finish", id: "finish", scope: workerScope, tag: "Workers", summary: "Report outcomes of jobs",
		description: "Each item is handled separately: an item whose lease is lost changes nothing and does not affect the others. A malformed request is refused as a whole. " +
			"The request may be repeated and needs no Idempotency-Key.",
		example: `{"items": [{"run_id": "` + api.ExampleID + `", "job_id": "` + api.ExampleID + `", "lease_token": "5f60718293a4b5c6d7e8f9000a1b2c3d",
			"outcome": "completed", "result": {"sent": 3}, "log": "sent 3 mails\n"}]}`,
		response: api.Finished{}, errors: []int{413}, bulk: true,
	}, finishRuns)
}

// leaseOf returns the requested lease duration.
func leaseOf(given *api.Duration) time.Duration {
	if given == nil {
		return rota.DefaultLease
	}
	return time.Duration(*given)
}
