package rota

import (
	"fmt"
	"reflect"
)

// Validate checks the jobs. The error names the first wrong field.
func (c *Enqueue) Validate() error {
	if err := checkCount("jobs", len(c.Jobs), 1, JobsMax); err != nil {
		return err
	}
	for i := range c.Jobs {
		if err := first(c.Jobs[i].validate(), c.Jobs[i].validateSubmitter(c.Actor)); err != nil {
			return within(fmt.Sprintf("jobs[%d]", i), err)
		}
	}
	return c.validateIDs()
}

// validateIDs refuses duplicate ids: the store would treat the second job as the first
// one sent again and lose it. Ids from NewID ascend, so the common case needs no set.
func (c *Enqueue) validateIDs() error {
	seen := map[ID]int{}
	last := ID{}
	for i := range c.Jobs {
		id := c.Jobs[i].ID
		if id.IsZero() {
			continue
		}
		if len(seen) == 0 && id.Compare(last) > 0 {
			last = id
			continue
		}
		if len(seen) == 0 {
			for k := range c.Jobs[:i] {
				seen[c.Jobs[k].ID] = k
			}
		}
		if k, taken := seen[id]; taken {
			return Invalidf(fmt.Sprintf("jobs[%d].id", i), "is also the id of jobs[%d]", k)
		}
		seen[id] = i
	}
	return nil
}

func (n *NewJob) validate() *Error {
	return first(
		n.validateID(),
		checkName("type", n.Type, n.Template == ""),
		checkName("template", n.Template, false),
		checkName("name", n.Name, false),
		checkObject("params", n.Params, ParamsMax),
		checkIntPtr("priority", n.Priority, PriorityMin, PriorityMax),
		checkTime("run_at", n.RunAt),
		checkDuration("delay", n.Delay, 0, DelayMax),
		n.validateDelay(),
		checkText("unique_key", n.UniqueKey, KeyMax),
		checkDuration("unique_for", n.UniqueFor, 0, DelayMax),
		n.validateUnique(),
		checkText("scope_kind", n.ScopeKind, NameMax),
		checkText("scope_id", n.ScopeID, KeyMax),
		n.validateScope(),
		checkTime("plan_time", n.PlanTime),
		n.validatePolicy(),
		n.validateKey(),
		checkTrace("trace", n.Trace),
	)
}

func (n *NewJob) validateKey() *Error {
	if n.ConcurrencyKey == nil {
		return nil
	}
	return checkText("concurrency_key", *n.ConcurrencyKey, KeyMax)
}

func (n *NewJob) validateID() *Error {
	if n.ID.IsZero() {
		return nil
	}
	return checkNewID("id", n.ID)
}

func (n *NewJob) validateDelay() *Error {
	if n.Delay != 0 && !n.RunAt.IsZero() {
		return Invalidf("delay", "run_at is also given; give one of them")
	}
	return nil
}

func (n *NewJob) validateUnique() *Error {
	if n.UniqueFor != 0 && n.UniqueKey == "" {
		return Invalidf("unique_for", "is given without a unique_key")
	}
	return nil
}

func (n *NewJob) validateScope() *Error {
	switch {
	case n.ScopeKind != "" && n.ScopeID == "":
		return Invalidf("scope_id", "is empty, but scope_kind is %s; give both or neither", quote(n.ScopeKind))
	case n.ScopeID != "" && n.ScopeKind == "":
		return Invalidf("scope_kind", "is empty, but scope_id is %s; give both or neither", quote(n.ScopeID))
	}
	return nil
}

func (n *NewJob) validatePolicy() *Error {
	patch := n.Patch()
	return patch.validate()
}

// Validate checks the limit.
func (c *Ready) Validate() error {
	return asError(checkInt("limit", c.Limit, 0, SweepMax))
}

// Validate requires a worker, types, a limit, a lease and a seed.
func (c *Claim) Validate() error {
	err := first(
		checkName("worker", c.Worker, true),
		asType(checkCount("types", len(c.Types), 1, TypesMax)),
		checkInt("limit", c.Limit, 1, ClaimMax),
		checkDuration("lease", c.Lease, LeaseMin, LeaseMax),
	)
	if err == nil && c.Seed.IsZero() {
		err = Invalidf("seed", "is empty; set it to a random token, see NewToken")
	}
	for i := 0; err == nil && i < len(c.Types); i++ {
		err = checkName(fmt.Sprintf("types[%d]", i), c.Types[i], true)
	}
	return asError(err)
}

// Validate checks the lease and the items.
func (c *Extend) Validate() error {
	if err := checkDuration("lease", c.Lease, LeaseMin, LeaseMax); err != nil {
		return err
	}
	if len(c.Items) == 0 && !c.ReservationID.IsZero() {
		return nil
	}
	return eachItem(c.Items, func(it *ExtendItem) *Error {
		return first(it.LeaseRef.validate(), checkJSON("progress", it.Progress, ProgressMax))
	})
}

// Validate checks the items.
func (c *Note) Validate() error {
	return eachItem(c.Items, func(it *NoteItem) *Error {
		return first(
			it.LeaseRef.validate(),
			checkJSON("progress", it.Progress, ProgressMax),
			checkPaths("artifacts", it.Artifacts),
			checkText("log_path", it.LogPath, PathMax),
		)
	})
}

