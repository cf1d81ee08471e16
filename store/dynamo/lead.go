package dynamo

import (
	"context"
	"sync/atomic"
	"time"
)

// leadership elects the process that does the background work of the table: it writes the items of jobs, enqueues
// those of other programs and writes snapshots. It is independent of the membership of engines, because a
// program without an engine may have the store open alone. If two processes believe that they lead, nothing
// is lost: each step of that work can be repeated.
type leadership struct {
	log   *commandLog
	until atomic.Pointer[time.Time] // by the clock of this process; nil: it does not lead
}

const (
	leadLease = 15 * time.Second
	leadEvery = 5 * time.Second
	leadUse   = 10 * time.Second // of its lease that a leader uses; the rest is for requests on their way
)

// attrUntil is when a lease ends, by the clock of the service.
const attrUntil = "until"

func leaderKey() item { return key("rota#leader", "-") }

// run takes and keeps the lead until the context ends, and then gives it up.
func (y *leadership) run(ctx context.Context) {
	for {
		if err := y.take(ctx); err != nil && ctx.Err() == nil {
			y.log.logger.Debug("the lease of the leader cannot be read", "error", err)
		}
		if sleep(ctx, leadEvery) != nil {
			break
		}
	}
	if y.until.Swap(nil) == nil {
		return
	}
	giving, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	_, _ = y.log.table.remove(giving, "give up lead", leaderKey(), "#process = :self",
		map[string]string{"#process": attrProcess}, item{":self": stringValue(y.log.self.String())})
}

// take extends the lease of this process, or takes one that has ended.
func (y *leadership) take(ctx context.Context) error {
	sent := time.Now()
	now, err := y.log.Now(ctx)
	if err != nil {
		return err
	}
	if y.until.Load() == nil {
		there, err := y.log.table.get(ctx, "read leader", leaderKey())
		if err != nil || there != nil && there.number(attrUntil) >= now.UnixMicro() {
			return err
		}
	}
	leads, err := y.log.table.update(ctx, "lead", leaderKey(), "SET #process = :self, #until = :until",
		"attribute_not_exists(#process) OR #process = :self OR #until < :now",
		map[string]string{"#process": attrProcess, "#until": attrUntil},
		item{
			":self": stringValue(y.log.self.String()), ":now": numberValue(now.UnixMicro()),
			":until": numberValue(now.Add(leadLease + y.log.options.Skew).UnixMicro()),
		})
	if err != nil {
		return err
	}
	if !leads {
		y.until.Store(nil)
		return nil
	}
	until := sent.Add(leadUse)
	y.until.Store(&until)
	return nil
}

// leads reports whether this process does the background work now.
func (y *leadership) leads() bool {
	until := y.until.Load()
	return until != nil && passed(until.Add(-leadUse)) < leadUse
}
