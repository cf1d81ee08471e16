package httpapi

import (
	"bytes"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/mask"
)

// maskedRun masks what a worker sends about a run. A nil one masks nothing: the job has no secrets.
type maskedRun struct {
	template string
	values   *maskedValues
	locked   error     // why the values could not be opened; nil: they are known
	until    time.Time // when the run may be forgotten

	mu          sync.Mutex // serializes the parts of the log
	log, before logStream  // after the last part and before it: the worker sends the last part again if it got no answer
}

// logStream is the state of a log between two parts.
type logStream struct {
	at     int64       // offset of the next part, as the worker was told; 0: the first
	stored int64       // bytes of the log that are stored
	masks  mask.Writer // holds back the end of the parts if it may begin a value
}

// notMasked stands in place of a text that this server could not mask.
const notMasked = "[rota: not stored: this server could not open the secrets of the template to mask them; see its log]"

// text masks a whole text.
func (r *maskedRun) text(text string) string {
	switch {
	case r == nil || text == "":
		return text
	case r.locked != nil:
		return notMasked
	}
	return r.values.masks().String(text)
}

// document masks a document that was checked.
func (r *maskedRun) document(field string, text []byte, limit int) []byte {
	switch {
	case r == nil || len(text) == 0:
		return text
	case r.locked != nil:
		return []byte(`"` + notMasked + `"`)
	}
	return r.values.masks().Document(text, limit, func(shown []byte) error { return rota.CheckDocument(field, shown, limit) })
}

func (r *maskedRun) progress(text []byte) []byte {
	return r.document("progress", text, rota.ProgressMax)
}

// outcome masks the end of a run as it was sent, before what is stored of it is cut, and before characters are replaced.
func (r *maskedRun) outcome(item *rota.FinishItem, sent *api.FinishRun) {
	item.Error = api.ReplaceNUL(r.text(sent.Error))
	item.Result = r.document("result", item.Result, rota.ResultMax)
	switch item.ErrorCode {
	case "", rota.CodeTimeout, rota.CodeShutdown, rota.CodeCancelled: // decide about the retry
	default:
		if item.ErrorCode = r.text(item.ErrorCode); r.locked != nil {
			item.ErrorCode = codeSecrets
		}
	}
	for i, path := range item.Artifacts {
		item.Artifacts[i] = r.text(path)
	}
}

// logPart is a part of the log of a run.
type logPart struct {
	offset int64
	text   string
	last   bool
	again  bool // the run had ended before the request
}

// part masks a part of a log and stores it. Values that are divided between two parts are masked if both reach this process. What may begin a
// value waits for the next part. The offsets in answers to the worker count what is stored, so that another process can continue.
func (r *maskedRun) part(p logPart, store func(offset int64, text string) (full, stored bool)) (state logState, ok bool) {
	if r == nil {
		text := api.ReplaceNUL(p.text)
		state.offset = p.offset + int64(len(text))
		state.full, ok = store(p.offset, text)
		return state, ok
	}
	if r.locked != nil {
		if !p.last {
			return state, false // the worker sends it again
		}
		state.full, ok = store(p.offset, notMasked+"\n")
		return state, ok
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	from, known := r.streamAt(p.offset)
	if !known && p.again {
		return state, false // its beginning may belong to a value whose beginning was masked
	}
	masks := from.masks.Continue(&out, r.values.masks())
	_, _ = masks.Write([]byte(p.text)) // a buffer accepts everything
	if p.last {
		_ = masks.Close()
	}
	text := api.ReplaceNUL(out.String())
	if state.full, ok = store(from.stored, text); !ok {
		return state, false
	}
	next := logStream{stored: from.stored + int64(len(text)), masks: *masks}
	next.at = max(next.stored+int64(masks.Held()), from.at+1) // no other part has this offset
	r.before, r.log = from, next
	state.offset = next.at
	return state, true
}

// streamAt returns the state in front of a part, and whether this process has it.
func (r *maskedRun) streamAt(offset int64) (stream logStream, known bool) {
	switch offset {
	case r.log.at:
		return r.log, true
	case r.before.at:
		return r.before, true
	}
	return logStream{at: offset, stored: offset}, offset == 0
}

// heldAt returns the offset of the end of the log if some of it is held back, otherwise 0.
func (r *maskedRun) heldAt() int64 {
	if r == nil || r.locked != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log.masks.Held() == 0 {
		return 0
	}
	return r.log.at
}
