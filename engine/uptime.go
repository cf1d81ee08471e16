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
	last     clockReading
	received time.Time // when the last reading was received

	// The uptime before the last interruption, and its last reading.
	sinceBefore time.Time
	lastBefore  clockReading
}

// clockReading is a reading of the store's clock, and when it was requested by the
// monotonic clock.
type clockReading struct{ now, asked time.Time }

// interrupted reports whether there was an interruption between a reading and one that
// was received later.
func (r clockReading) interrupted(now, received time.Time) bool {
	return now.Sub(r.now) > received.Sub(r.asked)+interruptionMin
}

// interruptionMin is by how much more than the monotonic clock the store's clock has to
// advance to count as an interruption.
const interruptionMin = time.Second

// observe records a reading of the store's clock, which was requested at asked and has
// just been received, and returns since when the process has run at that reading.
// Several loops read the clock: a reading may be received after one that was taken later.
func (u *uptime) observe(now, asked time.Time) (since time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	received := time.Now()
	switch {
	case u.since.IsZero():
		u.since = now
	case u.last.interrupted(now, received):
		u.sinceBefore, u.lastBefore = u.since, u.last
		u.since = now
	case now.Before(u.last.now) && asked.Before(u.received): // received late
		return u.observeLate(now, received)
	case u.since.After(now): // the clock was set back
		u.since = now
	}
	u.last, u.received = clockReading{now, asked}, received
	return u.since
}

// observeLate records a reading that was received after one that was taken later. If both
// were taken after an interruption, this one is the first reading of the uptime.
func (u *uptime) observeLate(now, received time.Time) (since time.Time) {
	switch {
	case !now.Before(u.since):
	case u.lastBefore.now.IsZero() || u.lastBefore.interrupted(now, received):
		u.since = now
	default:
		return u.sinceBefore // from before the interruption
	}
	return u.since
}

// start returns since when the process has run; zero: it has not read the clock yet.
func (u *uptime) start() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.since
}
