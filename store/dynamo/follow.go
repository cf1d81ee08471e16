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
	for sleep(ctx, min(wait, l.options.Poll)) == nil {
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
