//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota/httpapi"
)

// load is several clients that use all functions of Rota continuously.
type load struct {
	*caller
	answers *answerLog
	acts    []action
	ctx     context.Context
	focus   atomic.Pointer[action] // action that is done more often at present
	full    atomic.Bool            // the queue is long enough
	turn    sync.Mutex             // held by the client that has paused the type
	held    sync.Mutex             // held by the client that has paused the schedule
	ended   atomic.Bool
	wg      sync.WaitGroup
}

// action is one thing that callers do.
type action struct {
	name   string
	weight int  // how often, in proportion
	adds   bool // it makes jobs for the queue
	act    func(*load)
}

// actions are all actions. Those with a weight of 0 are done only as the focus.
var actions = []action{
	{"single", 24, true, (*load).single},
	{"batch", 8, true, (*load).batch},
	{"group", 5, true, (*load).group},
	{"crowd", 0, false, (*load).largeGroup},
	{"direct", 3, false, (*load).direct},
	{"squeeze", 0, false, (*load).directOnFullSlots},
	{"impatient", 3, false, (*load).directAbandoned},
	{"cancel", 6, false, (*load).cancel},
	{"edit", 3, false, (*load).edit},
	{"move", 3, false, (*load).move},
	{"redrive", 2, false, (*load).redrive},
	{"trigger", 2, false, (*load).trigger},
	{"backfill", 1, false, (*load).backfill},
	{"once", 2, false, (*load).oneTime},
	{"forget", 1, false, (*load).forget},
	{"hold", 1, false, (*load).hold},
	{"pause", 1, false, (*load).pause},
	{"template", 1, false, (*load).template},
	{"type", 1, false, (*load).putType},
	{"limit", 1, false, (*load).limit},
	{"statement", 2, false, (*load).statement},
	{"sleeper", 2, true, (*load).sleeper},
	{"delayed", 2, true, (*load).delayed},
	{"look", 4, false, (*load).checkQueueLength},
}

func actionNamed(name string) *action {
	for i := range actions {
		if actions[i].name == name {
			return &actions[i]
		}
	}
	panic("there is no action " + name)
}

// queueMost is how long the queue may become before callers hold back.
const queueMost = 100

// begin starts the clients. They continue across incarnations of the server.
func begin(c *caller, b *answerLog, acts []action, callers int) *load {
	l := &load{caller: c, answers: b, acts: acts, ctx: context.Background()}
	for i := range callers {
		l.wg.Go(func() {
			for !l.ended.Load() {
				l.step(i)
			}
		})
	}
	return l
}

// end waits until every request that was begun is answered.
func (l *load) end() {
	l.ended.Store(true)
	l.wg.Wait()
}

func (l *load) step(caller int) {
	a := l.pick()
	if focus := l.focus.Load(); focus != nil && (caller == 0 || rand.IntN(4) == 0) {
		a = focus
	}
	if !a.adds || !l.full.Load() {
		a.act(l)
	} else {
		l.checkQueueLength()
	}
	time.Sleep(time.Duration(2+rand.IntN(12)) * time.Millisecond) // a caller has other things to do, too
}

// pick picks an action by its weight.
func (l *load) pick() *action {
	all := 0
	for i := range l.acts {
		all += l.acts[i].weight
	}
	at := rand.IntN(all)
	for i := range l.acts {
		if at -= l.acts[i].weight; at < 0 {
			return &l.acts[i]
		}
	}
	panic("unreachable")
}

// request sends a request for an action until it is answered. What the server refuses
// in a way that is not allowed here is an error; into may be nil.
func (l *load) request(action, method, path string, body, into any, allowed ...int) bool {
	a, err := l.write(l.ctx, method, path, body)
	if err != nil {
		l.serverDir.Errorf("%s: %s %s: %v", action, method, path, err)
		return false
	}
	l.answers.recordRefusal(action, a.status)
	if a.refused(allowed...) {
		return false
	}
	if into == nil && a.status < 300 {
		return true
	}
	if err := a.into(into); err != nil {
		l.serverDir.Errorf("%s: %s %s with %v: %v", action, method, path, body, err)
		return false
	}
	return true
}

// checkQueueLength reads the stats and notes whether the queue is full.
func (l *load) checkQueueLength() {
	var s httpapi.Stats
	if l.request("look", "GET", "/stats", nil, &s) {
		l.full.Store(s.Queued > queueMost)
	}
}

// work is the params of a job and what else its request needs to end soon.
func (l *load) work(mark string) (params, policy object) {
	params, policy = object{"behave": "succeed", "mark": mark}, object{}
	switch n := rand.IntN(100); {
	case n < 55:
		params["log"] = n < 5
	case n < 75:
		params["behave"], params["for"] = "sleep", millis(5+rand.IntN(60))
	case n < 84:
		params["behave"], policy["max_retries"], policy["backoff"] = "fail", 1, "20ms"
	case n < 91:
		params["behave"] = "permanent"
	case n < 97:
		params["behave"], policy["max_retries"] = "panic", 0
	default:
		params["behave"], params["for"] = "stubborn", "400ms"
		policy["timeout"], policy["max_retries"] = "50ms", 0
	}
	return params, policy
}

// job is a request for a job.
func (l *load) job(mark string) object {
	params, job := l.work(mark)
	job["params"], job["priority"] = params, rand.IntN(3)
	job["type"] = []string{"ledger", "ledger", "ledger", steps}[rand.IntN(4)]
	switch rand.IntN(12) {
	case 0:
		job["delay"] = millis(50 + rand.IntN(600))
	case 1:
		job["unique_key"] = fmt.Sprint("key-", rand.IntN(40))
	}
	return job
}

func millis(n int) string { return fmt.Sprint(n, "ms") }
