package rota

import "time"

// Reserve stops a node from dispatching queued jobs, to prepare a direct run. It is
// refused with Busy while another reservation is active.
type Reserve struct {
	Meta        `wire:"1"`
	Node        string        `wire:"2"` // Worker of the claims that the reservation stops
	Incarnation ID            `wire:"3"` // incarnation of that process; zero: none
	For         time.Duration `wire:"4"` // time until it expires; 0: DefaultReservation
}

// Verb returns the kind of the command.
func (*Reserve) Verb() Verb { return VerbReserve }

// Validate requires a node and checks the duration.
func (c *Reserve) Validate() error {
	return asError(first(checkName("node", c.Node, true), checkDuration("for", c.For, 0, ReservationMax)))
}

// ReservationID returns the id of the reservation that the command creates.
func (c *Reserve) ReservationID() ID { return c.ID.Derive([]byte("reservation")) }

// Reserved answers Reserve.
type Reserved struct {
	Reservation *Reservation `wire:"1"`
}

func (*Reserved) reply() {}

// Direct starts a job at once, ahead of the queue, for the holder of a reservation.
// The job has no retries. If the job would exceed a limit, the command is refused
// with Busy. Finish ends the reservation with the run.
type Direct struct {
	Meta          `wire:"1"`
	ReservationID ID            `wire:"2"`
	Job           NewJob        `wire:"3"`
	Lease         time.Duration `wire:"4"`
	Seed          Token         `wire:"5"` // random, see NewToken; source of the lease token
}

// Verb returns the kind of the command.
func (*Direct) Verb() Verb { return VerbDirect }

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

func (c *Direct) weigh() (entries, bytes int) { return 1, 2*entryBytes + len(c.Job.Params) }

// JobID returns the id of the job of the direct run.
func (c *Direct) JobID() ID { return jobID(c.ID, c.Job.ID, 0) }

// TokenFor returns the lease token of the job.
func (c *Direct) TokenFor(job ID) Token { return tokenFor(c.Seed, job) }

// Directed answers Direct. The job has its run and token. Now is the store's time.
type Directed struct {
	Job *Job      `wire:"1"`
	Now time.Time `wire:"2"`
}

func (*Directed) reply() {}

// Release ends a reservation whose direct run has not started.
type Release struct {
	Meta          `wire:"1"`
	ReservationID ID `wire:"2"`
}

// Verb returns the kind of the command.
func (*Release) Verb() Verb { return VerbRelease }

// Validate requires a reservation.
func (c *Release) Validate() error { return asError(checkID("reservation_id", c.ReservationID)) }

// Released answers Release.
type Released struct {
	Reservation *Reservation `wire:"1"`
}

func (*Released) reply() {}
