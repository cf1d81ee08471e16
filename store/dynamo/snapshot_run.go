package dynamo

import (
	"context"
	"errors"
	"time"
)

// snapshotter writes snapshots while this process leads, and gives a TTL to what they replace.
type snapshotter struct {
	log     *commandLog
	limits  snapshotLimits
	known   meta // as read last
	settled bool // a step has found nothing left to do since this process leads
}

// snapshotWaitMax is how long a leader waits after several failures.
const snapshotWaitMax = 5 * time.Minute

// run takes steps until the context ends. After a failure it waits longer and longer.
func (y *snapshotter) run(ctx context.Context) {
	wait := y.limits.every
	for sleep(ctx, wait) == nil {
		if !y.log.lead.leads() {
			y.settled = false
			continue
		}
		switch err := y.step(ctx); {
		case err == nil || ctx.Err() != nil || errors.Is(err, errOtherLeader):
			wait = y.limits.every
		default:
			y.log.logger.Warn("the leader cannot write a snapshot, or give a TTL to what it has replaced", "error", err)
			wait = min(2*wait, snapshotWaitMax)
		}
	}
}

// step does what is to do now. It sends no request if that is nothing.
func (y *snapshotter) step(ctx context.Context) (err error) {
	if y.settled && !y.isDue(ctx) {
		return nil
	}
	y.settled = false
	if err := y.refresh(ctx); err != nil {
		return err
	}
	if y.known.writing != "" { // its leader has ended, or does not lead any more
		if err := y.log.abandonSnapshot(ctx, y.known.writing); err != nil {
			return err
		}
		if err := y.refresh(ctx); err != nil {
			return err
		}
	}
	if y.isDue(ctx) {
		if err = y.log.writeSnapshot(ctx, y.known); err == nil {
			err = y.refresh(ctx)
		}
	}
	if err == nil {
		y.settled, err = y.expire(ctx)
	}
	return err
}

// isDue reports whether the log since the last known snapshot is long enough for the next one. A replica that has
// stopped is not copied.
func (y *snapshotter) isDue(ctx context.Context) bool {
	l := y.log
	if l.acquire(ctx) != nil {
		return false
	}
	defer l.release()
	slots := int64(l.replica.Applied().Index) + 1 - int64(y.known.begin)
	return slots >= int64(y.limits.slots) || l.size-y.known.size >= y.limits.bytes
}

func (y *snapshotter) refresh(ctx context.Context) (err error) {
	y.known, err = y.log.readMeta(ctx)
	if err == nil && y.known.log != y.log.id {
		err = errOtherLeader
	}
	return err
}
