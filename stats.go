package rota

import "time"

// Stats counts what lives in a store. What has ended is not counted, since that
// would cost the more the longer a store is used; dead letters are, as they wait
// for somebody. Jobs of internal types are counted nowhere but in Deliveries.
type Stats struct {
	Now       time.Time // the authority's
	Queued    int       // ready to be claimed
	Scheduled int       // delayed
	Blocked   int       // held back by something else
	Running   int       // runs that are open
	Dead      int       // dead letters that were not redriven
	Schedules int       // ENABLED ones
	Oldest    time.Time // since when the first ready job, by age, has stood in the order; zero: none
	Types     []TypeStats

	Deliveries int // to webhooks, that wait or are under way
}

// TypeStats counts one type that has live jobs. They are sorted by name.
type TypeStats struct {
	Type      string
	Queued    int
	Scheduled int
	Blocked   int
	Running   int
}
