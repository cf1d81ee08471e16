package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

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
