package api

import (
	"encoding/hex"
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Stats counts the jobs of the store, and the slots of this process.
type Stats struct {
	Now       Time        `json:"now" doc:"Time of the store."`
	Queued    int         `json:"queued" doc:"Jobs that are ready."`
	Scheduled int         `json:"scheduled" doc:"Jobs that wait for their run_at."`
	Blocked   int         `json:"blocked" doc:"Jobs that wait for something else."`
	Running   int         `json:"running" doc:"Open runs."`
	Dead      int         `json:"dead" doc:"Dead letters that were not retried."`
	Schedules int         `json:"schedules" doc:"Enabled schedules."`
	Oldest    Time        `json:"oldest_queued_at" doc:"Time the oldest ready job became ready."`
	Types     []TypeStats `json:"types" nullable:"false" doc:"Types with jobs that have not ended, by name."`
	Workers   Workers     `json:"workers" doc:"Slots of this process."`
}

// TypeStats counts the jobs of one type.
type TypeStats struct {
	Type      string `json:"type" doc:"Name of the type."`
	Queued    int    `json:"queued" doc:"Jobs that are ready."`
	Scheduled int    `json:"scheduled" doc:"Jobs that wait for their run_at."`
	Blocked   int    `json:"blocked" doc:"Jobs that wait for something else."`
	Running   int    `json:"running" doc:"Open runs."`
}

// Workers counts the slots of this process.
type Workers struct {
	Slots     int `json:"slots" doc:"Jobs this process runs at the same time."`
	Running   int `json:"running" doc:"Jobs it runs now."`
	Abandoned int `json:"abandoned" doc:"Handlers that ignored their cancellation and have not returned."`
}

// NewStats converts the counts.
func NewStats(s *rota.Stats, w Workers) Stats {
	v := Stats{
		Now: Time{s.Now}, Queued: s.Queued, Scheduled: s.Scheduled, Blocked: s.Blocked, Running: s.Running, Dead: s.Dead,
		Schedules: s.Schedules, Oldest: Time{s.Oldest}, Types: make([]TypeStats, len(s.Types)),
		Workers: w,
	}
	for i, t := range s.Types {
		v.Types[i] = TypeStats(t)
	}
	return v
}

// AuditEntry is one entry of the audit.
type AuditEntry struct {
	ID           ID              `json:"id" nullable:"false" doc:"Id of the entry."`
	At           Time            `json:"at" nullable:"false" doc:"Time of the act; of the end of a run, when it ended."`
	Actor        Text            `json:"actor" nullable:"false" example:"ada" doc:"Actor. Of the end of a run, the actor that created the job, or that cancelled it. rota: Rota itself."`
	Act          string          `json:"act" example:"JOB_CANCELLED" doc:"Act."`
	Subject      Text            `json:"subject" doc:"What the act was about." example:"schedule nightly"`
	Schedule     Text            `json:"schedule" doc:"Schedule that the act was about, or to which the job belongs."`
	DefinitionID ID              `json:"definition_id" doc:"Id of that schedule, as job_uuid in SQL. It follows from the name. Null: the entry has no schedule."`
	JobID        ID              `json:"job_id" doc:"Job of the act, if any."`
	ExecutionID  ID              `json:"execution_id" doc:"Execution of the job."`
	RunID        ID              `json:"run_id" doc:"Run of the job, if it was dispatched."`
	Outcome      Text            `json:"outcome" nullable:"false" example:"COMPLETED" doc:"Outcome of the run: COMPLETED, FAILED, SKIPPED or CANCELLED. OK: the act is not the end of a run."`
	Detail       Text            `json:"detail" doc:"Details, if any."`
	Changes      json.RawMessage `json:"changes" doc:"What changed: an object with old and new of each field, without secrets. Null: nothing."`
}

// NewAuditEntry converts an audit entry.
func NewAuditEntry(e rota.AuditEntry) AuditEntry {
	v := AuditEntry{
		ID: ID{e.ID}, At: Time{e.At}, Actor: Text(e.Actor), Act: e.Act, Subject: Text(e.Subject), Schedule: Text(e.Schedule),
		JobID: ID{e.JobID}, ExecutionID: ID{e.ExecutionID}, RunID: ID{e.RunID}, Outcome: Text(e.Outcome), Detail: Text(e.Detail), Changes: e.Changes,
	}
	if e.Schedule != "" {
		v.DefinitionID = ID{rota.DefinitionID(e.Schedule)}
	}
	return v
}

// Verification is the result of a check of all invariants.
type Verification struct {
	Clean      bool        `json:"clean" doc:"Whether every invariant holds."`
	Violations []Violation `json:"violations" nullable:"false" doc:"Violations, at most 1,000."`
	More       bool        `json:"more,omitempty" doc:"Whether there are more violations than listed."`
}

// Violation is one violated invariant.
type Violation struct {
	Check  string   `json:"check" doc:"Name of the invariant."`
	Rows   []string `json:"rows" nullable:"false" doc:"Rows that violate it."`
	Detail string   `json:"detail" doc:"Description of the violation."`
}

// Health is the response of the health checks.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// AuditVerification is the result of a check of the audit's chain.
type AuditVerification struct {
	Clean    bool        `json:"clean" doc:"Whether the check found no tampering."`
	Checked  int64       `json:"checked" doc:"Entries whose hash was computed again."`
	Head     AuditPoint  `json:"head" doc:"Last sealed entry."`
	Anchor   AuditAnchor `json:"anchor" doc:"Last entry that retention has removed."`
	Unsealed int64       `json:"unsealed" doc:"Entries that are written and not sealed yet."`
	Oldest   Time        `json:"oldest_unsealed" doc:"When the oldest of them was written."`
	Heads    int         `json:"heads" doc:"Signed heads that the chain was compared with."`
	Key      Text        `json:"key" doc:"Public key of this node, or that an export is signed with; empty: none."`
	Derived  *int64      `json:"derived,omitempty" doc:"Of an export: entries that are not in the chain, since they are derived from kept jobs."`
	Fault    *AuditFault `json:"fault" doc:"First place at which the audit was tampered with."`
}

// AuditPoint is a place in the chain of the audit.
type AuditPoint struct {
	Seq  int64 `json:"seq" doc:"Number of the entry; 0: before the first."`
	Hash Text  `json:"hash" doc:"Its hash, hexadecimal."`
}

// AuditAnchor is the last entry that retention has removed.
type AuditAnchor struct {
	AuditPoint
	Signed bool `json:"signed" doc:"Whether a node has signed it."`
	Key    Text `json:"key" doc:"Public key of that node."`
}

// AuditFault is the first place at which the audit was tampered with.
type AuditFault struct {
	Kind   string `json:"kind" doc:"changed, removed, inserted or cut off."`
	Seq    int64  `json:"seq" doc:"Number of the entry; 0: it is not in the chain."`
	ID     Text   `json:"id" doc:"Id of the entry; empty: unknown."`
	At     Time   `json:"at" doc:"Time of the entry."`
	Detail string `json:"detail" doc:"Description."`
}

// NewAuditVerification returns the result of a check.
func NewAuditVerification(r rota.AuditReport, heads int, key string) AuditVerification {
	signed, _ := r.Anchor.Signed()
	v := AuditVerification{
		Clean: r.Fault == nil, Checked: r.Checked, Head: AuditPoint{r.Head.Seq, Text(r.Head.Hash.String())}, Heads: heads, Key: Text(key),
		Anchor:   AuditAnchor{AuditPoint{r.Anchor.Seq, Text(r.Anchor.Hash.String())}, signed, Text(hex.EncodeToString(r.Anchor.Key))},
		Unsealed: r.Unsealed, Oldest: Time{r.Oldest},
	}
	if f := r.Fault; f != nil {
		v.Fault = &AuditFault{Kind: f.Kind, Seq: f.Seq, At: Time{f.At}, Detail: f.Detail}
		if !f.ID.IsZero() {
			v.Fault.ID = Text(f.ID.String())
		}
	}
	return v
}
