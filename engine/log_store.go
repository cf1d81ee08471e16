package engine

import (
	"context"

	"github.com/rotajobs/rota"
)

// flushLogsOf stores the logs of runs that commands record as ended.
func (e *Engine) flushLogsOf(ctx context.Context, commands []rota.Command) {
	for _, command := range commands {
		if _, ends := command.(*rota.Finish); ends {
			e.flushLogs(ctx)
			return
		}
	}
}

// flushLogs stores the logs of runs that have ended, if Config.Logs stores lines late.
func (e *Engine) flushLogs(ctx context.Context) {
	if logs, ok := e.config.Logs.(LogFlusher); ok {
		logs.FlushLogs(ctx)
	}
}

// pruneLogs removes old run logs, if Config.Logs can do that. It runs in every engine: files of logs
// belong to one process.
func (e *Engine) pruneLogs(ctx context.Context) {
	logs, ok := e.config.Logs.(LogPruner)
	if !ok {
		return
	}
	for wait := min(pruneFirst, e.config.PruneEvery); pause(ctx, wait); wait = e.config.PruneEvery {
		logs.PruneLogs(ctx, !e.config.WorkOnly && e.membership.leads())
	}
}
