package httpapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTraceparentIsStoredWithJob(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.declare("a")
	if got := s.post("jobs", `{"type": "a"}`, "traceparent", trace).is(201).job(); got.Trace != trace {
		t.Errorf("the trace is %q", got.Trace)
	}
	for _, job := range read[api.Batch](s.post("jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a"}]}`, "traceparent", trace).is(201)).Items {
		if job.Trace != trace {
			t.Errorf("the trace is %q", job.Trace)
		}
	}
	if got := read[api.GroupDetail](s.post("groups", `{"jobs": [{"type": "a"}]}`, "traceparent", trace).is(201)).Jobs[0]; got.Trace != trace {
		t.Errorf("the trace is %q", got.Trace)
	}
	if got := s.post("direct", `{"type": "noop"}`, "traceparent", trace).is(200).job(); got.Trace != trace {
		t.Errorf("the trace is %q", got.Trace)
	}
	for i, items := 0, s.claim(`{"worker": "w", "types": ["a"], "limit": 9}`); i < len(items); i++ {
		if items[i].Job.Trace != trace {
			t.Errorf("the worker gets the trace %q", items[i].Job.Trace)
		}
	}
	if text := s.post("jobs", `{"type": "a"}`).is(201).text; !strings.Contains(text, `"trace":null`) {
		t.Error(text)
	}
}

// TestMalformedTraceparentIsIgnored follows W3C Trace Context.
func TestMalformedTraceparentIsIgnored(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	for given, want := range map[string]string{
		trace:                           trace,
		"01" + trace[2:]:                trace, // a future version
		"cc" + trace[2:] + "-more-here": trace,
		"01" + trace[2:] + "more":       "",
		"ff" + trace[2:]:                "",
		"zz" + trace[2:]:                "",
		trace + "-more":                 "",
		trace[:54]:                      "",
		strings.ToUpper(trace):          "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"nonsense": "", "0": "",
	} {
		if got := s.post("jobs", `{"type": "a"}`, "traceparent", given).is(201).job().Trace; string(got) != want {
			t.Errorf("%s: %q", given, got)
		}
	}
}

func TestOnEnqueueSetsTraceAndSeesResult(t *testing.T) {
	const own = "00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01"
	var calls []string
	answer := own
	s := newServer(t, func(c *httpapi.Config) {
		c.OnEnqueue = func(_ context.Context, parent string, jobs int) (string, func(error)) {
			return answer, func(err error) { calls = append(calls, fmt.Sprintf("%d %.5s %v", jobs, parent, err != nil)) }
		}
	})
	s.declare("a")
	if got := s.post("jobs", `{"type": "a"}`, "traceparent", trace).is(201).job(); got.Trace != own {
		t.Errorf("the trace is %q", got.Trace)
	}
	s.post("jobs", `{"type": "nobody"}`, "traceparent", "nonsense").problem(422, "invalid")
	s.post("jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a"}]}`).is(201)
	s.post("groups", `{"jobs": [{"type": "a"}, {"type": "a"}, {"type": "a"}]}`, "traceparent", trace).is(201)
	answer = "nonsense"
	if got := s.post("jobs", `{"type": "a"}`).is(201).job(); got.Trace != "" {
		t.Errorf("the trace is %q", got.Trace)
	}
	if got := strings.Join(calls, "; "); got != "1 00-4b false; 1  true; 2  false; 3 00-4b false; 1  false" {
		t.Error(got)
	}
}
