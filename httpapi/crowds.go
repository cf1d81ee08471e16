package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
)

// company is whom a request is counted with: what goes on for long must not keep
// out what is short, nor one kind of it another.
type company int

const (
	withRequests  company = iota // most
	withFollowers                // of events and logs
	withDirect                   // those who wait for a run
	withPolls                    // workers who wait for jobs
	withChecks                   // of the whole store: one at a time, since each reads all of it
	withCopies                   // of the whole store: one at a time, since each takes as much room
	companies
)

type crowds [companies]crowd

func newCrowds(c *Config) crowds {
	return crowds{
		withRequests: make(crowd, c.InFlightMax), withFollowers: make(crowd, c.StreamsMax), withDirect: make(crowd, c.DirectMax),
		withPolls:  make(crowd, c.PollsMax),
		withChecks: make(crowd, 1), withCopies: make(crowd, 1),
	}
}

// full says why a request is not let in.
func (w company) full() error {
	switch w {
	case withChecks:
		return busyHere{rota.Errorf(rota.Busy, "verify", "another check is under way")}
	case withCopies:
		return busyHere{rota.Errorf(rota.Busy, "backup", "another backup is under way")}
	}
	return crowded("as many requests are under way as this server is set to answer at once")
}

// soon says that there is one place, which whoever has just been answered may
// still hold for a moment.
func (w company) soon() bool { return w == withChecks || w == withCopies }

// soonMax is how long that one is waited for.
const soonMax = time.Second
