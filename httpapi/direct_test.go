package httpapi_test

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

func TestDirectRuns(t *testing.T) {
	s := newServer(t, withEngine(t))
	job := s.post("direct", `{"type": "sleep", "params": {"for": "1ms"}, "wait": "10s"}`).is(200).job()
	if job.State != "completed" || job.Run.Status != "COMPLETED" || job.Worker == "" {
		t.Errorf("%+v", job)
	}
	failed := s.post("direct", `{"type": "fail", "params": {"message": "as asked"}}`).is(200).job()
	if failed.State != "failed" || !strings.Contains(string(failed.Run.Error), "as asked") || failed.MaxAttempts != 1 {
		t.Errorf("%+v", failed)
	}
	past := read[httpapi.List[httpapi.Reservation]](s.get("reservations").is(200)).Items
	if len(past) != 2 || past[0].Status != "RELEASED" || past[0].JobID != failed.ID || past[1].JobID != job.ID {
		t.Errorf("%+v", past)
	}
	for body, field := range map[string]string{
		`{"type": "unheard-of"}`: "type", `{"type": "sleep", "params": {"for": 7}}`: "params.for", `{"type": "noop", "wait": "-1s"}`: "wait",
		`{"type": "noop", "wait": 5}`: "wait", `{"type": "noop", "timeout": "-5s"}`: "timeout", `{}`: "type", `{"type": "noop", "priority": 1}`: "priority",
	} {
		if p := s.post("direct", body).problem(422, "invalid"); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	s.declare("elsewhere")
	s.post("direct", `{"type": "elsewhere"}`).problem(422, "invalid")
}

func TestADirectRunIsBusyWhileAnotherRuns(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.apply(&rota.Reserve{Meta: rota.NewMeta(""), Node: "another"})
	p := s.post("direct", `{"type": "noop", "wait": "0s"}`).problem(409, "busy")
	if p.Hint == "" {
		t.Errorf("%+v", p)
	}
}

func TestADirectRunSentAgainIsNotRunAgain(t *testing.T) {
	s := newServer(t, withEngine(t))
	first := s.post("direct", `{"type": "noop"}`, "Idempotency-Key", "once").is(200)
	second := s.post("direct", `{"type": "noop"}`, "Idempotency-Key", "once").is(200)
	if first.text != second.text {
		t.Errorf("%s\n%s", first.text, second.text)
	}
	if got := s.all("jobs", 10); len(got) != 1 {
		t.Errorf("there are %d jobs", len(got))
	}
	newServer(t).post("direct", `{"type": "noop"}`).problem(503, "unavailable")
}
