package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
)

// ClaimRequest asks for jobs to run.
type ClaimRequest struct {
	Worker string    `json:"worker" doc:"Who asks: a name for people, shown with what it runs. Letters, digits and . _ - : / @ #." example:"mailer-1"`
	Types  []string  `json:"types" doc:"What it can run, 1 to 256. One that nobody has declared yet is waited for."`
	Limit  *int      `json:"limit,omitempty" default:"1" doc:"At most so many jobs, 1 to 1,000: those that it can start now."`
	Lease  *Duration `json:"lease,omitempty" doc:"How long they are its own without a sign of life, 1s to 1h; 30s if left out."`
	Wait   *Duration `json:"wait,omitempty" doc:"How long to wait for a job, at most 60s; 0s if left out."`
}

// Claimed are jobs that are to be run now.
type Claimed struct {
	Items []ClaimedJob `json:"items" nullable:"false" doc:"In the order in which they are to be started. Empty: there was nothing."`
}

// ClaimedJob is a job with its lease.
type ClaimedJob struct {
	Job        Job    `json:"job" doc:"What to run; its params fit the schema of its type."`
	RunID      ID     `json:"run_id" nullable:"false" doc:"Name it, with the job's id and the token, in extend and finish."`
	LeaseToken string `json:"lease_token" doc:"The proof of the lease. Nobody else is ever shown it."`
	StaleAfter Time   `json:"stale_after" doc:"When the lease ends, unless it is extended."`
	Deadline   Time   `json:"deadline,omitzero" doc:"When the run is to be over. Left out: it may take as long as it likes."`
}

const (
	waitMax          = time.Minute
	claimAttemptsMax = 16 // claims that one request sends, each after one that can take nothing more
)

// claim is the command, without its name, and how long it may wait.
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

// internalType refuses to let others have to do with Rota's own jobs.
func internalType(field string) error {
	return &rota.Error{
		Code: rota.Invalid, Field: field, Reason: "types that begin with rota. are Rota's own", Hint: "take a name that begins otherwise",
	}
}

// claimJobs hands out jobs. Those whose params do not fit their type are not
// handed out, and others claimed in their place.
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
				Hint: "send each claim under a key of its own, and again only until it is answered",
			}
		}
	}
	return c.sendClaimed(nil)
}

// assignClaimID gives the claims of a request their names, which the same request
// sent again gives them too. A key that is an id of our own kind names them by
// itself: a worker that asks all day need not have each key written down.
func (c *call) assignClaimID() error {
	id, err := rota.ParseID(c.key)
	if err != nil || id[6]>>4 != 7 || id[8]>>6 != 2 || c.Clock().Sub(id.Time()).Abs() > rota.RequestKeep {
		return c.bindKey()
	}
	c.commandID, c.keyBound = id.Derive([]byte("claim of "+c.actor)), true
	return nil
}

// claimMeta begins the n-th claim of a request. A claim that took jobs which have
// all ended takes no others, ever, so the next one needs a name of its own.
func (c *call) claimMeta(n int) rota.Meta {
	c.ensureCommandID()
	id := c.commandID
	if n > 0 {
		id = c.commandID.Derive([]byte("claim " + strconv.Itoa(n)))
	}
	return rota.Meta{ID: id, Actor: c.actor, RulesVersion: rota.RulesVersion}
}

// claim takes jobs, and waits if there are none. Under a key it asks at once, even
// if it is known that nothing is ready: it may have been sent before, and what it
// took then is its own.
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

// claimNow takes what is ready. Its request may end meanwhile: then what was
// taken is given back, for which it has to be known.
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

// detached is a context for what has to be done though the request has ended.
func (c *call) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.ctx), claimTimeout)
}
