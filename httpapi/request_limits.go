package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// requestClass selects the semaphore of a request. Long requests must not block short ones, nor one
// kind of long request another.
type requestClass int

const (
	classDefault  requestClass = iota // requests of no other class
	classStream                       // streams of events and logs
	classDirect                       // direct runs
	classPoll                         // claims of workers
	classStopPoll                     // extends that wait for a stop: they must not take the slots of claims
	classVerify                       // checks of the store: one at a time, since each reads every row
	classBackup                       // copies of the store: one at a time, since each takes as much disk space as the store
	requestClasses
)

type semaphores [requestClasses]semaphore

func newSemaphores(c *Config) semaphores {
	return semaphores{
		classDefault: make(semaphore, c.InFlightMax), classStream: make(semaphore, c.StreamsMax), classDirect: make(semaphore, c.DirectMax),
		classPoll: make(semaphore, c.PollsMax), classStopPoll: make(semaphore, c.PollsMax),
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
	if c == classStream {
		return overloaded("the server has as many streams of events and logs as it allows; close unused streams")
	}
	return overloaded("the server is at its limit of concurrent requests")
}

// waitsBriefly reports whether the class admits one request at a time. Such a request waits a moment,
// because the previous one may release its slot only after its response was sent.
func (c requestClass) waitsBriefly() bool { return c == classVerify || c == classBackup }

// briefWait is the longest wait for that slot.
const briefWait = time.Second

// semaphore limits the number of concurrent requests.
type semaphore chan struct{}

func (s semaphore) tryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s semaphore) release() { <-s }

// moveTo moves a request to another class, and reports whether that class had a free slot.
func (c *call) moveTo(class requestClass) bool {
	slots := c.semaphores[class]
	if !slots.tryAcquire() {
		return false
	}
	c.slots.release()
	c.slots = slots
	return true
}

// largeBodyWait is the longest wait of a large body for its slot.
const largeBodyWait = 10 * time.Second

// acquire waits for a slot until the timeout.
func (s semaphore) acquire(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return overloaded("the server is at its limit of concurrent large bodies")
	}
}

func overloaded(detail string) *api.Problem {
	return &api.Problem{
		Title: problem.Kinds[rota.Unavailable].Title, Status: http.StatusServiceUnavailable, Code: string(rota.Unavailable),
		Detail: detail, Hint: "retry in a moment",
	}
}

// rateLimiter limits the request rate with a token bucket that holds the tokens of one period.
type rateLimiter struct {
	rate  rota.Rate
	clock func() time.Time

	mu         sync.Mutex
	tokens     float64
	refilledAt time.Time
}

func newRateLimiter(rate rota.Rate, clock func() time.Time) *rateLimiter {
	return &rateLimiter{rate: rate, clock: clock, tokens: float64(rate.Count), refilledAt: clock()}
}

func (l *rateLimiter) allow() bool {
	if l.rate.Count == 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if passed := now.Sub(l.refilledAt); passed > 0 {
		l.tokens = min(float64(l.rate.Count), l.tokens+passed.Seconds()/l.rate.Per.Seconds()*float64(l.rate.Count))
	}
	l.refilledAt = now
	if l.tokens < 1 {
		return false
	}
	l.tokens--
	return true
}

func rateExceeded() *api.Problem {
	return &api.Problem{
		Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
		Detail: "the request rate exceeds the limit of this server", Hint: "send fewer requests, or raise http_rate in the configuration",
	}
}

// allowUser counts a request of a user. It answers the request if the user has sent too many.
func (a *server) allowUser(w http.ResponseWriter, user string) bool {
	wait, allowed := a.UserRate.Allow(user)
	if !allowed {
		(&refusal{wait: wait, problem: &api.Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
			Detail: "the requests of user " + user + " exceed the limit of this server", Hint: "send fewer requests, or raise user_rate in the configuration",
		}}).write(w)
	}
	return allowed
}
