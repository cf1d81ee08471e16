package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
)

// ClaimRequest requests jobs to run.
type ClaimRequest struct {
	Worker string    `json:"worker" doc:"Name of the worker, shown with its runs. Letters, digits and . _ - : / @ #." example:"mailer-1"`
	Types  []string  `json:"types" doc:"Types that the worker handles, 1 to 256. A type need not be declared yet."`
	Limit  *int      `json:"limit,omitempty" default:"1" doc:"Highest number of jobs to claim, 1 to 1,000."`
	Lease  *Duration `json:"lease,omitempty" doc:"Duration of the leases without a heartbeat, 1s to 1h; default 30s."`
	Wait   *Duration `json:"wait,omitempty" doc:"Longest time to wait for a job, up to 60s; default 0s."`
}

// Claimed lists the claimed jobs.
type Claimed struct {
	Items []ClaimedJob `json:"items" nullable:"false" doc:"Claimed jobs, in the order in which to start them. Empty: none were ready."`
}

// ClaimedJob is a job with its lease.
type ClaimedJob struct {
	Job        Job    `json:"job" doc:"Job to run; its params match the schema of its type."`
	RunID      ID     `json:"run_id" nullable:"false" doc:"Id of the run. Extend and finish requests name it together with the job id and the token."`
	LeaseToken string `json:"lease_token" doc:"Lease token: the proof that this worker holds the lease. Only this response shows it."`
	StaleAfter Time   `json:"stale_after" doc:"Time the lease expires unless extended."`
	Deadline   Time   `json:"deadline,omitzero" doc:"Time by which the run must end. Omitted: no limit."`
}

const (
	waitMax          = time.Minute
	claimAttemptsMax = 16 // claims of one request; each follows one that can claim no more jobs
)

// claim returns the command, without its id, and its longest wait.
func (r *ClaimRequest) claim() (*rota.Claim, time.Duration, error) {
	limit, wait := 1, time.Duration(0)
	if r.Limit != nil {
		limit = *r.Limit
	}
	if r.Wait != nil {
		wait = time.Duration(*r.Wait)
	}
	claim := &rota.Claim{Worker: r.Worker, Types: r.Types, Limit: limit, Lease: leaseOf(r.Lease), Seed: rota.NewToken()}
	if err := claim.Validate(); err != nil {
		return nil, 0, err
	}
	for i, typ := range r.Types {
		if rota.InternalType(typ) {
			return nil, 0, internalType("types[" + strconv.Itoa(i) + "]")
		}
	}
	if wait < 0 || wait > waitMax {
		return nil, 0, rota.Invalidf("wait", "is %s; allowed are 0s to %s", rota.FormatDuration(wait), rota.FormatDuration(waitMax))
	}
	return claim, wait, nil
}

// internalType is the error for a request that uses a type of Rota itself.
func internalType(field string) error {
	return &rota.Error{
		Code: rota.Invalid, Field: field, Reason: "names that start with rota. are reserved", Hint: "use another name",
	}
}

// claimJobs claims jobs for a remote worker. It fails jobs whose params do not match their type, and
// claims others instead.
func claimJobs(c *call, body *ClaimRequest) (reply, error) {
	claim, wait, err := body.claim()
	if err != nil {
		return reply{}, err
	}
	if err := c.assignClaimID(); err != nil {
		return reply{}, err
	}
	clearDeadlines(c.w)
	worker := c.registry.recordClaim(claim.Worker, claim.Types)
	deadline := time.Now().Add(wait)
	for n := range claimAttemptsMax {
		attempt := *claim
		attempt.Meta = c.claimMeta(n)
		claimed, err := c.claim(&attempt, time.Until(deadline))
		if err != nil {
			return reply{}, err
		}
		jobs, err := c.dropInvalid(claimed.Jobs)
		if err != nil {
			return reply{}, err
		}
		switch {
		case len(jobs) > 0 || len(claimed.Jobs) == 0 && !claimed.Again:
			c.registry.recordRuns(worker, jobs)
			return c.sendClaimed(jobs)
		case n == claimAttemptsMax-1 && claimed.Again:
			return reply{}, &rota.Error{
				Code: rota.Conflict, Field: idempotencyHeader, Reason: "was used for " + strconv.Itoa(claimAttemptsMax) + " claims whose jobs have all ended",
				Hint: "use a new key for each claim, and repeat a key only until its request is answered",
			}
		}
	}
	return c.sendClaimed(nil)
}

// assignClaimID sets the command id of the claims of a request. A repeated request gets the same id. A
// key that is a UUIDv7 yields the id directly, so that the store need not record the key of every
// claim.
func (c *call) assignClaimID() error {
	id, err := rota.ParseID(c.key)
	if err != nil || id[6]>>4 != 7 || id[8]>>6 != 2 || c.Clock().Sub(id.Time()).Abs() > rota.RequestKeep {
		return c.bindKey()
	}
	c.commandID, c.keyBound = id.Derive([]byte("claim of "+c.actor)), true
	return nil
}

// claimMeta returns the metadata of the n-th claim of a request. A claim id whose jobs have all ended
// never claims again, so each further claim needs an id of its own.
func (c *call) claimMeta(n int) rota.Meta {
	c.ensureCommandID()
	id := c.commandID
	if n > 0 {
		id = c.commandID.Derive([]byte("claim " + strconv.Itoa(n)))
	}
	return rota.Meta{ID: id, Actor: c.actor, RulesVersion: rota.RulesVersion}
}

// claim claims jobs, and waits if there are none. With a key it first claims immediately, even if no
// job is known to be ready: the request may have been sent before, and then it gets the jobs of that
// claim.
func (c *call) claim(claim *rota.Claim, wait time.Duration) (*rota.Claimed, error) {
	if c.key != "" {
		c.longPoll.replace(claim.ID)
	}
	if c.key != "" || wait <= 0 {
		claimed, err := c.claimNow(claim)
		if err != nil || len(claimed.Jobs) > 0 || claimed.Again || wait <= 0 {
			return claimed, err
		}
	}
	return c.longPoll.wait(c.ctx, claim, wait)
}

// claimNow claims without waiting. It continues when the request ends meanwhile, because the claimed
// jobs must be known to be released.
func (c *call) claimNow(claim *rota.Claim) (*rota.Claimed, error) {
	ctx, done := c.detached()
	defer done()
	for {
		claimed, err := rota.Do[*rota.Claimed](ctx, c.Store, claim)
		if err != nil || len(claimed.Jobs) > 0 || !claimed.More {
			return claimed, err
		}
	}
}

// detached returns a context for work that must continue after the request has ended.
func (c *call) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.ctx), claimTimeout)
}
