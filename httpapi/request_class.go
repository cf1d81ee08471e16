package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
)

// requestClass is whom a request is counted with: what goes on for long must not keep
// out what is short, nor one kind of it another.
type requestClass int

const (
	classDefault requestClass = iota // most
	classStream                      // of events and logs
	classDirect                      // those who wait for a run
	classPoll                        // workers who wait for jobs
	classVerify                      // of the whole store: one at a time, since each reads all of it
	classBackup                      // of the whole store: one at a time, since each takes as much room
	requestClasses
)

type semaphores [requestClasses]semaphore

func newSemaphores(c *Config) semaphores {
	return semaphores{
		classDefault: make(semaphore, c.InFlightMax), classStream: make(semaphore, c.StreamsMax), classDirect: make(semaphore, c.DirectMax),
		classPoll:   make(semaphore, c.PollsMax),
		classVerify: make(semaphore, 1), classBackup: make(semaphore, 1),
	}
}

// refusal says why a request is not let in.
func (c requestClass) refusal() error {
	switch c {
	case classVerify:
		return resourceBusy{rota.Errorf(rota.Busy, "verify", "another check is under way")}
	case classBackup:
		return resourceBusy{rota.Errorf(rota.Busy, "backup", "another backup is under way")}
	}
	return overloaded("as many requests are under way as this server is set to answer at once")
}

// waitsBriefly says that there is one place, which whoever has just been answered may
// still hold for a moment.
func (c requestClass) waitsBriefly() bool { return c == classVerify || c == classBackup }

// briefWait is how long that one is waited for.
const briefWait = time.Second
