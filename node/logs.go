package node

import (
	"context"
	"io"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/runlog"
)

// runLogs stores and reads what runs write.
type runLogs interface {
	engine.Logs
	engine.LogFlusher
	engine.LogPruner
	httpapi.LogReader
	httpapi.LogWriter
}

// openLogs returns the logs of the node: in the store if other processes share it, else in files of the
// data directory.
func (n *Node) openLogs() runLogs {
	config := runlog.Config{Max: n.config.LogMax, Keep: n.config.LogKeep, Clock: n.clock, Logger: n.logger}
	files := runlog.Dir(n.path(logsName), config)
	if n.backend.logs == nil {
		return files
	}
	return sharedLogs{runlog.Store(n.backend.logs, config), files}
}

// sharedLogs are logs in a store, and the files of earlier versions, which kept all logs in files.
type sharedLogs struct {
	*runlog.Chunks
	files *runlog.Files
}

// ReadLog reads the file of a job if there is one.
func (l sharedLogs) ReadLog(ctx context.Context, job *rota.Job) (io.ReadSeekCloser, error) {
	if l.files.Has(job) {
		return l.files.ReadLog(ctx, job)
	}
	return l.Chunks.ReadLog(ctx, job)
}

// PruneLogs removes old logs of both kinds.
func (l sharedLogs) PruneLogs(ctx context.Context, leads bool) {
	l.files.PruneLogs(ctx, leads)
	l.Chunks.PruneLogs(ctx, leads)
}

// unpruned are logs that another engine of the node prunes.
type unpruned struct{ runLogs }

// PruneLogs does nothing.
func (unpruned) PruneLogs(context.Context, bool) {}
