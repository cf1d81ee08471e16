package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
)

// semaphore bounds how many requests are under way at once.
type semaphore chan struct{}

func (c semaphore) tryAcquire() bool {
	select {
	case c <- struct{}{}:
		return true
	default:
		return false
	}
}

func (c semaphore) release() { <-c }

// largeBodyWait is how long a large body waits for its turn to be read.
const largeBodyWait = 10 * time.Second

// acquire enters as soon as there is room, if that comes in time.
func (c semaphore) acquire(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return overloaded("as many large bodies are being read as this server is set to read at once")
	}
}

func overloaded(detail string) *Problem {
	return &Problem{
		Title: problemKinds[rota.Unavailable].title, Status: http.StatusServiceUnavailable, Code: string(rota.Unavailable),
		Detail: detail, Hint: "try again in a moment",
	}
}
