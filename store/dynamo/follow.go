package dynamo

import (
	"context"
	"time"
)

// followFirst is how often a process reads the log while others write.
const followFirst = 250 * time.Millisecond

// follow reads the log again and again. While nothing happens it reads more and more seldom.
func (l *commandLog) follow(ctx context.Context) {
	wait := followFirst
	for l.waitToFollow(ctx, min(wait, l.options.Poll)) == nil {
		before := l.replica.Applied().Index
		if err := l.CatchUp(ctx); err != nil && ctx.Err() == nil {
			l.logger.Debug("the log cannot be read", "error", err)
		}
		if wait *= 2; l.replica.Applied().Index != before {
			wait = followFirst
		}
		wait = min(wait, l.options.Poll)
	}
}

// waitToFollow waits until a time has passed, or until a caller has asked to catch up.
func (l *commandLog) waitToFollow(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.behind:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// askToCatchUp has this process catch up in the background. To fill a large replica takes longer than callers wait.
func (l *commandLog) askToCatchUp() {
	select {
	case l.behind <- struct{}{}:
	default:
	}
}
