package dynamo

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// serviceClock knows the time of the service from the Date of its answers. A Date has whole seconds, so one
// answer says that the time is in an interval of a second and the length of the request. The intersection of
// several intervals is shorter. Between answers the monotonic clock of the process counts, which may drift.
type serviceClock struct {
	mu    sync.Mutex
	known bool
	at    time.Time     // of the process, when the interval held
	wall  time.Time     // the same by the wall clock, without a reading of the monotonic clock
	lo    time.Duration // the time of the service minus the time of the process is at least lo
	hi    time.Duration // and at most hi
	base  time.Time     // of the process; durations count from it, by the monotonic clock
}

// driftMax is how much the clock of a process may drift against that of the service.
const driftMax = 200e-6

func newServiceClock() *serviceClock { return &serviceClock{base: time.Now()} }

// answered adds an answer with a date to a request of this process.
func (c *serviceClock) answered(sent, received time.Time, date string) {
	service, err := http.ParseTime(date)
	if err != nil || slept(received.Sub(sent), received.Round(0).Sub(sent.Round(0))) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	offset := service.Sub(c.base.Round(0)) // of the Date from the start of this clock, by the clock of the service
	lo := offset - received.Sub(c.base)
	hi := offset + time.Second - sent.Sub(c.base)
	c.widen(received)
	if c.known && (lo > c.hi || hi < c.lo) { // a clock that was set, or an answer of something else; the next one tells
		c.known = false
		return
	}
	if !c.known {
		c.known, c.at, c.wall, c.lo, c.hi = true, received, received.Round(0), lo, hi
		return
	}
	c.lo, c.hi = max(c.lo, lo), min(c.hi, hi)
}

// widen makes the interval longer by the drift since it held. After a sleep of the machine the interval is unknown.
func (c *serviceClock) widen(now time.Time) {
	passed := now.Sub(c.at)
	if c.known && slept(passed, now.Round(0).Sub(c.wall)) {
		c.known = false
	}
	if !c.known || passed <= 0 {
		return
	}
	drift := time.Duration(float64(passed) * driftMax)
	c.at, c.wall, c.lo, c.hi = now, now.Round(0), c.lo-drift, c.hi+drift
}

// sleepMin is how much a time differs between the wall clock and the monotonic clock if the machine has slept in it.
const sleepMin = 100 * time.Millisecond

// slept reports whether the monotonic clock may have stood still, because the wall clock went on. If someone has set the
// wall clock it says so too, which costs a request.
func slept(monotonic, wall time.Duration) bool { return (wall - monotonic).Abs() > sleepMin }

// read returns the time of the service, and how far it may be off in both directions together.
func (c *serviceClock) read() (now time.Time, width time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return time.Time{}, 0, false
	}
	at := time.Now()
	if c.widen(at); !c.known {
		return time.Time{}, 0, false
	}
	width = c.hi - c.lo
	return c.base.Round(0).Add(at.Sub(c.base) + c.lo + width/2).UTC().Truncate(time.Microsecond), width, true
}

// within returns the time of the service if it is known exactly enough. If not, it asks with small requests
// around the next tick of the seconds.
func (c *serviceClock) within(ctx context.Context, skew time.Duration, ask func(context.Context) error) (time.Time, error) {
	const asksMax = 40
	for range asksMax {
		now, width, known := c.read()
		if known && width <= skew {
			return now, nil
		}
		if err := ask(ctx); err != nil {
			return time.Time{}, err
		}
		if _, width, known = c.read(); known && width > skew {
			if err := sleep(ctx, 50*time.Millisecond); err != nil {
				return time.Time{}, err
			}
		}
	}
	_, width, known := c.read()
	if !known {
		return time.Time{}, &rota.Error{Code: rota.Unavailable, Act: "dynamodb: clock", Reason: "the answers of the service have no date that can be read", Hint: "remove the proxy that changes it"}
	}
	return time.Time{}, &rota.Error{
		Code: rota.Unavailable, Act: "dynamodb: clock",
		Reason: "this process knows the time of the service only to " + width.Round(time.Millisecond).String() + ", and may write within " + skew.String(),
		Hint:   "use a faster connection, or a larger skew in the URL of the store",
	}
}

// sleep waits unless the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
