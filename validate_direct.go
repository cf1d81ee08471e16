package rota

// Validate requires a node and checks the duration.
func (c *Reserve) Validate() error {
	return asError(first(checkName("node", c.Node, true), checkDuration("for", c.For, 0, ReservationMax)))
}

// Validate checks the job: a direct run has no delay, key, plan time or retries.
func (c *Direct) Validate() error {
	if err := first(c.Job.validate(), checkNotInternal("type", c.Job.Type)); err != nil {
		return within("job", err)
	}
	err := first(
		checkID("reservation_id", c.ReservationID),
		checkDuration("lease", c.Lease, LeaseMin, LeaseMax),
		c.validateJob(),
	)
	if err == nil && c.Seed.IsZero() {
		err = Invalidf("seed", "is empty; set it to a random token, see NewToken")
	}
	return asError(err)
}

func (c *Direct) validateJob() *Error {
	switch j := &c.Job; {
	case !j.RunAt.IsZero() || j.Delay != 0:
		return Invalidf("job.run_at", "a direct run starts now; omit run_at and delay")
	case j.UniqueKey != "":
		return Invalidf("job.unique_key", "a direct run cannot have a unique key")
	case !j.PlanTime.IsZero():
		return Invalidf("job.plan_time", "a direct run cannot have a plan time")
	case j.MaxRetries != nil && *j.MaxRetries != 0:
		return Invalidf("job.max_retries", "a direct run has no retries")
	}
	return nil
}

// Validate requires a reservation.
func (c *Release) Validate() error { return asError(checkID("reservation_id", c.ReservationID)) }
