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
	ID          ID
	Node        string // Worker of the claims that it stops
	Incarnation ID     // of the process; zero: unknown
	Status      ReservationStatus
	ReservedBy  string
	ReservedAt  time.Time
	ExpiresAt   time.Time
	EndedAt     time.Time
	JobID       ID // direct run; zero until it starts
}
