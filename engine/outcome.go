package engine

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Error codes of what the engine itself finds wrong. A handler's error may have
// one of its own, by a method Code() string.
const (
	codePanic   = "panic"
	codePayload = "payload"
)

// unsentProgress is the progress of a run that has ended, if it was not written down.
func (t *task) unsentProgress() (note *rota.NoteItem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progressUnsent {
		note, t.progressUnsent = &rota.NoteItem{LeaseRef: t.lease, Progress: t.progress}, false
	}
	return note
}

// finishItem is how a run ended, as it is recorded.
func (t *task) finishItem(err error) rota.FinishItem {
	path := t.log.close()
	t.mu.Lock()
	defer t.mu.Unlock()
	item := rota.FinishItem{
		LeaseRef: t.lease, Outcome: rota.OutcomeCompleted, LogPath: storedPath(path),
		Result: t.result, Artifacts: t.artifacts, RowsAffected: t.rowsAffected, ExitCode: t.exitCode,
	}
	if err == nil { // one that completed although it was to stop has completed
		return item
	}
	setError(&item, err)
	switch context.Cause(t.ctx) {
	case errTimeout: // retried like a failure
		item.Outcome, item.ErrorCode = rota.OutcomeCancelled, rota.CodeTimeout
	case errCancelled: // never retried
		item.Outcome, item.ErrorCode = rota.OutcomeCancelled, rota.CodeCancelled
	case errShutdown, errLeaseExpired: // retried at once, whatever it says: it was not let finish
		item.ErrorCode, item.Permanent, item.RetryAt = rota.CodeShutdown, false, time.Time{}
	}
	return item
}

// setError writes down a handler's error. It calls methods that are the
// handler's own and may panic, as those of a nil pointer do: that is a panic of
// the handler as any other.
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

// storedPath is a path as it is kept, nothing if it cannot be.
func storedPath(path string) string {
	if len(path) > rota.PathMax {
		return ""
	}
	return clean(path)
}

// errorText is an error as it is kept. A panic's stack is long, so its head is
// what is kept; the log has all of it.
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

// clean takes out what a store refuses: bytes that are no text.
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
	case code == rota.CodeLeaseExpired, code == rota.CodeShutdown: // which are not for a handler to say
		return ""
	}
	return code
}

// refusedItem is what is recorded of a run whose end the store would not take as it
// was told.
func refusedItem(item rota.FinishItem, why error) rota.FinishItem {
	return rota.FinishItem{
		LeaseRef: item.LeaseRef, Outcome: rota.OutcomeFailed, ErrorCode: "refused",
		Error: errorText(errors.New("it ended " + string(item.Outcome) + ", and that was refused: " + why.Error())),
	}
}
