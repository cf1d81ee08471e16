package engine

import (
	"sync"
	"time"
)

// uptime knows since when this process has run without interruption, by the store's
// clock. Times of schedules that were due earlier were missed, unless another process
// ran then. While the machine sleeps, the store's clock advances and the monotonic clock
// does not; the same holds for a clock that is set forward. Both begin a new uptime. A
// store that cannot be reached does not.
type uptime struct {
	mu       sync.Mutex
	since    time.Time
	now      time.Time // the store's clock at the last reading
	asked    time.Time // when that reading was requested, by the monotonic clock
	received time.Time // when it was received
}

// interruptionMin is by how much more than the monotonic clock the store's clock has to
// advance to count as an interruption.
const interruptionMin = time.Second

// observe records a reading of the store's clock, which was requested at asked and has
// just been received, and returns since when the process has run.
func (u *uptime) observe(now, asked time.Time) (since time.Time) {
	received := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	switch advanced := now.Sub(u.now); {
	case u.since.IsZero(), advanced > received.Sub(u.asked)+interruptionMin:
		u.since = now
	case advanced < 0 && asked.Before(u.received):
		return u.since // an older reading that was received later
	case u.since.After(now): // the clock was set back
		u.since = now
	}
	u.now, u.asked, u.received = now, asked, received
	return u.since
}

// start returns since when the process has run; zero: it has not read the clock yet.
func (u *uptime) start() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.since
}
