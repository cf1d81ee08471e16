package rota

import (
	"fmt"
	"time"
)

// Validate checks the names and times.
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
		return Invalidf("expect", "is empty; only a schedule with a next fire can be fired")
	}
	if err := checkTimes(c.Times, 0, FireJobsMax); err != nil {
		return err
	}
	if n := len(c.Times); n > 0 && !c.Next.IsZero() && !c.Next.After(c.Times[n-1].At) {
		return Invalidf("next", "is not after the last of the times")
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
			return Invalidf(field+".at", "is not after the previous time; list each time once, oldest first")
		}
		last = t.At
	}
	return nil
}

// Validate checks the overrides.
func (c *Trigger) Validate() error {
	return asError(first(
		checkName("schedule", c.Schedule, true),
		checkObject("params", c.Params, ParamsMax),
		checkIntPtr("priority", c.Priority, PriorityMin, PriorityMax),
	))
}

// Validate checks the names and times.
func (c *Backfill) Validate() error {
	if err := checkName("schedule", c.Schedule, true); err != nil {
		return err
	}
	return checkTimes(c.Times, 1, BackfillMax)
}
