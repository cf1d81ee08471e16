package rota

import "time"

// Reserve keeps a node from dispatching, for a direct run. It is refused with
// Busy while another reservation is active.
type Reserve struct {
	Meta        `wire:"1"`
	Node        string        `wire:"2"` // the Worker of the claims it holds back
	Incarnation ID            `wire:"3"` // of that process; zero: none
	For         time.Duration `wire:"4"` // until it expires by itself; 0: DefaultReservation
}

// Direct starts a job at once, past the queue, for the holder of a reservation.
// It is tried once. Where a limit would be passed it is refused with Busy.
// Finish ends the reservation with the run.
type Direct struct {
	Meta          `wire:"1"`
	ReservationID ID            `wire:"2"`
	Job           NewJob        `wire:"3"`
	Lease         time.Duration `wire:"4"`
	Seed          Token         `wire:"5"` // random, see NewToken; the lease token comes from it
}

// Release ends a reservation whose direct run has not started.
type Release struct {
	Meta          `wire:"1"`
	ReservationID ID `wire:"2"`
}

// Verb names the command.
func (*Reserve) Verb() Verb { return VerbReserve }

// Verb names the command.
func (*Direct) Verb() Verb { return VerbDirect }

// Verb names the command.
func (*Release) Verb() Verb { return VerbRelease }
