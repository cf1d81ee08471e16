package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

func declaringRegistry(limit int) *engine.Registry {
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, letter) error { return nil },
		engine.WithTimeout(time.Minute), engine.WithRetries(7), engine.WithBackoff(time.Second),
		engine.WithConcurrency(limit), engine.WithDescription("sends a letter"))
	return reg
}

func TestTypesAreDeclaredWithPolicies(t *testing.T) {
	h := newHarness(t)
	h.start(declaringRegistry(2), engine.Config{})
	typ, err := h.store.Type(context.Background(), "letter")
	if err != nil {
		t.Fatal(err)
	}
	p := typ.Spec.Policy.Policy()
	if typ.Spec.Description != "sends a letter" || p.Timeout != time.Minute || p.MaxAttempts != 8 || p.Backoff != time.Second {
		t.Errorf("%+v", typ.Spec)
	}
	if !bytes.Contains(typ.Spec.Schema, []byte(`"to"`)) {
		t.Errorf("schema %s", typ.Spec.Schema)
	}
}

func TestLimitsAreMergedIntoExisting(t *testing.T) {
	h := newHarness(t)
	rate := rota.Rate{Count: 5, Per: time.Minute}
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Global: 50, Types: []rota.TypeLimit{{Type: "other", Concurrency: 3}, {Type: "letter", Concurrency: 9, Rate: rate}},
		Keys: []rota.KeyLimit{{Key: "db", Concurrency: 1}},
	}})
	h.start(declaringRegistry(2), engine.Config{})
	throttle, err := h.store.Throttle(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := rota.ThrottleSpec{
		Global: 50, Types: []rota.TypeLimit{{Type: "other", Concurrency: 3}, {Type: "letter", Concurrency: 2, Rate: rate}},
		Keys: []rota.KeyLimit{{Key: "db", Concurrency: 1}},
	}
	if !throttle.Spec.Equal(want) {
		t.Errorf("%+v, want %+v", throttle.Spec, want)
	}
}

// Another process changes the limits between the read and the write.
func TestConcurrentLimitChangeIsNotOverwritten(t *testing.T) {
	h := newHarness(t)
	var times counter[string]
	store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbPutThrottle) && times.add("put", 1) == 1 {
			mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{Global: 77}})
		}
		return nil
	}})
	h.startOn(store, declaringRegistry(2), engine.Config{})
	throttle, err := h.store.Throttle(context.Background())
	if err != nil || throttle.Spec.Global != 77 || throttle.Spec.Type("letter").Concurrency != 2 {
		t.Errorf("%+v, %v", throttle.Spec, err)
	}
}

func TestUnchangedDeclarationsAreNotWritten(t *testing.T) {
	h := newHarness(t)
	if err := h.start(declaringRegistry(2), engine.Config{}).shutdown(); err != nil {
		t.Fatal(err)
	}
	store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbPutType) || hasVerb(b, rota.VerbPutThrottle) {
			t.Error("an unchanged declaration was written")
		}
		return nil
	}})
	h.startOn(store, declaringRegistry(2), engine.Config{})
}

func TestInvalidConfigIsRefused(t *testing.T) {
	tooMany := engine.NewRegistry()
	for i := range rota.TypesMax + 1 {
		tooMany.Func(fmt.Sprint("t", i), rota.TypeSpec{}, done)
	}
	badName := engine.NewRegistry()
	badName.Func("no spaces", rota.TypeSpec{}, done)
	for name, c := range map[string]struct {
		reg    *engine.Registry
		config engine.Config
		field  string
	}{
		"too many types":           {tooMany, engine.Config{}, "types"},
		"no types":                 {engine.NewRegistry(), engine.Config{}, "types"},
		"invalid type name":        {badName, engine.Config{}, "name"},
		"negative limit":           {registry(done, engine.WithConcurrency(-1)), engine.Config{}, "concurrency"},
		"too many workers":         {registry(done), engine.Config{Workers: engine.WorkersMax + 1}, "workers"},
		"negative workers":         {registry(done), engine.Config{Workers: -1}, "workers"},
		"lease too short":          {registry(done), engine.Config{Lease: time.Millisecond}, "lease"},
		"lease too long":           {registry(done), engine.Config{Lease: 2 * rota.LeaseMax}, "lease"},
		"negative cancel grace":    {registry(done), engine.Config{CancelGrace: -1}, "cancel_grace"},
		"negative shutdown grace":  {registry(done), engine.Config{ShutdownGrace: -1}, "shutdown_grace"},
		"prune interval too short": {registry(done), engine.Config{PruneEvery: time.Millisecond}, "prune_every"},
		"audit kept too short":     {registry(done), engine.Config{Retention: &rota.Retention{Audit: 59 * time.Minute}}, "retention.audit"},
		"name too long":            {registry(done), engine.Config{Name: strings.Repeat("x", rota.NameMax+1)}, "name"},
		"invalid name":             {registry(done), engine.Config{Name: "no spaces"}, "runner"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			r := h.launch(h.store, c.reg, c.config)
			h.await(r.done, "the refusal")
			if rota.CodeOf(r.err) != rota.Invalid || !strings.Contains(r.err.Error(), c.field) {
				t.Errorf("%v, want Invalid and %s", r.err, c.field)
			}
		})
	}
}
