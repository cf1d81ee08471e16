package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest/model"
)

// race is two commands that must not both be decided on the same rows.
type race struct {
	name string
	// setup prepares the store and returns the two commands.
	setup func(y *story) (a, b rota.Command)
	// check checks what must be true afterwards in either order.
	check func(y *story, a, b rota.Result)
}

const (
	// gateWait is how long the suite waits for a caller to reach the gate. In a store with one
	// writer the second caller never does.
	gateWait = 4 * time.Millisecond
	// ungatedRounds is how often a race runs on a store without a gate.
	ungatedRounds = 8
)

// Races blocks two callers between deciding and writing, and releases them in every order.
// Afterwards, the rows and the answers must be those that the model gives for the two commands
// one after the other. If one was answered before the other was released, they must match
// exactly that order.
func Races(t *testing.T, h Harness) {
	t.Helper()
	for _, r := range races() {
		t.Run(r.name, func(t *testing.T) { r.run(t, h) })
	}
	for _, c := range manyRaces() {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
}

func (r race) run(t testing.TB, h Harness) {
	t.Helper()
	if h.Pause == nil {
		for range ungatedRounds {
			r.runUngated(t, h)
		}
		return
	}
	turns := []struct{ bStarts, bLeaves bool }{{false, true}, {false, false}, {true, false}, {true, true}}
	if h.slice {
		turns = turns[:1] // the second to start is the first to write
	}
	for _, turn := range turns {
		r.runGated(t, h, turn.bStarts, turn.bLeaves)
	}
}

// runUngated runs both commands concurrently without a gate.
func (r race) runUngated(t testing.TB, h Harness) {
	t.Helper()
	y := newStory(t, h)
	commands := pair(r.setup(y))
	var results [2]rota.Result
	concurrently(2, func(i int) { results[i] = y.applyOne(commands[i]) })
	r.compareWithSerial(y, commands, results, nil)
}

func pair(a, b rota.Command) [2]rota.Command { return [2]rota.Command{a, b} }

// applyOne sends one command at the story's time. It may be called from any goroutine.
func (y *story) applyOne(c rota.Command) rota.Result {
	results, err := y.s.Apply(context.Background(), rota.Batch{Now: y.now, Commands: []rota.Command{c}})
	if err != nil || len(results) != 1 {
		y.Errorf("apply %s: %d results, %v", c.Verb(), len(results), err)
		return rota.Result{Err: rota.Errorf(rota.Internal, string(c.Verb()), "was not applied")}
	}
	return results[0]
}

// runGated blocks both commands at the gate, then releases one and, after its answer, the
// other.
func (r race) runGated(t testing.TB, h Harness, bStarts, bLeaves bool) {
	t.Helper()
	y := newStory(t, h)
	commands := pair(r.setup(y))
	gates := [2]*gate{newGate(), newGate()}
	h.Pause(t, y.s, func(held []rota.Command) { waitAt(gates, commands, held) })
	var results [2]rota.Result
	var answered [2]chan struct{}
	start := func(i int) {
		answered[i] = make(chan struct{})
		go func() {
			defer close(answered[i])
			results[i] = y.applyOne(commands[i])
		}()
		receivedInTime(gates[i].arrived)
	}
	starts, leaves := count(bStarts), count(bLeaves)
	start(starts)
	start(1 - starts)
	gates[leaves].open()
	inTurn := receivedInTime(answered[leaves])
	gates[1-leaves].open()
	<-answered[0]
	<-answered[1]
	var order []int
	if inTurn {
		order = []int{leaves, 1 - leaves}
	}
	r.compareWithSerial(y, commands, results, order)
}

// gate blocks one command.
type gate struct {
	arrived, opened chan struct{}
	once            sync.Once
}

func newGate() *gate { return &gate{arrived: make(chan struct{}), opened: make(chan struct{})} }

func (g *gate) open() { close(g.opened) }

// waitAt blocks the commands that have a gate, each of them once.
func waitAt(gates [2]*gate, commands [2]rota.Command, held []rota.Command) {
	var mine []*gate
	for i, c := range commands {
		for _, h := range held {
			if h.Head().ID == c.Head().ID {
				gates[i].once.Do(func() {
					close(gates[i].arrived)
					mine = append(mine, gates[i])
				})
			}
		}
	}
	for _, g := range mine {
		<-g.opened
	}
}

// receivedInTime waits at most gateWait for a channel, and reports whether it received.
func receivedInTime(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(gateWait):
		return false
	}
}

// compareWithSerial wants the result of the two commands one after the other, in the given
// order or, without one, in either.
func (r race) compareWithSerial(y *story, commands [2]rota.Command, results [2]rota.Result, order []int) {
	y.Helper()
	orders := [][]int{order}
	if order == nil {
		orders = [][]int{{0, 1}, {1, 0}}
	}
	got := answersText(results) + y.dump()
	var diffs string
	for _, o := range orders {
		diff := difference(y.serialResult(commands, o), got)
		if diff == "" {
			diffs = ""
			break
		}
		diffs += fmt.Sprintf("compared with %s first:\n%s", commands[o[0]].Verb(), diff)
	}
	if diffs != "" {
		y.Errorf("the result of %s and %s equals neither order\n%s", commands[0].Verb(), commands[1].Verb(), diffs)
	}
	r.check(y, results[0], results[1])
	y.wantNoViolations()
}

func answersText(results [2]rota.Result) string {
	return Answers(results[:1]) + Answers(results[1:])
}

// serialResult returns the answers and the dump of the model after all batches of the story and
// then the commands in an order.
func (y *story) serialResult(commands [2]rota.Command, order []int) string {
	y.Helper()
	m := model.New(time.Now)
	for _, b := range y.sent {
		if _, err := m.Apply(y.ctx, b); err != nil {
			y.Fatalf("the model: %v", err)
		}
	}
	var results [2]rota.Result
	for _, i := range order {
		got, err := m.Apply(y.ctx, rota.Batch{Now: y.now, Commands: []rota.Command{commands[i]}})
		if err != nil {
			y.Fatalf("the model: %v", err)
		}
		results[i] = got[0]
	}
	d, err := Dump(y.ctx, m)
	if err != nil {
		y.Fatalf("the model's dump: %v", err)
	}
	return answersText(results) + d
}
