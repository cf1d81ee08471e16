package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// newExtend returns the command, without its id, and how long its answer may wait.
func newExtend(r *api.ExtendRequest, grace time.Duration) (*rota.Extend, time.Duration, error) {
	command := &rota.Extend{Lease: leaseOf(r.Lease), Grace: grace, Items: make([]rota.ExtendItem, len(r.Items))}
	for i := range r.Items {
		item, err := r.Items[i].Item()
		if err == nil {
			err = rota.CheckDocument("progress", item.Progress, rota.ProgressMax)
		}
		if err == nil {
			err = checkLogPart(r.Items[i].Log, r.Items[i].LogOffset)
		}
		if err != nil {
			return nil, 0, problem.AtItem("items", i, err)
		}
		command.Items[i] = item
	}
	if err := command.Validate(); err != nil {
		return nil, 0, err
	}
	if r.Wait == nil {
		return command, 0, nil
	}
	wait, longest := time.Duration(*r.Wait), min(waitMax, command.Lease/2)
	if wait < 0 || wait > longest {
		return nil, 0, rota.Invalidf("wait", "is %s; allowed are 0s to %s, half of the lease and at most %s, so that the next request extends the leases in time",
			rota.FormatDuration(wait), rota.FormatDuration(longest), rota.FormatDuration(waitMax))
	}
	return command, wait, nil
}

// extendLeases extends leases. If it may wait, it answers when one of the runs is asked to stop, by
// this process or another.
func extendLeases(c *call, body *api.ExtendRequest) (reply, error) {
	command, wait, err := newExtend(body, c.CancelGrace)
	if err != nil {
		return reply{}, err
	}
	masks, err := c.masksOfParts(body.Items)
	if err != nil {
		return reply{}, err
	}
	for i, m := range masks {
		command.Items[i].Progress = m.progress(command.Items[i].Progress)
	}
	deadline := time.Now().Add(wait)
	stopped, end := c.watchStops(command.Items, wait)
	defer end()
	extended, err := c.extend(command)
	var logs map[int]logState
	if err == nil {
		logs = c.appendLogs(body.Items, extended.Items, masks)
	}
	if err == nil && wait > 0 && !anyStops(extended) && c.waitForStop(stopped, deadline) {
		for i := range command.Items {
			command.Items[i].Progress = nil // it is recorded
		}
		extended, err = c.extend(command)
	}
	if err != nil {
		return reply{}, err
	}
	answer := api.Extended{Items: make([]api.ExtendedLease, len(extended.Items))}
	for i := range extended.Items {
		answer.Items[i] = api.NewExtendedLease(&extended.Items[i])
		if log, stored := logs[i]; stored {
			answer.Items[i].LogOffset, answer.Items[i].LogFull = &log.offset, log.full
		}
	}
	return ok(answer)
}

func (c *call) extend(command *rota.Extend) (*rota.Extended, error) {
	command.Meta = c.meta()
	extended, err := rota.Do[*rota.Extended](c.ctx, c.Store, command)
	if err != nil {
		return nil, err
	}
	for i := range extended.Items {
		c.registry.updateRun(extended.Items[i].RunID, extended.Items[i].StaleAfter)
		c.maskedRuns.keep(extended.Items[i].RunID, extended.Items[i].StaleAfter)
	}
	return extended, nil
}

// watchStops returns a channel that receives when one of the runs is asked to stop. It watches before
// the leases are extended: the answer has the stops until then.
func (c *call) watchStops(items []rota.ExtendItem, wait time.Duration) (stopped <-chan struct{}, end func()) {
	if wait <= 0 {
		return nil, func() {}
	}
	jobs := make(map[rota.ID]bool, len(items))
	for i := range items {
		jobs[items[i].JobID] = true
	}
	signal := make(chan struct{}, 1)
	return signal, c.Events.OnStop(func(job rota.ID) {
		if jobs[job] {
			select {
			case signal <- struct{}{}:
			default:
			}
		}
	})
}

// anyStops reports whether a worker has something to stop.
func anyStops(extended *rota.Extended) bool {
	for i := range extended.Items {
		if one := &extended.Items[i]; one.Cancel || one.Overdue || one.Code != "" {
			return true
		}
	}
	return false
}

// waitForStop waits as a long poll, and reports whether a run is asked to stop. A request that keeps
// other requests waiting, or finds no free slot, does not wait.
func (c *call) waitForStop(stopped <-chan struct{}, deadline time.Time) bool {
	if c.mayBeLarge() || !c.moveTo(classStopPoll) {
		return false
	}
	clearDeadlines(c.w)
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-stopped:
		return true
	case <-timer.C:
	case <-c.ctx.Done():
	}
	return false
}
