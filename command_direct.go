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

// Release ends a reservation whose direct run has not started.
type Release struct {
	Meta          `wire:"1"`
	ReservationID ID `wire:"2"`
}

// Verb returns the kind of the command.
func (*Reserve) Verb() Verb { return VerbReserve }

// Verb returns the kind of the command.
func (*Direct) Verb() Verb { return VerbDirect }

// Verb returns the kind of the command.
func (*Release) Verb() Verb { return VerbRelease }
