package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

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
