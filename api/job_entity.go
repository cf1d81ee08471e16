package api

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// Entity converts a job back. It lacks what the API does not show: the window in which the job waits for dependencies, and the
// lease of its run.
func (v *Job) Entity() *rota.Job {
	job := &rota.Job{
		ID: v.ID.ID, ExecutionID: v.ExecutionID.ID, Type: v.Type, Params: v.Params, Status: rota.Status(v.Status), Hold: holdOf(v.Holds),
		Priority: v.Priority, Position: v.Position, Attempt: v.Attempt, RetryOf: v.RetryOf.ID, RedriveOf: v.RedriveOf.ID, Sequel: rota.Sequel(v.Sequel),
		Policy: rota.Policy{
			MaxAttempts: v.MaxAttempts, Backoff: time.Duration(v.Backoff), BackoffMax: unbound(v.BackoffMax), Jitter: v.Jitter, Timeout: unbound(v.Timeout),
		},
		Template: string(v.Template), Schedule: string(v.Schedule), GroupID: v.GroupID.ID, ConcurrencyKey: string(v.ConcurrencyKey),
		ScopeKind: v.ScopeKind, ScopeID: v.ScopeID, PlanTime: v.PlanTime.Time, RunAt: v.RunAt.Time,
		UniqueKey: string(v.UniqueKey), UniqueFor: unbound(v.UniqueFor), Trace: string(v.Trace),
		Owner: string(v.Owner), CreatedBy: string(v.CreatedBy), CreatedAt: v.CreatedAt.Time, QueuedAt: v.QueuedAt.Time, StartedAt: v.StartedAt.Time, FinishedAt: v.FinishedAt.Time, Version: v.Version.ID,
	}
	if v.Name != v.Type {
		job.Name = v.Name
	}
	if v.GroupPosition != nil {
		job.GroupPosition = *v.GroupPosition
	}
	if v.ScopeKind == rota.GlobalScopeKind && v.ScopeID == rota.GlobalScopeID {
		job.ScopeKind, job.ScopeID = "", ""
	}
	if v.Run != nil {
		job.Run = v.Run.entity()
	}
	return job
}

// Entities converts jobs back.
func Entities(views []Job) []*rota.Job {
	jobs := make([]*rota.Job, len(views))
	for i := range views {
		jobs[i] = views[i].Entity()
	}
	return jobs
}

func (v *Run) entity() *rota.Run {
	r := &rota.Run{
		ID: v.ID.ID, Runner: string(v.Runner), StartedAt: v.StartedAt.Time, HeartbeatAt: v.HeartbeatAt.Time, StaleAfter: v.StaleAfter.Time,
		Progress: unlessNull(v.Progress), CancelAt: v.CancelAt.Time, CancelBy: string(v.CancelBy), CancelReason: string(v.CancelReason),
		Outcome: rota.Outcome(v.Status), FinishedAt: v.FinishedAt.Time, ExitCode: v.ExitCode, Error: string(v.Error), ErrorCode: string(v.ErrorCode),
		RowsAffected: v.RowsAffected, Result: unlessNull(v.Result), LogPath: string(v.LogPath),
	}
	if v.Status == runOpen {
		r.Outcome = ""
	}
	if len(v.Artifacts) > 0 {
		r.Artifacts = v.Artifacts
	}
	return r
}

func unlessNull(doc json.RawMessage) json.RawMessage {
	if bytes.Equal(doc, null) {
		return nil
	}
	return doc
}

// holdWords are the names of the holds, in the order of their bits.
var holdWords = []string{"delay", "group", "dependency", "overlap", "key"}

func holdNames(hold rota.Hold) []string {
	names := []string{}
	for i, word := range holdWords {
		if hold&(1<<i) != 0 {
			names = append(names, word)
		}
	}
	return names
}

func holdOf(names []string) (hold rota.Hold) {
	for i, word := range holdWords {
		for _, name := range names {
			if name == word {
				hold |= 1 << i
			}
		}
	}
	return hold
}
