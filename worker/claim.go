package worker

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
)

// claimRequest is the body of a claim.
type claimRequest struct {
	Worker string   `json:"worker"`
	Types  []string `json:"types"`
	Limit  int      `json:"limit"`
	Lease  string   `json:"lease"`
	Wait   string   `json:"wait"`
}

// claimAnswer is the answer to a claim.
type claimAnswer struct {
	Items []claimItem `json:"items"`
}

// claimItem is one job, and the lease that proves it was given to this worker.
type claimItem struct {
	Job        jobView   `json:"job"`
	RunID      rota.ID   `json:"run_id"`
	LeaseToken string    `json:"lease_token"`
	StaleAfter time.Time `json:"stale_after"`
}

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
	var answer claimAnswer
	err := s.server.call(ctx, request{
		act: "claim", method: http.MethodPost, path: "/claim", key: c.ID.String(), wait: wait, backoff: &s.server.claimBackoff,
		body: claimRequest{
			Worker: c.Worker, Types: c.Types, Limit: limit, Lease: rota.FormatDuration(c.Lease), Wait: rota.FormatDuration(wait),
		},
	}, &answer)
	if err != nil {
		return nil, err
	}
	claimed := &rota.Claimed{Jobs: make([]*rota.Job, len(answer.Items))}
	for i := range answer.Items {
		if claimed.Jobs[i], err = answer.Items[i].claimed(c.Worker); err != nil {
			return nil, err
		}
	}
	return claimed, nil
}

// claimed returns the job with its run, as a store returns it to the claimer.
func (it *claimItem) claimed(worker string) (*rota.Job, error) {
	job, err := it.Job.job()
	if err != nil {
		return nil, err
	}
	token, err := rota.ParseToken(it.LeaseToken)
	if err != nil {
		return nil, unreadable("claim", err)
	}
	job.Run = &rota.Run{
		ID: it.RunID, Runner: worker, Token: token, StartedAt: job.StartedAt, StaleAfter: it.StaleAfter,
	}
	return job, nil
}

// unreadable is the error of an answer that cannot be read.
func unreadable(act string, err error) *rota.Error {
	return rota.Errorf(rota.Internal, act, "the server's answer cannot be read: %w", err)
}

// jobView is a job as the API shows it, with the fields that a handler may use.
type jobView struct {
	ID          rota.ID         `json:"id"`
	ExecutionID rota.ID         `json:"execution_id"`
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Params      json.RawMessage `json:"params"`

	Priority    int          `json:"priority"`
	Position    int64        `json:"position"`
	Attempt     int          `json:"attempt"`
	MaxAttempts int          `json:"max_attempts"`
	RetryOf     nullID       `json:"retry_of"`
	RedriveOf   nullID       `json:"redrive_of"`
	Backoff     jsonDuration `json:"backoff"`
	BackoffMax  jsonDuration `json:"backoff_max"`
	Jitter      float64      `json:"jitter"`
	Timeout     jsonDuration `json:"timeout"`

	Template       string `json:"template"`
	Schedule       string `json:"schedule"`
	GroupID        nullID `json:"group_id"`
	GroupPosition  int    `json:"group_position"`
	ConcurrencyKey string `json:"concurrency_key"`

	ScopeKind string       `json:"scope_kind"`
	ScopeID   string       `json:"scope_id"`
	PlanTime  time.Time    `json:"plan_time"`
	RunAt     time.Time    `json:"run_at"`
	UniqueKey string       `json:"unique_key"`
	UniqueFor jsonDuration `json:"unique_for"`
	Trace     string       `json:"trace"`

	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	QueuedAt  time.Time `json:"queued_at"`
	StartedAt time.Time `json:"started_at"`
}

func (v *jobView) job() (*rota.Job, error) {
	if v.ID.IsZero() || v.Type == "" {
		return nil, unreadable("claim", rota.Invalidf("items.job", "has no id or no type"))
	}
	job := &rota.Job{
		ID: v.ID, ExecutionID: v.ExecutionID, Type: v.Type, Name: v.Name, Params: v.Params, Status: rota.StatusRunning,
		Priority: v.Priority, Position: v.Position, Attempt: v.Attempt, RetryOf: v.RetryOf.ID, RedriveOf: v.RedriveOf.ID,
		Policy: rota.Policy{
			MaxAttempts: v.MaxAttempts, Backoff: time.Duration(v.Backoff), BackoffMax: time.Duration(v.BackoffMax),
			Jitter: v.Jitter, Timeout: time.Duration(v.Timeout),
		},
		Template: v.Template, Schedule: v.Schedule, GroupID: v.GroupID.ID, GroupPosition: v.GroupPosition, ConcurrencyKey: v.ConcurrencyKey,
		ScopeKind: v.ScopeKind, ScopeID: v.ScopeID, PlanTime: v.PlanTime, RunAt: v.RunAt,
		UniqueKey: v.UniqueKey, UniqueFor: time.Duration(v.UniqueFor), Trace: v.Trace,
		CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt, QueuedAt: v.QueuedAt, StartedAt: v.StartedAt,
	}
	if v.ScopeKind == rota.GlobalScopeKind && v.ScopeID == rota.GlobalScopeID {
		job.ScopeKind, job.ScopeID = "", ""
	}
	return job, nil
}
