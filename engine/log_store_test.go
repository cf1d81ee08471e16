package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// lateLogs are logs that are stored when the engine asks for it.
type lateLogs struct {
	*memoryLogs
	flush   func()
	flushed atomic.Int64
	prunes  chan bool // whether the engine led, for each prune
}

func (l *lateLogs) FlushLogs(context.Context) {
	l.flushed.Add(1)
	if l.flush != nil {
		l.flush()
	}
}

func (l *lateLogs) PruneLogs(_ context.Context, leads bool) {
	select {
	case l.prunes <- leads:
	default:
	}
}

// TestLogIsFlushedBeforeEndIsRecorded: a log is closed and flushed while the store still shows the run
// as running.
func TestLogIsFlushedBeforeEndIsRecorded(t *testing.T) {
	h := newHarness(t)
	logs := &lateLogs{memoryLogs: newMemoryLogs()}
	id := make(chan rota.ID, 1)
	var early, closed atomic.Bool
	logs.flush = func() {
		select {
		case job := <-id:
			_, closes := logs.text(job)
			closed.Store(closes == 1)
			early.Store(!h.job(job).Ended())
		default:
		}
	}
	h.start(registry(func(ctx context.Context, job *rota.Job) error {
		engine.Log(ctx).Info("hello")
		id <- job.ID
		return nil
	}), engine.Config{Logs: logs})
	h.awaitEnded(h.addOne())
	if !early.Load() || !closed.Load() {
		t.Errorf("flushed before the end is recorded: %v, after the log is closed: %v", early.Load(), closed.Load())
	}
}

// TestLogsArePruned: every engine prunes its logs; one that only works does not lead.
func TestLogsArePruned(t *testing.T) {
	for name, workOnly := range map[string]bool{"whole engine": false, "work only": true} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			logs := &lateLogs{memoryLogs: newMemoryLogs(), prunes: make(chan bool, 1)}
			h.start(registry(logSome), engine.Config{Logs: logs, WorkOnly: workOnly, PruneEvery: time.Second})
			select {
			case leads := <-logs.prunes:
				if leads == workOnly {
					t.Errorf("it leads: %v", leads)
				}
			case <-time.After(time.Minute):
				t.Error("the logs are not pruned")
			}
		})
	}
}
