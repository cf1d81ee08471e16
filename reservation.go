package rota

import "time"

// ReservationStatus is how a reservation stands.
type ReservationStatus string

// The statuses. At most one reservation of a store is ACTIVE.
const (
	ReservationActive   ReservationStatus = "ACTIVE"
	ReservationReleased ReservationStatus = "RELEASED"
	ReservationExpired  ReservationStatus = "EXPIRED"
)

// Reservation keeps a node from dispatching, so that its next slot is free for a
// direct run. The order of the queue is not touched.
type Reservation struct {
	ID          ID
	Node        string // the Worker of the claims that it holds back
	Incarnation ID     // which life of that process; zero for those that name none
	Status      ReservationStatus
	ReservedBy  string
	ReservedAt  time.Time
	ExpiresAt   time.Time
	EndedAt     time.Time
	JobID       ID // the direct run, once it has started
}
