package rota

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// AuditOutcomes are all outcomes of entries.
var AuditOutcomes = []string{AuditOK, string(OutcomeCompleted), string(OutcomeFailed), string(OutcomeSkipped), string(OutcomeCancelled), AuditDenied}

// AuditQuery selects audit entries. A zero field selects all.
type AuditQuery struct {
	Since       time.Time // at or after
	Until       time.Time // before
	Actor       string
	Acts        []string // any of them
	Subject     string
	Schedule    string // entries about this definition and about its jobs
	ExecutionID ID     // the id of any attempt
	Derived     bool   // only entries that are derived from kept jobs, which are not in the chain; not with Subject, Schedule or ExecutionID
	Outcomes    []string
	Text        string // part of the actor, act, subject, schedule or detail, or of a text of the job: see Job.Contains

	// Entries about jobs that are kept.
	Name      string // definition name; also entries about a type, template or schedule of this name
	UniqueKey string
	ScopeKind string
	ScopeID   string
	ErrorCode string // of the run

	Before AuditCursor // continues after an entry
	Limit  int         // at most PageMax; 0 means 100
}

// AuditCursor is a place in the audit: entries before it are older.
type AuditCursor struct {
	At time.Time
	ID ID
}

// AuditPage is the answer to an AuditQuery.
type AuditPage struct {
	Entries []AuditEntry
	Next    AuditCursor // where the next page starts
	More    bool        // there may be further entries
}

// Validate refuses values that no entry has.
func (q *AuditQuery) Validate() error {
	err := first(
		checkTime("since", q.Since), checkTime("until", q.Until), checkText("actor", q.Actor, NameMax), checkUTF8("subject", q.Subject),
		checkName("schedule", q.Schedule, false), checkTime("before.at", q.Before.At), checkInt("limit", q.Limit, 0, PageMax),
	)
	if err == nil {
		err = first(
			checkName("name", q.Name, false), checkText("unique_key", q.UniqueKey, KeyMax), checkText("scope_kind", q.ScopeKind, KeyMax),
			checkText("scope_id", q.ScopeID, KeyMax), checkText("error_code", q.ErrorCode, KeyMax), checkText("q", q.Text, KeyMax),
		)
	}
	if err == nil && q.Derived && (q.Subject != "" || q.Schedule != "" || !q.ExecutionID.IsZero()) {
		err = Invalidf("derived", "cannot be combined with a subject, a schedule or an execution")
	}
	for _, outcome := range q.Outcomes {
		if err == nil {
			err = checkOneOf("outcome", outcome, AuditOutcomes...)
		}
	}
	for _, act := range q.Acts {
		if err == nil && !slices.Contains(AuditActs, act) {
			err = Invalidf("act", "%s is not an act of the audit; the acts are %s", quote(act), strings.Join(AuditActs, ", "))
		}
	}
	return asError(err)
}

// OfJob reports whether the query compares the job of an entry.
func (q *AuditQuery) OfJob() bool {
	return q.Name != "" || q.UniqueKey != "" || q.ScopeKind != "" || q.ScopeID != "" || q.ErrorCode != "" || q.Text != ""
}

// Filters reports whether the query compares entries that are not selected by an index.
func (q *AuditQuery) Filters() bool {
	return q.Actor != "" || len(q.Acts) > 0 || len(q.Outcomes) > 0 || q.OfJob()
}

// Matches reports whether the query selects an entry about a job, apart from Before and Limit. The
// job is nil if the entry is about none, or if the job is not kept.
func (q *AuditQuery) Matches(e *AuditEntry, j *Job) bool {
	return (q.Since.IsZero() || !e.At.Before(q.Since)) && (q.Until.IsZero() || e.At.Before(q.Until)) &&
		(q.Actor == "" || q.Actor == e.Actor) && (len(q.Acts) == 0 || slices.Contains(q.Acts, e.Act)) &&
		(q.Subject == "" || q.Subject == e.Subject) && (q.Schedule == "" || q.Schedule == e.Schedule) &&
		(q.ExecutionID.IsZero() || q.ExecutionID == e.ExecutionID) &&
		(len(q.Outcomes) == 0 || slices.Contains(q.Outcomes, e.Outcome)) && (!q.OfJob() || q.matchesJob(e, j))
}

func (q *AuditQuery) matchesJob(e *AuditEntry, j *Job) bool {
	if j == nil {
		j = &Job{}
		if q.UniqueKey != "" || q.ScopeKind != "" || q.ScopeID != "" || q.ErrorCode != "" {
			return false
		}
	}
	code := ""
	if j.Run != nil {
		code = j.Run.ErrorCode
	}
	_, named, _ := strings.Cut(e.Subject, " ")
	return (q.Name == "" || q.Name == e.Schedule || q.Name == j.DefinitionName() || q.Name == named) &&
		(q.UniqueKey == "" || q.UniqueKey == j.UniqueKey) && (q.ErrorCode == "" || q.ErrorCode == code) &&
		(q.ScopeKind == "" || q.ScopeKind == cmp.Or(j.ScopeKind, GlobalScopeKind)) && (q.ScopeID == "" || q.ScopeID == cmp.Or(j.ScopeID, GlobalScopeID)) &&
		(q.Text == "" || containsFold(q.Text, e.Actor, e.Act, e.Subject, e.Schedule, e.Detail) || j.Contains(q.Text))
}
