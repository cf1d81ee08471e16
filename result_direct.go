package rota

import "time"

// Reserved answers Reserve.
type Reserved struct{ Reservation *Reservation }

// Directed answers Direct. The job has its run and token. Now is the store's time.
type Directed struct {
	Job *Job
	Now time.Time
}

// Released answers Release.
type Released struct{ Reservation *Reservation }

func (*Reserved) reply() {}
func (*Directed) reply() {}
func (*Released) reply() {}