// Validate checks the items.
func (c *Finish) Validate() error {
	return eachItem(c.Items, func(it *FinishItem) *Error {
		return first(
			it.LeaseRef.validate(),
			checkOneOf("outcome", it.Outcome, OutcomeCompleted, OutcomeFailed, OutcomeSkipped, OutcomeCancelled),
			checkUTF8("error", it.Error),
			checkText("error_code", it.ErrorCode, KeyMax),
			it.validateCode(),
			checkJSON("result", it.Result, ResultMax),
			checkPaths("artifacts", it.Artifacts),
			checkText("log_path", it.LogPath, PathMax),
			checkTime("retry_at", it.RetryAt),
		)
	})
}

// validateCode refuses the code that only the store writes.
func (it *FinishItem) validateCode() *Error {
	if it.ErrorCode == CodeLeaseExpired {
		return Invalidf("error_code", "%s is reserved: the store writes it when a lease expires", CodeLeaseExpired)
	}
	return nil
}

func (r *LeaseRef) validate() *Error {
	switch {
	case r.JobID.IsZero():
		return Invalidf("job_id", "is empty")
	case r.RunID.IsZero():
		return Invalidf("run_id", "is empty")
	case r.Token.IsZero():
		return Invalidf("lease_token", "is empty")
	}
	return nil
}

// Validate requires a job.
func (c *Cancel) Validate() error {
	return asError(first(checkID("job_id", c.JobID), checkText("reason", c.Reason, ReasonMax)))
}

// Validate requires a job and at least one change.
func (c *Edit) Validate() error {
	if c.Priority == nil && c.Params == nil {
		return Invalidf("priority", "neither priority nor params is given; give at least one")
	}
	return asError(first(
		checkID("job_id", c.JobID),
		checkIntPtr("priority", c.Priority, PriorityMin, PriorityMax),
		checkObject("params", c.Params, ParamsMax),
	))
}

// Validate checks the place, and that the anchor is given exactly if the place needs it.
func (c *Move) Validate() error {
	err := first(
		checkID("job_id", c.JobID),
		checkOneOf("place", c.Place, PlaceBefore, PlaceAfter, PlaceTop, PlaceBottom),
	)
	beside := c.Place == PlaceBefore || c.Place == PlaceAfter
	switch {
	case err != nil:
	case beside && c.Anchor.IsZero():
		err = Invalidf("anchor", "is empty; %s needs the id of another job", c.Place)
	case beside && c.Anchor == c.JobID:
		err = Invalidf("anchor", "is the job itself; name another one")
	case !beside && !c.Anchor.IsZero():
		err = Invalidf("anchor", "is given, but %s takes none", c.Place)
	}
	return asError(err)
}

// Validate checks the priority.
func (c *Normalise) Validate() error {
	return asError(checkInt("priority", c.Priority, PriorityMin, PriorityMax))
}

// Validate checks the limit.
func (c *Reap) Validate() error {
	return asError(checkInt("limit", c.Limit, 0, SweepMax))
}

// Validate requires a runner and an incarnation.
func (c *Recover) Validate() error {
	return asError(first(
		checkName("runner", c.Runner, true),
		checkID("incarnation", c.Incarnation),
		checkInt("limit", c.Limit, 0, SweepMax),
	))
}

// Validate checks the members. Verbs that find their rows by order, and All, cannot be
// members.
func (c *All) Validate() error {
	if err := checkCount("members", len(c.Members), 1, BatchMax); err != nil {
		return err
	}
	seen := map[ID]bool{c.ID: true}
	for i, m := range c.Members {
		field := fmt.Sprintf("members[%d]", i)
		if IsNil(m) {
			return Invalidf(field, "is empty")
		}
		if !inAll[m.Verb()] {
			return Invalidf(field, "%s cannot be a member of All; send it as its own command", m.Verb())
		}
		if err := CheckCommand(m); err != nil {
			return within(field, err)
		}
		if seen[m.Head().ID] {
			return Invalidf(field+".id", "is also the id of another command; give each command its own id")
		}
		seen[m.Head().ID] = true
	}
	return nil
}

// inAll holds the verbs that can be members of All: those that users send and that find
// their rows by name or id.
var inAll = map[Verb]bool{
	VerbEnqueue: true, VerbFinish: true, VerbCancel: true, VerbEdit: true, VerbNote: true,
	VerbPutType: true, VerbSwitchType: true, VerbPutTemplate: true, VerbArchive: true, VerbUnarchive: true,
	VerbPutThrottle: true, VerbPutWebhooks: true, VerbPutSchedule: true, VerbSwitchSchedule: true, VerbDeleteSchedule: true, VerbDrop: true,
	VerbTrigger: true, VerbEnqueueGroup: true, VerbCancelGroup: true, VerbRedrive: true,
}

// CheckCommand validates a command and its head.
func CheckCommand(c Command) error {
	if IsNil(c) {
		return Invalidf("command", "is empty")
	}
	h := c.Head()
	if h.RulesVersion < 0 || h.RulesVersion > RulesVersion {
		return Invalidf("rules_version", "is %d; this program knows versions up to %d; upgrade it", h.RulesVersion, RulesVersion)
	}
	if err := first(checkNewID("id", h.ID), checkText("actor", h.Actor, NameMax), checkWeight(c)); err != nil {
		return err
	}
	return c.Validate()
}

// IsNil reports whether c is nil or holds a nil pointer.
func IsNil(c Command) bool {
	return c == nil || reflect.ValueOf(c).IsNil()
}
