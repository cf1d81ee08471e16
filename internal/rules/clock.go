package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// Clock is a transaction whose store has its own clock. It is read if a batch
// has no time, at the latest before the first command is decided, so that a
// remote store can return the time with the first rows. It is read again when a
// step is repeated, since that step may have waited for locks.
type Clock interface {
	Now() (Reading, error)
}

// Reading is a time of the store's clock, and when it was read.
type Reading struct {
	Now    time.Time
	ReadAt time.Time // by the clock of this process, whose monotonic reading tells how long a command has waited
}

// batchTime is the time of a batch. It is zero until it is known.
type batchTime struct {
	tx        Tx
	now       time.Time
	readAt    time.Time // of the Reading; zero: the batch has its own time
	fromClock bool      // now was read from the store's clock
}

func (at *batchTime) set(now time.Time) {
	if !now.IsZero() {
		at.now = now.UTC().Truncate(time.Microsecond)
	}
}

// update sets the time of the unit of work and reads the store's clock if
// necessary.
func (at *batchTime) update(u *UnitOfWork) error {
	if clock, has := at.tx.(Clock); has && (at.now.IsZero() || at.fromClock) {
		reading, err := clock.Now()
		if err != nil {
			return err
		}
		at.set(reading.Now)
		at.readAt, at.fromClock = reading.ReadAt, true
	}
	u.Now, u.ReadAt = at.now, at.readAt
	return nil
}

// loadsWithoutTime reports whether the first rows of a command do not depend on
// the time.
func loadsWithoutTime(c rota.Command) bool {
	switch c.(type) {
	case *rota.Enqueue, *rota.Claim, *rota.Extend, *rota.Note, *rota.Finish:
		return true
	}
	return false
}
