package rota

import "time"

// Stats counts the live rows of a store. It does not count ended jobs, because the cost
// would grow with the history. It counts dead letters, because they need attention. Only
// Deliveries counts jobs of internal types.
type Stats struct {
	Now       time.Time // time of the store's authority
	Queued    int       // ready to be claimed
	Scheduled int       // delayed
	Blocked   int       // held back for another reason
	Running   int       // open runs
	Dead      int       // dead letters that were not redriven
	Schedules int       // ENABLED schedules
	Oldest    time.Time // when the oldest ready job became ready; zero: none
	Types     []TypeStats

	Deliveries int // webhook deliveries that wait or run
}

// TypeStats counts the live jobs of one type. The list is sorted by type.
type TypeStats struct {
	Type      string
	Queued    int
	Scheduled int
	Blocked   int
	Running   int
}
