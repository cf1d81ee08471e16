package rota

import "time"

// ReservationStatus is the state of a reservation.
type ReservationStatus string

// The statuses. At most one reservation of a store is ACTIVE.
const (
	ReservationActive   ReservationStatus = "ACTIVE"
	ReservationReleased ReservationStatus = "RELEASED"
	ReservationExpired  ReservationStatus = "EXPIRED"
)

// Reservation stops a node from dispatching, so that its next free slot runs a direct
// run. The order of the queue does not change.
type Reservation struct {
	ID          ID                `wire:"1"`
	Node        string            `wire:"2"` // Worker of the claims that it stops
	Incarnation ID                `wire:"3"` // of the process; zero: unknown
	Status      ReservationStatus `wire:"4"`
	ReservedBy  string            `wire:"5"`
	ReservedAt  time.Time         `wire:"6"`
	ExpiresAt   time.Time         `wire:"7"`
	EndedAt     time.Time         `wire:"8"`
	JobID       ID                `wire:"9"` // direct run; zero until it starts
}
