package rota

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/rotajobs/rota/internal/scrub"
)

// AuditEntry is one entry of the append-only audit: an act, its actor, what it was about and
// what came of it.
//
// The ends of jobs, and the creation of jobs by a caller, are not written as they happen: as long as
// a job is kept, AuditEntries derives them from it. Prune writes them down, with the same content,
// before it deletes the job.
type AuditEntry struct {
	ID          ID // derived from the command and the subject, or from the job, so that an act is recorded once
	At          time.Time
	Actor       string // SystemActor: Rota itself
	Act         string // such as JOB_CANCELLED
	Subject     string // such as "job 0192…" or "schedule nightly"
	Schedule    string // definition that it is about, or to which the job belongs; empty: none
	JobID       ID
	ExecutionID ID
	RunID       ID
	Outcome     string          // of the run: COMPLETED, FAILED, SKIPPED or CANCELLED; AuditOK, AuditDenied: the act is not the end of a run
	Detail      string          // without secrets
	Changes     json.RawMessage // {"field": {"old": …, "new": …}}, without secrets; nil: nothing changed
}

// SystemActor is the actor of Rota itself: of its acts in the audit, and of its deliveries.
const SystemActor = "rota"

// AuditOK is the outcome of an act that is not the end of a run.
const AuditOK = "OK"

// AuditDenied is the outcome of a login or a request that was refused.
const AuditDenied = "DENIED"

// The acts in the audit.
const (
	AuditJobCreated   = "JOB_CREATED" // enqueued by a caller
	AuditJobExecuted  = "JOB_EXECUTED"
	AuditJobFailed    = "JOB_FAILED"
	AuditJobCancelled = "JOB_CANCELLED"
	AuditJobStopping  = "JOB_STOPPING" // a running job was asked to stop
	AuditJobModified  = "JOB_MODIFIED"
	AuditJobRecovered = "JOB_RECOVERED"
	AuditJobRedriven  = "JOB_REDRIVEN"

	AuditScheduleCreated  = AuditJobCreated // a schedule is a job in SQL
	AuditScheduleModified = AuditJobModified
	AuditScheduleDeleted  = "JOB_DELETED"
	AuditScheduleFired    = "JOB_TRIGGERED"     // triggered or backfilled by a user
	AuditScheduleDisabled = "SCHEDULE_DISABLED" // by Rota, with the reason
	AuditScheduleMissed   = "SCHEDULE_MISSED"   // times that catch-up gave up

	AuditTypeCreated  = "TYPE_CREATED"
	AuditTypeModified = "TYPE_MODIFIED"
	AuditTypePaused   = "TYPE_PAUSED"
	AuditTypeResumed  = "TYPE_RESUMED"

	AuditTemplateCreated    = "TEMPLATE_CREATED"
	AuditTemplateModified   = "TEMPLATE_MODIFIED"
	AuditTemplateArchived   = "TEMPLATE_ARCHIVED"
	AuditTemplateUnarchived = "TEMPLATE_UNARCHIVED"

	AuditThrottleModified   = "LIMITS_MODIFIED"
	AuditWebhooksModified   = "WEBHOOKS_MODIFIED"
	AuditGroupCancelled     = "GROUP_CANCELLED"
	AuditReservationExpired = "RESERVATION_EXPIRED"

	AuditUserCreated  = "USER_CREATED"
	AuditUserModified = "USER_MODIFIED"
	AuditUserDropped  = "USER_DROPPED"
	AuditRoleCreated  = "ROLE_CREATED"
	AuditRoleDropped  = "ROLE_DROPPED"
	AuditGranted      = "GRANTED"
	AuditRevoked      = "REVOKED"
	AuditTokenCreated = "TOKEN_CREATED"
	AuditTokenRevoked = "TOKEN_REVOKED"
	AuditTokenPruned  = "TOKEN_PRUNED" // its row was deleted, TokenKeep after it had ended

	AuditSecretSet     = "SECRET_SET"
	AuditSecretDeleted = "SECRET_DELETED"
	AuditSecretRotated = "SECRET_ROTATED" // another key seals new values

	// Written by RecordAccess.
	AuditLogin        = "LOGIN"
	AuditLoginFailed  = "LOGIN_FAILED"
	AuditAccessDenied = "ACCESS_DENIED"
	AuditRunAs        = "RUN_AS" // a job ran with the rights of a role
)

