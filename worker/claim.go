package worker

import (
	"context"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// finalClaimTimeout is how long a stopping worker waits for the answer to its last claim.
const finalClaimTimeout = 2 * time.Second

// claim is a long poll for jobs. The idempotency key makes the server answer with the same
// jobs if the answer was lost.
//
// A claim in flight when the worker stops may have taken jobs, which would wait until
// their leases expire. So it is sent once more, to be answered at once.
func (s *store) claim(ctx context.Context, c *rota.Claim) (rota.Reply, error) {
	reply, err := s.sendClaim(ctx, c, c.Limit, s.config.Wait)
	if ctx.Err() == nil || err == nil {
		return reply, err
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), finalClaimTimeout)
	defer done()
	if reply, last := s.sendClaim(ctx, c, 1, 0); last == nil {
		return reply, nil
	}
	return nil, err
}

func (s *store) sendClaim(ctx context.Context, c *rota.Claim, limit int, wait time.Duration) (rota.Reply, error) {
	var answer api.Claimed
	err := s.server.call(ctx, request{
		act: "claim", method: http.MethodPost, path: "/claim", key: c.ID.String(), wait: wait, backoff: &s.server.claimBackoff,
		body: api.ClaimRequest{
			Worker: c.Worker, Types: c.Types, Limit: &limit, Lease: (*api.Duration)(&c.Lease), Wait: (*api.Duration)(&wait),
		},
	}, &answer)
	if err != nil {
		return nil, err
	}
	claimed := &rota.Claimed{Jobs: make([]*rota.Job, len(answer.Items))}
	for i := range answer.Items {
		if claimed.Jobs[i], err = claimedJob(&answer.Items[i], c.Worker); err != nil {
			return nil, err
		}
	}
	return claimed, nil
}

// claimedJob returns the job with its run, as a store returns it to the claimer.
func claimedJob(it *api.ClaimedJob, worker string) (*rota.Job, error) {
	if it.Job.ID.IsZero() || it.Job.Type == "" {
		return nil, unreadable("claim", rota.Invalidf("items.job", "has no id or no type"))
	}
	token, err := rota.ParseToken(it.LeaseToken)
	if err != nil {
		return nil, unreadable("claim", err)
	}
	job := it.Job.Entity()
	job.Run = &rota.Run{
		ID: it.RunID.ID, Runner: worker, Token: token, StartedAt: job.StartedAt, StaleAfter: it.StaleAfter.Time,
	}
	return job, nil
}

// unreadable is the error of an answer that cannot be read.
func unreadable(act string, err error) *rota.Error {
	return rota.Errorf(rota.Internal, act, "the server's answer cannot be read: %w", err)
}
