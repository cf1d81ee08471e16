package httpapi

import (
	"net/http"

	"github.com/rotajobs/rota"
)

// startEnqueue reports a request that submits jobs to OnEnqueue. It returns the trace of the jobs,
// empty if there is none, and a function that is called when the jobs were accepted or refused.
func (c *call) startEnqueue(jobs int) (trace string, done func(error)) {
	trace = traceOf(c.r.Header)
	if c.OnEnqueue == nil {
		return trace, func(error) {}
	}
	trace, done = c.OnEnqueue(c.ctx, trace, jobs)
	if !rota.ValidTrace(trace) {
		trace = ""
	}
	return trace, done
}

// traceOf returns the traceparent of a request. As W3C Trace Context requires, a malformed value is
// ignored, and of a future version only the part that all versions share is read.
func traceOf(h http.Header) string {
	given := h.Values("Traceparent")
	if len(given) != 1 {
		return ""
	}
	text := given[0]
	if rota.ValidTrace(text) {
		return text
	}
	if len(text) < rota.TraceMax || text[:2] == "00" || text[:2] == "ff" || !lowerHex(text[:2]) || len(text) > rota.TraceMax && text[rota.TraceMax] != '-' {
		return ""
	}
	if text = "00" + text[2:rota.TraceMax]; !rota.ValidTrace(text) {
		return ""
	}
	return text
}

func lowerHex(text string) bool {
	for _, b := range []byte(text) {
		if (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return false
		}
	}
	return true
}
