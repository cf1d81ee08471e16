package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Another version of the program may have accepted the job.
func TestInvalidParamsFailPermanently(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, letter) error {
		t.Error("the handler was called")
		return nil
	})
	h.start(reg, engine.Config{})
	for params, field := range map[string]string{
		`{"to":7}`:               "to",
		`{}`:                     "to",
		`{"to":"ada","cc":"bo"}`: "cc",
	} {
		job := h.awaitEnded(h.add(rota.NewJob{Type: "letter", Params: json.RawMessage(params)})[0])
		run := job.Run
		if run.Outcome != rota.OutcomeFailed || run.ErrorCode != "payload" || job.Sequel != rota.SequelDead || !strings.Contains(run.Error, field) {
			t.Errorf("%s: %s, %q, %s: %s", params, run.Outcome, run.ErrorCode, job.Sequel, run.Error)
		}
	}
}

// rejecting is a payload that matches its schema and that its own decoder refuses.
type rejecting struct {
	Pick rejectingField `json:"pick"`
}

func (rejecting) JobType() string { return "picky" }

type rejectingField string

func (p *rejectingField) UnmarshalText([]byte) error { return &coded{"its own"} }

func TestUndecodableParamsFailPermanently(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, rejecting) error { return nil })
	h.start(reg, engine.Config{})
	job := h.awaitEnded(h.add(rota.NewJob{Type: "picky", Params: json.RawMessage(`{"pick":"x"}`)})[0])
	if job.Run.ErrorCode != "payload" || job.Sequel != rota.SequelDead {
		t.Errorf("%q, %s: %s", job.Run.ErrorCode, job.Sequel, job.Run.Error)
	}
}

func TestRegistryMistakesPanic(t *testing.T) {
	nothing := func(context.Context, *rota.Job) error { return nil }
	for name, mistake := range map[string]func(*engine.Registry){
		"two handlers of one type": func(reg *engine.Registry) { reg.Func("letter", rota.TypeSpec{}, nothing) },
		"twice the same payload":   func(reg *engine.Registry) { engine.Handle(reg, func(context.Context, letter) error { return nil }) },
		"an invalid schema": func(reg *engine.Registry) {
			reg.Func("x", rota.TypeSpec{Schema: json.RawMessage(`{"type":"nonsense"}`)}, nothing)
		},
	} {
		t.Run(name, func(t *testing.T) {
			reg := engine.NewRegistry()
			engine.Handle(reg, func(context.Context, letter) error { return nil })
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			mistake(reg)
		})
	}
}

// booking refuses itself in Validate, which the schema cannot express.
type booking struct {
	Row string `json:"row"`
}

func (booking) JobType() string { return "booking" }

func (b booking) Validate() error {
	if b.Row == "13" {
		return rota.Invalidf("row", "is 13, which does not exist")
	}
	return nil
}

// TestValidateIsCalledBeforeHandler creates jobs in the ways that do not know the Go type.
func TestValidateIsCalledBeforeHandler(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	var handled atomic.Int64
	engine.Handle(reg, func(context.Context, booking) error { handled.Add(1); return nil }, engine.WithRetries(3))
	r := h.start(reg, engine.Config{})
	wrong := json.RawMessage(`{"row":"13"}`)
	mustApply[*rota.TemplatePut](h, &rota.PutTemplate{Meta: meta(), Name: "t", Spec: rota.TemplateSpec{Type: "booking", Params: wrong}})
	put, err := rota.Declare(meta(), "s", rota.ScheduleSpec{Template: "t", Every: time.Hour}, h.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	mustApply[*rota.SchedulePut](h, put)
	jobs := map[string]*rota.Job{
		"queue":    h.awaitEnded(h.add(rota.NewJob{Type: "booking", Params: wrong})[0]),
		"schedule": h.awaitEnded(mustApply[*rota.Triggered](h, &rota.Trigger{Meta: meta(), Schedule: "s"}).Jobs[0].ID),
	}
	if jobs["direct"], err = r.Direct(context.Background(), rota.NewJob{Type: "booking", Params: wrong}, time.Minute); err != nil {
		t.Fatal(err)
	}
	for way, job := range jobs {
		if job.State() != rota.StateFailed || job.Sequel != rota.SequelDead || job.Run.ErrorCode != "payload" || !strings.Contains(job.Run.Error, "params.row: is 13") {
			t.Errorf("%s: the job is %s, its sequel %s, its error %q: %s", way, job.State(), job.Sequel, job.Run.ErrorCode, job.Run.Error)
		}
	}
	if n := handled.Load(); n != 0 {
		t.Errorf("the handler was called %d times", n)
	}
	h.awaitCompleted(h.add(rota.NewJob{Type: "booking", Params: json.RawMessage(`{"row":"14"}`)})[0])
}

// TestClientOfEngineKnowsItsGoTypes changes params with the client of an engine, which was never given
// a payload of the type.
func TestClientOfEngineKnowsItsGoTypes(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, booking) error { return nil })
	client := h.start(reg, engine.Config{}).client
	id := h.add(rota.NewJob{Type: "booking", Params: json.RawMessage(`{"row":"1"}`), Delay: time.Hour})[0]
	_, err := client.Edit(context.Background(), id, rota.SetParams(map[string]string{"row": "13"}))
	if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "params.row: is 13") {
		t.Errorf("got %v, want the error of Validate", err)
	}
}
