package httpapi

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/httpapi/longpoll"
)

const (
	waitMax          = time.Minute
	claimAttemptsMax = 16 // claims of one request; each follows one that can claim no more jobs
)

// newClaim returns the command, without its id, and its longest wait.
func newClaim(r *api.ClaimRequest) (*rota.Claim, time.Duration, error) {
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
	return problem.New(rota.Invalid, field, "use another name", "names that start with rota. are reserved")
}

// claimJobs claims jobs for a remote worker. It fails jobs whose params do not match their type, and
// claims others instead.
func claimJobs(c *call, body *api.ClaimRequest) (reply, error) {
	claim, wait, err := newClaim(body)
	if err != nil {
		return reply{}, err
	}
	if err := c.Store.Authorize(c.ctx, claim); err != nil { // before the worker is listed
		return reply{}, err
	}
	if err := c.assignClaimID(); err != nil {
		return reply{}, err
	}
	if err := c.limitForSecrets(claim); err != nil {
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
		if slices.ContainsFunc(claimed.Jobs, func(j *rota.Job) bool { return !slices.Contains(claim.Types, j.Type) }) {
			return reply{}, problem.New(rota.Conflict, idempotencyHeader, "use a new key for each claim, and repeat a key only with the same request",
				"was used for a claim of other types")
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
			return reply{}, problem.New(rota.Conflict, idempotencyHeader, "use a new key for each claim, and repeat a key only until its request is answered",
				"was used for %d claims whose jobs have all ended", claimAttemptsMax)
		}
	}
	return c.sendClaimed(nil)
}

// assignClaimID sets the command id of the claims of a request. A repeated request gets the same id. A
// key that is a UUIDv7 yields the id directly, so that the store need not record the key of every
// claim. Two tokens of a user never have the same id, because one may be for fewer types than the other.
func (c *call) assignClaimID() error {
	id, err := rota.ParseID(c.key)
	if err != nil || id[6]>>4 != 7 || id[8]>>6 != 2 || c.Clock().Sub(id.Time()).Abs() > rota.RequestKeep {
		return c.bindKey()
	}
	c.commandID, c.keyBound = id.Derive([]byte("claim of "+c.actor+" "+c.Store.Identity().Token)), true
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
		c.longPoll.Replace(claim.ID)
	}
	if c.key != "" || wait <= 0 {
		claimed, err := c.claimNow(claim)
		if err != nil || len(claimed.Jobs) > 0 || claimed.Again || wait <= 0 {
			return claimed, err
		}
	}
	if err := c.Store.Authorize(c.ctx, claim); err != nil {
		return nil, err
	}
	claimed, err := c.longPoll.Wait(c.ctx, claim, wait)
	if err != nil || len(claimed.Jobs) == 0 {
		return claimed, err
	}
	if refusal := c.Store.Authorize(c.ctx, claim); refusal != nil { // the right ended while the claim waited
		c.releaseJobs(claimed.Jobs)
		return nil, refusal
	}
	return claimed, nil
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
	return context.WithTimeout(context.WithoutCancel(c.ctx), longpoll.ClaimTimeout)
}
