package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// Clock is a transaction whose store has a clock of its own. It is asked when a
// batch has no time, at the latest when the first command is to be decided: a
// store far away tells the time along with what is loaded first. It is asked anew
// when a step is decided again, since it may have waited for others before that.
type Clock interface {
	Now() (time.Time, error)
}

// batchTime is the time of a batch. It is zero until it is known.
type batchTime struct {
	tx        Tx
	now       time.Time
	fromClock bool // by the store's clock
}

func (at *batchTime) set(now time.Time) {
	if !now.IsZero() {
		at.now = now.UTC().Truncate(time.Microsecond)
	}
}

// update has a world know the time.
func (at *batchTime) update(u *UnitOfWork) error {
	if clock, has := at.tx.(Clock); has && (at.now.IsZero() || at.fromClock) {
		now, err := clock.Now()
		if err != nil {
			return err
		}
		at.set(now)
		at.fromClock = true
	}
	u.Now = at.now
	return nil
}

// loadCommands loads what commands need. Those that do not ask by the time for what
// they need first hear of it with that.
func loadCommands(tx Tx, at *batchTime, u *UnitOfWork, commands []rota.Command) error {
	if len(commands) > 0 && !loadsWithoutTime(commands[0]) {
		if err := at.update(u); err != nil {
			return err
		}
	}
	return load(tx, &Need{unit: u, setTime: func() error { return at.update(u) }}, commands)
}

func loadsWithoutTime(c rota.Command) bool {
	switch c.(type) {
	case *rota.Enqueue, *rota.Claim, *rota.Extend, *rota.Note, *rota.Finish:
		return true
	}
	return false
}
