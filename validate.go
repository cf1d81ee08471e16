package rota

import (
	"fmt"
	"reflect"
)

// Validate refuses bad jobs, naming the first bad field.
func (c *Enqueue) Validate() error {
	if err := checkCount("jobs", len(c.Jobs), 1, JobsMax); err != nil {
		return err
	}
	for i := range c.Jobs {
		if err := first(c.Jobs[i].validate(), c.Jobs[i].validateMaker(c.Actor)); err != nil {
			return within(fmt.Sprintf("jobs[%d]", i), err)
		}
	}
	return c.validateIDs()
}

// validateIDs refuses an id given twice: the second job would be taken for
// the first one sent again, and be lost. Minted ids ascend, so the common case
// needs no set.
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
			return Invalidf(fmt.Sprintf("jobs[%d].id", i), "is the id of jobs[%d] too", k)
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
	return checkMinted("id", n.ID)
}

func (n *NewJob) validateDelay() *Error {
	if n.Delay != 0 && !n.RunAt.IsZero() {
		return Invalidf("delay", "run_at is given too; give one of them")
	}
	return nil
}

func (n *NewJob) validateUnique() *Error {
	if n.UniqueFor != 0 && n.UniqueKey == "" {
		return Invalidf("unique_for", "there is no unique_key for it to hold")
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

// Validate refuses a limit out of range.
func (c *Ready) Validate() error {
	return asError(checkInt("limit", c.Limit, 0, SweepMax))
}

// Validate refuses a claim without a worker, types, a lease or a seed.
func (c *Claim) Validate() error {
	err := first(
		checkName("worker", c.Worker, true),
		asType(checkCount("types", len(c.Types), 1, TypesMax)),
		checkInt("limit", c.Limit, 1, ClaimMax),
		checkDuration("lease", c.Lease, LeaseMin, LeaseMax),
	)
	if err == nil && c.Seed.IsZero() {
		err = Invalidf("seed", "is empty; it must be random, since the lease tokens come from it")
	}
	for i := 0; err == nil && i < len(c.Types); i++ {
		err = checkName(fmt.Sprintf("types[%d]", i), c.Types[i], true)
	}
	return asError(err)
}

// Validate refuses items without a proof, and a lease out of range.
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

// Validate refuses items without a proof, and oversized notes.
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

// Validate refuses items without a proof or with an unknown outcome.
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

// validateCode keeps a worker from claiming what only Rota can know.
func (it *FinishItem) validateCode() *Error {
	if it.ErrorCode == CodeLeaseExpired {
		return Invalidf("error_code", "%s is written by Rota alone, when a holder is not heard of", CodeLeaseExpired)
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

// Validate refuses a cancel of nothing.
func (c *Cancel) Validate() error {
	return asError(first(checkID("job_id", c.JobID), checkText("reason", c.Reason, ReasonMax)))
}

// Validate refuses an edit of nothing, or to bad values.
func (c *Edit) Validate() error {
	if c.Priority == nil && c.Params == nil {
		return Invalidf("priority", "neither priority nor params is given; there is nothing to change")
	}
	return asError(first(
		checkID("job_id", c.JobID),
		checkIntPtr("priority", c.Priority, PriorityMin, PriorityMax),
		checkObject("params", c.Params, ParamsMax),
	))
}

// Validate refuses an unknown place, and an anchor that does not fit it.
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
		err = Invalidf("anchor", "is given, but %s needs none", c.Place)
	}
	return asError(err)
}

// Validate refuses a priority out of range.
func (c *Normalise) Validate() error {
	return asError(checkInt("priority", c.Priority, PriorityMin, PriorityMax))
}

// Validate refuses a limit out of range.
func (c *Reap) Validate() error {
	return asError(checkInt("limit", c.Limit, 0, SweepMax))
}

// Validate refuses a recovery that does not say whose.
func (c *Recover) Validate() error {
	return asError(first(
		checkName("runner", c.Runner, true),
		checkID("life", c.Incarnation),
		checkInt("limit", c.Limit, 0, SweepMax),
	))
}

// Validate refuses members that cannot be part of one command: those that
// look for their rows by order, and another All.
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
			return Invalidf(field, "%s cannot be part of all; send it by itself", m.Verb())
		}
		if err := CheckCommand(m); err != nil {
			return within(field, err)
		}
		if seen[m.Head().ID] {
			return Invalidf(field+".id", "is another command's id too; what they make would be taken for one")
		}
		seen[m.Head().ID] = true
	}
	return nil
}

// inAll are the verbs that can be part of All: those that people send and that
// find their rows by name or id. What they find does not depend on who else is
// looking.
var inAll = map[Verb]bool{
	VerbEnqueue: true, VerbFinish: true, VerbCancel: true, VerbEdit: true, VerbNote: true,
	VerbPutType: true, VerbSwitchType: true, VerbPutTemplate: true, VerbArchive: true, VerbUnarchive: true,
	VerbPutThrottle: true, VerbPutWebhooks: true, VerbPutSchedule: true, VerbSwitchSchedule: true, VerbDeleteSchedule: true, VerbDrop: true,
	VerbTrigger: true, VerbEnqueueGroup: true, VerbCancelGroup: true, VerbRedrive: true,
}

// CheckCommand validates a command and the head that all commands share.
func CheckCommand(c Command) error {
	if IsNil(c) {
		return Invalidf("command", "is empty")
	}
	h := c.Head()
	if h.RulesVersion < 0 || h.RulesVersion > RulesVersion {
		return Invalidf("law", "the command speaks law %d, this program knows up to %d; upgrade it", h.RulesVersion, RulesVersion)
	}
	if err := first(checkMinted("id", h.ID), checkText("actor", h.Actor, NameMax), checkWeight(c)); err != nil {
		return err
	}
	return c.Validate()
}

// IsNil reports whether there is no command; it also sees through a nil pointer in a Command.
func IsNil(c Command) bool {
	return c == nil || reflect.ValueOf(c).IsNil()
}
