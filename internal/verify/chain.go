package verify

import (
	"bytes"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// chain checks that a retry continues the job it retries.
func (v *Verifier) chain(j, parent *rota.Job) {
	switch {
	case j.RetryOf.IsZero():
	case parent == nil:
		v.jobViolation(j.ID, rota.CheckRetryMissingParent, "it retries %s, which does not exist", rules.JobRef(j.RetryOf))
	default:
		v.link(j, parent)
	}
}

func (v *Verifier) link(j, parent *rota.Job) {
	if parent.Sequel != rota.SequelRetry {
		v.pairViolation(rota.CheckRetryUnasked, parent.ID, j.ID, "the second retries the first, whose sequel is %q", parent.Sequel)
	}
	if j.Attempt != parent.Attempt+1 {
		v.pairViolation(rota.CheckChainLength, parent.ID, j.ID, "attempt %d is followed by attempt %d", parent.Attempt, j.Attempt)
	}
	if j.ExecutionID != parent.ExecutionID {
		v.pairViolation(rota.CheckChainIdentity, parent.ID, j.ID, "the second retries the first, but belongs to another execution")
	}
	if field := lostField(j, parent); field != "" {
		v.pairViolation(rota.CheckChainKept, parent.ID, j.ID, "the second retries the first with another %s", field)
	}
}

// lostField returns what a retry should have kept of its parent and has not,
// empty if nothing.
func lostField(j, parent *rota.Job) string {
	edited := !j.Version.IsZero()
	switch {
	case j.Type != parent.Type:
		return "type"
	case j.Name != parent.Name:
		return "name"
	case j.ScopeKind != parent.ScopeKind || j.ScopeID != parent.ScopeID:
		return "scope"
	case !j.PlanTime.Equal(parent.PlanTime):
		return "plan time"
	case j.UniqueKey != parent.UniqueKey || j.UniqueFor != parent.UniqueFor:
		return "unique key"
	case j.Template != parent.Template:
		return "template"
	case j.Schedule != parent.Schedule || !j.CountsAt.Equal(parent.CountsAt):
		return "schedule"
	case j.GroupID != parent.GroupID || j.GroupPosition != parent.GroupPosition:
		return "place in a group"
	case j.ConcurrencyKey != parent.ConcurrencyKey:
		return "concurrency key"
	case j.Trace != parent.Trace:
		return "trace"
	case j.Policy != parent.Policy:
		return "policy"
	case j.CreatedBy != parent.CreatedBy:
		return "creator"
	case j.Owner != parent.Owner && parent.Owner != "": // jobs that ended before owners were stored have none
		return "owner"
	case !edited && !bytes.Equal(j.Params, parent.Params):
		return "params"
	case !edited && j.Priority != parent.Priority:
		return "priority"
	}
	return ""
}