// AuditActs are all acts, sorted.
var AuditActs = []string{
	AuditAccessDenied, AuditGranted, AuditGroupCancelled, AuditJobCancelled, AuditJobCreated, AuditScheduleDeleted, AuditJobExecuted, AuditJobFailed,
	AuditJobModified, AuditJobRecovered, AuditJobRedriven, AuditJobStopping, AuditScheduleFired, AuditThrottleModified, AuditLogin, AuditLoginFailed,
	AuditReservationExpired, AuditRevoked, AuditRoleCreated, AuditRoleDropped, AuditRunAs, AuditScheduleDisabled, AuditScheduleMissed,
	AuditSecretDeleted, AuditSecretRotated, AuditSecretSet,
	AuditTemplateArchived, AuditTemplateCreated, AuditTemplateModified, AuditTemplateUnarchived, AuditTokenCreated, AuditTokenPruned, AuditTokenRevoked,
	AuditTypeCreated, AuditTypeModified, AuditTypePaused, AuditTypeResumed, AuditUserCreated, AuditUserDropped, AuditUserModified, AuditWebhooksModified,
}

// TemplateModifiedMax is the number of schedules of a changed template that get a JOB_MODIFIED entry
// each. If there are more, the entry of the template says so.
const TemplateModifiedMax = 100

// AuditEntries returns the entries that follow from a job: that a caller enqueued it, and how it
// ended. Jobs of internal types have none. A job of a schedule was not enqueued by a caller but by
// the schedule, and a retry by the attempt before it; a redrive has an entry of its own. So has the
// cancellation of a job that waits, and the request to stop one that runs.
func (j *Job) AuditEntries() []AuditEntry {
	var entries []AuditEntry
	if j.auditsCreation() {
		e := j.auditEntry(j.ID, AuditJobCreated, j.CreatedAt)
		e.Changes = j.creation()
		entries = append(entries, e)
	}
	if act := j.auditedEnd(); act != "" {
		e := j.auditEntry(AuditEndID(j.ID), act, j.FinishedAt)
		detail := j.Run.Error
		if act == AuditJobCancelled && !j.Run.CancelAt.IsZero() {
			e.Actor, detail = cmp.Or(j.Run.CancelBy, SystemActor), cmp.Or(j.Run.CancelReason, detail)
		}
		e.RunID, e.Outcome, e.Detail = j.Run.ID, string(j.Run.ShownOutcome()), scrub.Text(detail)
		entries = append(entries, e)
	}
	return entries
}

// creation returns the changes of the entry about the creation of a job. A job keeps its type and its
// template, so the entry is the same whenever it is derived.
func (j *Job) creation() json.RawMessage {
	type change struct {
		Old any    `json:"old"`
		New string `json:"new"`
	}
	fields := map[string]change{"type": {New: j.Type}}
	if j.Template != "" {
		fields["template"] = change{New: j.Template}
	}
	return EncodeSpec(fields)
}

// auditsCreation reports whether the creation of the job is an entry. A program that names no actor
// creates jobs on its own behalf, which is no act of a user.
func (j *Job) auditsCreation() bool {
	return j.RetryOf.IsZero() && j.Schedule == "" && j.RedriveOf.IsZero() && j.CreatedBy != "" && !InternalType(j.Type)
}

// auditedEnd returns the act of the end of the run of the job, or "" if no run of it has ended.
func (j *Job) auditedEnd() string {
	if j.FinishedAt.IsZero() || j.Run == nil || InternalType(j.Type) {
		return ""
	}
	switch j.Run.ShownOutcome() {
	case OutcomeFailed:
		return AuditJobFailed
	case OutcomeCancelled:
		return AuditJobCancelled
	}
	return AuditJobExecuted
}

func (j *Job) auditEntry(id ID, act string, at time.Time) AuditEntry {
	return AuditEntry{
		ID: id, At: at, Actor: cmp.Or(j.CreatedBy, SystemActor), Act: act, Subject: JobSubject(j.ID), Schedule: j.Schedule, JobID: j.ID,
		ExecutionID: j.ExecutionID, Outcome: AuditOK,
	}
}

// WithDefaults returns an entry that has an actor and an outcome. Earlier versions stored entries
// without them, and a request to stop as JOB_CANCELLED with the outcome STOPPING.
func (e AuditEntry) WithDefaults() AuditEntry {
	switch {
	case e.Act == AuditJobCancelled && e.Outcome == "STOPPING":
		e.Act, e.Outcome = AuditJobStopping, AuditOK
	case e.Act == AuditJobCancelled:
		e.Outcome = cmp.Or(e.Outcome, string(OutcomeCancelled))
	}
	e.Actor, e.Outcome = cmp.Or(e.Actor, SystemActor), cmp.Or(e.Outcome, AuditOK)
	return e
}

// JobSubject is the subject of the entries about a job.
func JobSubject(id ID) string { return "job " + id.String() }

// Compare orders entries by time, then by id.
func (e *AuditEntry) Compare(other *AuditEntry) int {
	return cmp.Or(e.At.Compare(other.At), e.ID.Compare(other.ID))
}
