package httpapi

import (
	"context"
	"log/slog"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

const (
	logPartMax   = 8 << 20 // bytes of a part of a log that a worker sends
	logOffsetMax = 1 << 50
)

// checkLogPart refuses a part of a log that is too long, or has no place.
func checkLogPart(text string, offset int64) error {
	switch {
	case len(text) > logPartMax:
		return rota.Invalidf("log", "has %d bytes; a part has at most %s", len(text), problem.Size(logPartMax))
	case offset < 0 || offset > logOffsetMax:
		return rota.Invalidf("log_offset", "is %d; it is the log_offset of the last response, or 0", offset)
	}
	return nil
}

// logState is how much of a log the server has.
type logState struct {
	offset int64
	full   bool
}

// appendLogs stores the parts of logs in an extend request by item index, for the leases that the worker still holds. A part
// that could not be stored is missing in the result.
func (c *call) appendLogs(items []api.ExtendRunning, leases []rota.LeaseAnswer, masks map[int]*maskedRun) map[int]logState {
	stored := map[int]logState{}
	for i := range items {
		if items[i].Log == "" || leases[i].Code != "" {
			continue
		}
		if state, ok := c.appendPart(&items[i], masks[i]); ok {
			stored[i] = state
		}
	}
	return stored
}

func (c *call) appendPart(item *api.ExtendRunning, masks *maskedRun) (state logState, ok bool) {
	ctx, done := c.detached()
	defer done()
	var job *rota.Job
	if c.LogWriter != nil {
		var err error
		if job, err = c.server.Store.Job(ctx, item.JobID.ID); err != nil || job.Run == nil || job.Run.ID != item.RunID.ID {
			return state, false
		}
	}
	return masks.part(logPart{offset: item.LogOffset, text: item.Log}, func(offset int64, text string) (full, stored bool) {
		if c.LogWriter == nil {
			return false, true
		}
		return c.appendLog(ctx, job, offset, text)
	})
}

// appendLog stores a part of a log, and reports whether the log is full, and whether the part is stored.
func (c *call) appendLog(ctx context.Context, job *rota.Job, offset int64, text string) (full, stored bool) {
	if text == "" {
		return false, true
	}
	full, err := c.LogWriter.Append(ctx, job, offset, text)
	if err != nil {
		c.Logger.Error("could not store a part of the log of a run", slog.Any("job", job.ID), slog.Any("error", err))
	}
	return full, err == nil
}
