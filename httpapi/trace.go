package httpapi

import (
	"net/http"

	"github.com/rotajobs/rota"
)

// startEnqueue tells of a request that submits jobs. It answers with the trace that
// they go on from, empty if there is none, and with what is to be called when
// they were accepted or refused.
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

// traceOf is the traceparent of a request. One that is malformed is as good as
// none, as W3C Trace Context has it, and of a version to come that part is read
// which every version has.
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
