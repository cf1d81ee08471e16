package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Codes of items in a response.
const (
	LeaseOK   = "ok"
	LeaseLost = "lease_lost"
)

// LeaseRequest names a lease, with its token.
type LeaseRequest struct {
	RunID      ID     `json:"run_id" nullable:"false" doc:"Id of the run, from the claim."`
	JobID      ID     `json:"job_id" nullable:"false" doc:"Id of its job."`
	LeaseToken string `json:"lease_token" doc:"Lease token, from the claim."`
}

// NewLeaseRequest names a lease.
func NewLeaseRequest(ref rota.LeaseRef) LeaseRequest {
	return LeaseRequest{RunID: ID{ref.RunID}, JobID: ID{ref.JobID}, LeaseToken: ref.Token.Reveal()}
}

// Ref returns the lease that a request names.
func (r *LeaseRequest) Ref() (rota.LeaseRef, error) {
	ref := rota.LeaseRef{JobID: r.JobID.ID, RunID: r.RunID.ID}
	if r.LeaseToken == "" { // Validate refuses it together with other missing fields
		return ref, nil
	}
	token, err := rota.ParseToken(r.LeaseToken)
	ref.Token = token
	return ref, err
}

// ClaimRequest requests jobs to run.
type ClaimRequest struct {
	Worker string    `json:"worker" doc:"Name of the worker, shown with its runs. Letters, digits and . _ - : / @ #." example:"mailer-1"`
	Types  []string  `json:"types" doc:"Types that the worker handles, 1 to 256. A type need not be declared yet."`
	Limit  *int      `json:"limit,omitempty" default:"1" doc:"Highest number of jobs to claim, 1 to 1,000. The answer has at most 128 if there are secrets."`
	Lease  *Duration `json:"lease,omitempty" doc:"Duration of the leases without a heartbeat, 1s to 1h; default 30s."`
	Wait   *Duration `json:"wait,omitempty" doc:"Longest time to wait for a job, up to 60s; default 0s."`
}

// Claimed lists the claimed jobs.
type Claimed struct {
	Items []ClaimedJob `json:"items" nullable:"false" doc:"Claimed jobs, in the order in which to start them. Empty: none were ready."`
	// Withheld is omitted if it is empty.
	Withheld []WithheldJob `json:"withheld,omitempty" doc:"Jobs that were not given to the worker because of their secrets, which are sent over TLS or loopback only, and with a token of scope worker only."`
}

// WithheldJob is a job that a worker did not get.
type WithheldJob struct {
	JobID  ID     `json:"job_id" nullable:"false" doc:"Id of the job."`
	Reason string `json:"reason" doc:"Why, also the error of its run."`
}

// ClaimedJob is a job with its lease.
type ClaimedJob struct {
	Job        Job    `json:"job" doc:"Job to run; its params match the schema of its type."`
	RunID      ID     `json:"run_id" nullable:"false" doc:"Id of the run. Extend and finish requests name it together with the job id and the token."`
	LeaseToken string `json:"lease_token" doc:"Lease token: the proof that this worker holds the lease. Only this response shows it."`
	StaleAfter Time   `json:"stale_after" doc:"Time the lease expires unless extended."`
	Deadline   Time   `json:"deadline,omitzero" doc:"Time by which the run must end. Omitted: no limit."`
	ClaimedSecrets
}

// NewClaimedJob converts a claimed job, with its lease token.
func NewClaimedJob(job *rota.Job) ClaimedJob {
	v := ClaimedJob{
		Job: NewJob(job), RunID: ID{job.Run.ID}, LeaseToken: job.Run.Token.Reveal(), StaleAfter: Time{job.Run.StaleAfter},
	}
	if timeout := job.Policy.Timeout; timeout > 0 {
		v.Deadline = Time{job.Run.StartedAt.Add(timeout)}
	}
	return v
}

// ExtendRequest is the heartbeat of leases.
type ExtendRequest struct {
	Lease *Duration       `json:"lease,omitempty" doc:"Duration of the leases from now on, 1s to 1h; default 30s."`
	Items []ExtendRunning `json:"items" doc:"Leases to extend, 1 to 10,000."`
	Wait  *Duration       `json:"wait,omitempty" doc:"Longest time to wait for a run that must stop, up to half of the lease and 60s; default 0s."`
}

