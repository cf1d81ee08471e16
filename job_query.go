package rota

import (
	"slices"
	"strings"
	"time"
)

// JobQuery selects jobs. A zero field selects all.
type JobQuery struct {
	Status    Status
	Type      string // empty: all but internal types
	Template  string
	Schedule  string
	GroupID   ID
	State     State     // derived state; a Status that excludes it selects nothing
	Name      string    // Job.Name; a job that has its type as name has none: see Unnamed
	Unnamed   bool      // only jobs that have their type as name
	UniqueKey string    // also if the key is free again
	ScopeKind string    // GlobalScopeKind: also jobs without a scope
	ScopeID   string    // GlobalScopeID: also jobs without a scope
	ErrorCode string    // of the run
	Text      string    // part of one of the texts of a job, see Job.Contains
	Since     time.Time // created at or after
	Until     time.Time // created before
	Tails     bool      // only the last attempt of each execution
	Dead      bool      // only dead letters that were not redriven
	Before    ID        // only jobs with a smaller id: pages of newest first
	After     ID        // only jobs with a greater id: pages of oldest first
	Oldest    bool      // oldest first
	Lean      bool      // omits, and does not read, Params and the Result, Progress and Artifacts of the run
	Limit     int       // at most PageMax; 0 means 100

	// OfExecution compares last attempts as their execution is shown: Since and Until with the creation
	// of the first attempt; ErrorCode and Text, if the last attempt has no run, with the error of the
	// attempt before it.
	OfExecution bool
}

// JobPage is the answer to a search for jobs.
type JobPage struct {
	Jobs []*Job
	Next ID   // where the next page starts: Before, or After if the oldest come first
	More bool // there may be further jobs
}

// JobStates are the states of a job.
var JobStates = []State{
	StateScheduled, StateBlocked, StateQueued, StateRunning, StateCompleted, StateFailed, StateSkipped, StateCancelled,
}

// Validate refuses values that no job has.
func (q *JobQuery) Validate() error {
	err := first(
		checkName("type", q.Type, false), checkName("template", q.Template, false),
		checkName("schedule", q.Schedule, false), checkInt("limit", q.Limit, 0, PageMax),
		checkName("name", q.Name, false), checkText("unique_key", q.UniqueKey, KeyMax), checkText("scope_kind", q.ScopeKind, KeyMax),
		checkText("scope_id", q.ScopeID, KeyMax), checkText("error_code", q.ErrorCode, KeyMax), checkText("q", q.Text, KeyMax),
		checkTime("since", q.Since), checkTime("until", q.Until),
	)
	if err == nil && q.Status != "" {
		err = checkOneOf("status", q.Status, StatusQueued, StatusRunning, StatusCancelled)
	}
	if err == nil && q.State != "" {
		err = checkOneOf("state", q.State, JobStates...)
	}
	return asError(err)
}

// Contains reports whether a text is part of the name, type, template, schedule, unique key or scope
// id of the job, or of the error of its run. The case of the letters A to Z is ignored.
func (j *Job) Contains(text string) bool {
	texts := []string{j.Name, j.Type, j.Template, j.Schedule, j.UniqueKey, j.ScopeID}
	if j.Run != nil {
		texts = append(texts, j.Run.Error)
	}
	return containsFold(text, texts...)
}

func containsFold(part string, texts ...string) bool {
	part = FoldASCII(part)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(FoldASCII(text), part) })
}

// FoldASCII returns a text with the letters A to Z in lower case, as every database does it.
func FoldASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
