package engine

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Error codes that the engine itself sets. The error of a handler may have its own, by
// a method Code() string.
const (
	codePanic   = "panic"
	codePayload = "payload"
)

// unsentProgress returns progress of a run that has ended and that is not written yet.
func (t *task) unsentProgress() (note *rota.NoteItem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progressUnsent {
		note, t.progressUnsent = &rota.NoteItem{LeaseRef: t.lease, Progress: t.progress}, false
	}
	return note
}

// finishItem is the end of a run as the store records it.
func (t *task) finishItem(err error) rota.FinishItem {
	path := t.log.close()
	t.mu.Lock()
	defer t.mu.Unlock()
	item := t.completedItem(path)
	if err == nil { // a handler that returns nil has completed, even if it was stopped
		return item
	}
	setError(&item, err)
	item.Error, item.ErrorCode = t.secrets.String(item.Error), t.secrets.String(item.ErrorCode)
	switch context.Cause(t.ctx) {
	case errTimeout: // retried like a failure
		item.Outcome, item.ErrorCode = rota.OutcomeCancelled, rota.CodeTimeout
	case errCancelled: // never retried
		item.Outcome, item.ErrorCode = rota.OutcomeCancelled, rota.CodeCancelled
	case errShutdown, errLeaseExpired: // retried at once, whatever the handler returned: it had no chance to finish
		item.ErrorCode, item.Permanent, item.RetryAt = rota.CodeShutdown, false, time.Time{}
	}
	return item
}

// completedItem is the end of a run that completes. The caller holds t.mu.
func (t *task) completedItem(logPath string) rota.FinishItem {
	return rota.FinishItem{
		LeaseRef: t.lease, Outcome: rota.OutcomeCompleted, LogPath: storedPath(logPath),
		Result: t.result, Artifacts: t.artifacts, RowsAffected: t.rowsAffected, ExitCode: t.exitCode,
	}
}

// setError sets the error of a run. It calls methods of the handler's error, which may
// panic, as those of a nil pointer do: that counts as a panic of the handler.
func setError(item *rota.FinishItem, err error) {
	item.Outcome = rota.OutcomeFailed
	defer func() {
		if p := recover(); p != nil {
			item.Error, item.ErrorCode = errorText(newPanicError(p)), codePanic
		}
	}()
	item.Error, item.ErrorCode = errorText(err), errorCode(err)
	item.Permanent = rota.IsPermanent(err) || item.ErrorCode == codePayload
	item.RetryAt, _ = rota.RetryTime(err)
}

// storedPath is a path as the store keeps it, empty if it is too long.
func storedPath(path string) string {
	if len(path) > rota.PathMax {
		return ""
	}
	return clean(path)
}

// errorText is the text of an error as the store keeps it. Of a panic with a long stack
// it keeps the beginning; the log has all of it.
func errorText(err error) string {
	text := err.Error()
	if len(text) > rota.ErrorMax {
		cut := rota.ErrorMax
		for cut > rota.ErrorMax-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return clean(text)
}

// clean replaces what a store refuses: invalid UTF-8 and zero bytes.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
}

func errorCode(err error) string {
	var coded interface{ Code() string }
	if !errors.As(err, &coded) {
		return ""
	}
	code := clean(coded.Code())
	switch {
	case len(code) > rota.KeyMax:
		return ""
	case code == rota.CodeLeaseExpired, code == rota.CodeShutdown: // reserved for Rota itself
		return ""
	}
	return code
}

// refusedItem records a run as failed whose end the store refused.
func refusedItem(item rota.FinishItem, why error) rota.FinishItem {
	return rota.FinishItem{
		LeaseRef: item.LeaseRef, Outcome: rota.OutcomeFailed, ErrorCode: "refused",
		Error: errorText(errors.New("the run ended " + string(item.Outcome) + ", but the store refused to record that: " + why.Error())),
	}
}
