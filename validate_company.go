package rota

import (
	"fmt"
	"time"
)

// Validate refuses times that are out of order or too many.
func (c *Fire) Validate() error {
	if err := first(
		checkName("schedule", c.Schedule, true),
		checkID("version", c.Version),
		checkTime("expect", c.Expect),
		checkTime("next", c.Next),
		checkTime("missed", c.Missed),
	); err != nil {
		return err
	}
	if c.Expect.IsZero() {
		return Invalidf("expect", "is empty; a schedule that owes nothing is not fired")
	}
	if err := checkTimes(c.Times, 0, FireJobsMax); err != nil {
		return err
	}
	if n := len(c.Times); n > 0 && !c.Next.IsZero() && !c.Next.After(c.Times[n-1].At) {
		return Invalidf("next", "does not lie after the last of the times")
	}
	return nil
}

func checkTimes(times []FireTime, low, high int) error {
	if err := checkCount("times", len(times), low, high); err != nil {
		return err
	}
	last := time.Time{}
	for i := range times {
		t, field := &times[i], fmt.Sprintf("times[%d]", i)
		if err := first(checkTime(field+".at", t.At), checkTime(field+".from", t.From), checkTime(field+".until", t.Until)); err != nil {
			return err
		}
		if t.At.IsZero() {
			return Invalidf(field+".at", "is empty")
		}
		if !t.At.After(last) {
			return Invalidf(field+".at", "does not lie after the one before; give each time once, oldest first")
		}
		last = t.At
	}
	return nil
}

// Validate refuses bad overrides.
func (c *Trigger) Validate() error {
	return asError(first(
		checkName("schedule", c.Schedule, true),
		checkObject("params", c.Params, ParamsMax),
		checkIntPtr("priority", c.Priority, PriorityMin, PriorityMax),
	))
}

// Validate refuses times that are out of order or too many.
func (c *Backfill) Validate() error {
	if err := checkName("schedule", c.Schedule, true); err != nil {
		return err
	}
	return checkTimes(c.Times, 1, BackfillMax)
}

// Validate refuses an empty group, and members that cannot be in one.
func (c *EnqueueGroup) Validate() error {
	if err := first(
		checkText("name", c.Name, NameMax),
		checkWord("mode", c.Mode, GroupParallel, GroupSequential),
		checkWord("on_failure", c.OnFailure, FailureContinue, FailureStop, FailureSkip),
	); err != nil {
		return err
	}
	if len(c.Jobs) == 0 {
		return Invalidf("jobs", "is empty; a group has at least one member")
	}
	plain := Enqueue{Jobs: c.Jobs}
	if err := plain.Validate(); err != nil {
		return err
	}
	for i := range c.Jobs {
		if !c.Jobs[i].PlanTime.IsZero() {
			return Invalidf(fmt.Sprintf("jobs[%d].plan_time", i), "is given; a member of a group is not planned")
		}
	}
	return nil
}

// Validate refuses a cancel of nothing.
func (c *CancelGroup) Validate() error {
	return asError(first(checkID("group_id", c.GroupID), checkText("reason", c.Reason, ReasonMax)))
}

// Validate refuses a reservation for nobody, or for too long.
func (c *Reserve) Validate() error {
	return asError(first(checkName("node", c.Node, true), checkDuration("for", c.For, 0, ReservationMax)))
}

// Validate refuses a job that cannot be run directly.
func (c *Direct) Validate() error {
	if err := first(c.Job.validate(), checkNotOurs("type", c.Job.Type)); err != nil {
		return within("job", err)
	}
	err := first(
		checkID("reservation_id", c.ReservationID),
		checkDuration("lease", c.Lease, LeaseMin, LeaseMax),
		c.validateJob(),
	)
	if err == nil && c.Seed.IsZero() {
		err = Invalidf("seed", "is empty; it must be random, since the lease token comes from it")
	}
	return asError(err)
}

func (c *Direct) validateJob() *Error {
	switch j := &c.Job; {
	case !j.RunAt.IsZero() || j.Delay != 0:
		return Invalidf("job.run_at", "a direct run starts now; leave run_at and delay out")
	case j.UniqueKey != "":
		return Invalidf("job.unique_key", "a direct run has no unique key")
	case !j.PlanTime.IsZero():
		return Invalidf("job.plan_time", "a direct run is not planned")
	case j.MaxRetries != nil && *j.MaxRetries != 0:
		return Invalidf("job.max_retries", "a direct run is tried once")
	}
	return nil
}

// Validate refuses a release of nothing.
func (c *Release) Validate() error { return asError(checkID("reservation_id", c.ReservationID)) }

// Validate refuses a limit out of range.
func (c *Expire) Validate() error { return asError(checkInt("limit", c.Limit, 0, SweepMax)) }

// Validate refuses a limit out of range.
func (c *Sweep) Validate() error { return asError(checkInt("limit", c.Limit, 0, SweepMax)) }

// Validate refuses to prune nothing, or too much at once.
func (c *Prune) Validate() error {
	if err := checkCount("executions", len(c.Executions), 1, PruneMax); err != nil {
		return err
	}
	seen := make(map[ID]bool, len(c.Executions))
	for i, id := range c.Executions {
		field := fmt.Sprintf("executions[%d]", i)
		if err := checkID(field, id); err != nil {
			return err
		}
		if seen[id] {
			return Invalidf(field, "is given twice")
		}
		seen[id] = true
	}
	return asError(checkTime("before", c.Before))
}

// Validate refuses to redrive nothing.
func (c *Redrive) Validate() error { return asError(checkID("job_id", c.JobID)) }

// Validate refuses a key or a hash that could not be compared later, and an id
// that no command can have.
func (c *Remember) Validate() error {
	if c.Key == "" {
		return Invalidf("key", "is empty")
	}
	return asError(first(checkText("key", c.Key, KeyMax), checkHash("hash", c.Hash), checkMinted("command", c.Command)))
}

// hashDigits is how long a SHA-256 is as text.
const hashDigits = 64

// checkHash wants a hash to be written in one way, since it is compared as text.
func checkHash(field, hash string) *Error {
	if len(hash) != hashDigits {
		return Invalidf(field, "has %d bytes; a hash is %d hexadecimal digits", len(hash), hashDigits)
	}
	for i := range len(hash) {
		if c := hash[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Invalidf(field, "has something else in it than the digits 0 to 9 and a to f")
		}
	}
	return nil
}
