package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

// RandomAgainstModel sends the same random batches to the store and to the
// model, and wants the same answers and, after each batch, the same rows.
func RandomAgainstModel(t *testing.T, h Harness) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		s := h.Open(t)
		defer closeStore(rt, s)
		g := newGen(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"batch": func(rt *rapid.T) {
				b := g.batch(rt)
				expected := g.apply(rt, b)
				compareAnswers(rt, s, b, expected)
				compareRows(rt, g.model, s)
			},
		})
		if found := violations(context.Background(), s); found != "" {
			rt.Errorf("verify found:\n%s", found)
		}
	})
}

func closeStore(rt *rapid.T, s rota.Store) {
	if err := s.Close(); err != nil {
		rt.Errorf("close: %v", err)
	}
}

func compareAnswers(rt *rapid.T, s rota.Store, b rota.Batch, expected []rota.Result) {
	got, err := s.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("apply: %v\n%s", err, outline(b))
	}
	if diff := difference(Answers(expected), Answers(got)); diff != "" {
		rt.Fatalf("the answers differ (- model, + store):\n%s\n%s", diff, outline(b))
	}
}

func compareRows(rt *rapid.T, want, got rota.Store) {
	if diff := difference(mustDump(rt, want), mustDump(rt, got)); diff != "" {
		rt.Fatalf("the rows differ (-, +):\n%s", diff)
	}
}

func mustDump(rt *rapid.T, s rota.Store) string {
	d, err := Dump(context.Background(), s)
	if err != nil {
		rt.Fatalf("dump: %v", err)
	}
	return d
}

// outline shows the commands of a batch that did not do as they should.
func outline(b rota.Batch) string {
	var out strings.Builder
	fmt.Fprintf(&out, "at %s\n", clock(b.Now))
	for i, c := range b.Commands {
		fmt.Fprintf(&out, "[%d] %s %+v\n", i, c.Verb(), c)
	}
	return out.String()
}

// Replay sends one random log of batches to three fresh stores of the harness,
// to the last of them command by command. All must hold the same rows.
func Replay(t *testing.T, h Harness) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		log := randomLog(rt)
		whole, again, cut := h.Open(t), h.Open(t), h.Open(t)
		for _, s := range []rota.Store{whole, again, cut} {
			defer closeStore(rt, s)
		}
		for _, b := range log {
			first := replay(rt, whole, b)
			if diff := difference(Answers(first), Answers(replay(rt, again, b))); diff != "" {
				rt.Fatalf("two stores answer differently:\n%s\n%s", diff, outline(b))
			}
			var single []rota.Result
			for _, c := range b.Commands {
				single = append(single, replay(rt, cut, rota.Batch{Now: b.Now, Commands: []rota.Command{c}})...)
			}
			if diff := difference(Answers(first), Answers(single)); diff != "" {
				rt.Fatalf("a batch (-) and its commands one by one (+) answer differently:\n%s\n%s", diff, outline(b))
			}
		}
		compareRows(rt, whole, again)
		compareRows(rt, whole, cut)
	})
}

func replay(rt *rapid.T, s rota.Store, b rota.Batch) []rota.Result {
	results, err := s.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("apply: %v\n%s", err, outline(b))
	}
	return results
}

// randomLog makes batches whose later commands are about what the earlier
// ones did.
func randomLog(rt *rapid.T) []rota.Batch {
	g := newGen(rt)
	var log []rota.Batch
	rt.Repeat(map[string]func(*rapid.T){
		"batch": func(rt *rapid.T) {
			b := g.batch(rt)
			g.apply(rt, b)
			log = append(log, b)
		},
	})
	return log
}

// newGen begins a random history, with a model that knows what came of it.
func newGen(rt *rapid.T) *gen {
	return &gen{t: rt, now: dawn, model: model.New(time.Now)}
}

// apply applies a batch to the model and learns from the answers.
func (g *gen) apply(rt *rapid.T, b rota.Batch) []rota.Result {
	results, err := g.model.Apply(context.Background(), b)
	if err != nil {
		rt.Fatalf("the model: %v", err)
	}
	g.sent = append(g.sent, b)
	for _, r := range results {
		g.learn(r.Reply)
	}
	return results
}
