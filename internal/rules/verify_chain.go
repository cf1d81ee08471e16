package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/rotajobs/rota"
)

// chain: a retry continues the job it retries, and a job that was to be
// retried is, once. Jobs come in any order, so a retry may come before its
// parent.
func (v *Verifier) chain(j, parent *rota.Job) {
	if j.Sequel == rota.SequelRetry {
		if _, seen := v.retried[j.ID]; !seen {
			v.owed[j.ID] = struct{}{}
		}
	}
	if j.RetryOf.IsZero() {
		return
	}
	delete(v.owed, j.RetryOf)
	if _, twice := v.retried[j.RetryOf]; twice {
		v.pair(rota.CheckRetryTwice, j.RetryOf, j.ID, "the second is not the only retry of the first")
	}
	v.retried[j.RetryOf] = struct{}{}
	if parent == nil {
		v.about(j.ID, rota.CheckRetryMissingParent, "it retries %s, which does not exist", jobRef(j.RetryOf))
		return
	}
	v.link(j, parent)
}

func (v *Verifier) link(j, parent *rota.Job) {
	if parent.Sequel != rota.SequelRetry {
		v.pair(rota.CheckRetryUnasked, parent.ID, j.ID, "the second retries the first, whose sequel is %q", parent.Sequel)
	}
	if j.Attempt != parent.Attempt+1 {
		v.pair(rota.CheckChainLength, parent.ID, j.ID, "attempt %d is followed by attempt %d", parent.Attempt, j.Attempt)
	}
	if j.ExecutionID != parent.ExecutionID {
		v.pair(rota.CheckChainIdentity, parent.ID, j.ID, "the second retries the first, but is of another execution")
	}
	if field := lost(j, parent); field != "" {
		v.pair(rota.CheckChainKept, parent.ID, j.ID, "the second retries the first with another %s", field)
	}
}

// lost names what a retry should have kept of its parent and has not.
func lost(j, parent *rota.Job) string {
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
	case j.Policy != parent.Policy:
		return "policy"
	case j.CreatedBy != parent.CreatedBy:
		return "creator"
	case !edited && !bytes.Equal(j.Params, parent.Params):
		return "params"
	case !edited && j.Priority != parent.Priority:
		return "priority"
	}
	return ""
}

// plan: of the first attempts, one has the plan key. Keys are kept as digests:
// a million of them would not fit into memory as text.
func (v *Verifier) plan(j *rota.Job) {
	plan, planned := PlanOf(j)
	if !planned || !j.RetryOf.IsZero() {
		return
	}
	digest := plan.digest()
	if other, taken := v.plans[digest]; taken {
		v.pair(rota.CheckPlanTwice, other, j.ID, "both are planned as %s for %s %s at %s",
			plan.Name, plan.ScopeKind, plan.ScopeID, stamp(j.PlanTime))
		return
	}
	v.plans[digest] = j.ID
}

func (p Plan) digest() [16]byte {
	var b []byte
	for _, part := range []string{p.Name, p.ScopeKind, p.ScopeID} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(p.Time)))
	return [16]byte(sum[:16])
}
