package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
)

// requestClass selects the semaphore of a request. Long requests must not block short ones, nor one
// kind of long request another.
type requestClass int

const (
	classDefault requestClass = iota // requests of no other class
	classStream                      // streams of events and logs
	classDirect                      // direct runs
	classPoll                        // claims of workers
	classVerify                      // checks of the store: one at a time, since each reads every row
	classBackup                      // copies of the store: one at a time, since each takes as much disk space as the store
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

// refusal is the error for a request whose class is at its limit.
func (c requestClass) refusal() error {
	switch c {
	case classVerify:
		return resourceBusy{rota.Errorf(rota.Busy, "verify", "another check is running; retry when it has ended")}
	case classBackup:
		return resourceBusy{rota.Errorf(rota.Busy, "backup", "another backup is running; retry when it has ended")}
	}
	return overloaded("the server is at its limit of concurrent requests")
}

// waitsBriefly reports whether the class admits one request at a time. Such a request waits a moment,
// because the previous one may release its slot only after its response was sent.
func (c requestClass) waitsBriefly() bool { return c == classVerify || c == classBackup }

// briefWait is the longest wait for that slot.
const briefWait = time.Second