// ExtendRunning is the heartbeat of one lease.
type ExtendRunning struct {
	LeaseRequest
	Progress json.RawMessage `json:"progress,omitempty" doc:"Progress: any JSON up to 1 KiB, nested up to 500 deep, without duplicate keys, lone surrogates and numbers beyond 1.7e308. Omitted: unchanged."`
	LogPart
}

// LogPart is a part of the log of a run.
type LogPart struct {
	Log       string `json:"log,omitempty" doc:"Next part of the log text, up to 8 MiB. NUL characters are replaced. Readers see it at once."`
	LogOffset int64  `json:"log_offset,omitempty" doc:"Position of this part in the log, in bytes: the log_offset of the last response, or 0. A part that is sent again is stored once."`
}

// Item converts the heartbeat to an item of the command.
func (r *ExtendRunning) Item() (rota.ExtendItem, error) {
	ref, err := r.Ref()
	return rota.ExtendItem{LeaseRef: ref, Progress: nullAsNil(r.Progress)}, err
}

// Extended lists the state of leases.
type Extended struct {
	Items []ExtendedLease `json:"items" nullable:"false" doc:"One result per lease, in request order."`
}

// ExtendedLease is the state of one lease.
type ExtendedLease struct {
	RunID      ID     `json:"run_id" nullable:"false" doc:"Id of the run."`
	Code       string `json:"code" enum:"ok,lease_lost" doc:"Whether the worker still holds the lease. If not, it should stop: the run has ended, or another worker may run the job."`
	StaleAfter Time   `json:"stale_after" doc:"Time the lease expires unless extended."`
	Cancel     bool   `json:"cancel" doc:"Whether the run must stop. The worker then finishes it as cancelled."`
	Reason     Text   `json:"reason" doc:"Reason to stop, as given in the cancel request. timeout: the run exceeded its timeout; finish it with this error_code."`
	LogOffset  *int64 `json:"log_offset,omitempty" doc:"Position of the next part of the log. Omitted if the request has no log, or the log could not be stored: then send the same part again."`
	LogFull    bool   `json:"log_full,omitempty" doc:"Whether the log has reached its limit. Send no more of it."`
}

// NewExtendedLease converts the state of a lease.
func NewExtendedLease(l *rota.LeaseAnswer) ExtendedLease {
	v := ExtendedLease{
		RunID: ID{l.RunID}, Code: leaseCode(l.Code), StaleAfter: Time{l.StaleAfter}, Cancel: l.Cancel, Reason: Text(l.Reason),
	}
	switch {
	case l.Overdue && !l.Cancel:
		v.Cancel, v.Reason = true, rota.CodeTimeout
	case l.Cancel && l.Reason == rota.CodeTimeout: // a reason from a person, distinguished from a real timeout
		v.Reason = "asked to stop: " + rota.CodeTimeout
	}
	return v
}

// FinishRequest reports the outcomes of runs.
type FinishRequest struct {
	Items []FinishRun `json:"items" doc:"Runs to finish, 1 to 10,000."`
}

// FinishRun is the outcome of one run.
type FinishRun struct {
	LeaseRequest
	Outcome      string          `json:"outcome" enum:"completed,failed,skipped,cancelled" doc:"Outcome. A failure is retried unless it is permanent, was the last attempt, or a person asked the run to stop."`
	Result       json.RawMessage `json:"result,omitempty" doc:"Result: any JSON up to 64 KiB, nested up to 500 deep, without duplicate keys, lone surrogates and numbers beyond 1.7e308."`
	Error        string          `json:"error,omitempty" doc:"Error text, for people. It is cut after 16 KiB, and NUL characters are replaced."`
	ErrorCode    string          `json:"error_code,omitempty" doc:"Error code, for programs. timeout: the run exceeded its timeout, finish it as cancelled; shutdown: the worker had to stop, the job is retried immediately."`
	Permanent    bool            `json:"permanent,omitempty" doc:"Whether a retry of the failure is useless."`
	RetryAt      Time            `json:"retry_at,omitzero" doc:"Time of the retry, instead of the usual backoff."`
	ExitCode     *int            `json:"exit_code,omitempty" doc:"Exit code of the process, if it ran one."`
	RowsAffected *int64          `json:"rows_affected,omitempty" doc:"Number of rows changed."`
	Artifacts    []string        `json:"artifacts,omitempty" doc:"Paths of the files created, up to 1,000."`
	EndedAgo     Duration        `json:"ended_ago,omitzero" doc:"How long ago the run ended, if the request was delayed, as by an outage. finished_at is that much earlier, but not before started_at."`
	Log          string          `json:"log,omitempty" doc:"Log text. Only the last 1 MiB is kept, unless log_offset is set."`
	LogOffset    int64           `json:"log_offset,omitempty" doc:"If parts of the log were sent with extend: the position of the rest, which log has, in bytes. Omitted or 0: log is the whole log and replaces what was sent."`
}

var outcomes = []string{
	string(rota.OutcomeCompleted), string(rota.OutcomeFailed), string(rota.OutcomeSkipped), string(rota.OutcomeCancelled),
}

// NewFinishRun converts the outcome of a run whose command has waited, with its log.
func NewFinishRun(it *rota.FinishItem, waited time.Duration, log string) FinishRun {
	return FinishRun{
		LeaseRequest: NewLeaseRequest(it.LeaseRef), Outcome: string(it.Outcome), Result: it.Result, Error: it.Error, ErrorCode: it.ErrorCode,
		Permanent: it.Permanent, RetryAt: Time{it.RetryAt}, ExitCode: it.ExitCode, RowsAffected: it.RowsAffected, Artifacts: it.Artifacts, Log: log,
		EndedAgo: Duration(min((it.EndedAgo + waited).Truncate(time.Microsecond), rota.DelayMax)),
	}
}

// Item converts the outcome to an item of the command.
func (r *FinishRun) Item() (rota.FinishItem, error) {
	ref, err := r.Ref()
	item := rota.FinishItem{
		LeaseRef: ref, Outcome: rota.Outcome(r.Outcome), ExitCode: r.ExitCode, Error: ReplaceNUL(r.Error), ErrorCode: r.ErrorCode,
		RowsAffected: r.RowsAffected, Result: nullAsNil(r.Result), Artifacts: r.Artifacts, Permanent: r.Permanent, RetryAt: r.RetryAt.Time,
		EndedAgo: time.Duration(r.EndedAgo),
	}
	if word := OneOf(r.Outcome, outcomes); word != "" {
		item.Outcome = rota.Outcome(word)
	} else if err == nil {
		err = rota.Invalidf("outcome", "must be one of %s", strings.ToLower(strings.Join(outcomes, ", ")))
	}
	return item, err
}

// Finished lists the results of a finish request.
type Finished struct {
	Items []FinishedRun `json:"items" nullable:"false" doc:"One result per run, in request order."`
}

// FinishedRun is the result for one run.
type FinishedRun struct {
	RunID ID     `json:"run_id" nullable:"false" doc:"Id of the run."`
	Code  string `json:"code" enum:"ok,lease_lost" doc:"Whether the outcome was recorded. lease_lost: nothing changed."`
}

// NewFinishedRun converts the result for one run.
func NewFinishedRun(a rota.FinishAnswer) FinishedRun {
	return FinishedRun{RunID: ID{a.RunID}, Code: leaseCode(a.Code)}
}

func leaseCode(code rota.Code) string {
	if code == "" {
		return LeaseOK
	}
	return LeaseLost
}

// nullAsNil returns nil for a JSON null.
func nullAsNil(value json.RawMessage) json.RawMessage {
	if bytes.Equal(value, null) {
		return nil
	}
	return value
}

// ReplaceNUL replaces NUL characters, which no store accepts. The last output of a crashed program may
// contain them, and must not prevent its run from being finished.
func ReplaceNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }
