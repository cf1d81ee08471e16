//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota/api"
)

// load is several clients that send all kinds of requests without a break.
type load struct {
	*caller
	answers       *answerLog
	actions       []action
	ctx           context.Context
	focus         atomic.Pointer[action] // action that clients do more often now; nil: none
	queueFull     atomic.Bool            // more than queueMax jobs are queued
	typePause     sync.Mutex             // held by the client that has paused the type
	schedulePause sync.Mutex             // held by the client that has paused the schedule
	stopping      atomic.Bool
	wg            sync.WaitGroup
}

// action is one kind of request, or a short series of them.
type action struct {
	name     string
	weight   int  // share of this action; 0: only as the focus
	enqueues bool // the action makes the queue longer
	run      func(*load)
}

// actions are all actions for one server.
var actions = []action{
	{"enqueue", 24, true, (*load).enqueueSingle},
	{"enqueue batch", 8, true, (*load).enqueueBatch},
	{"enqueue group", 5, true, (*load).enqueueGroup},
	{"cancel large group", 0, false, (*load).cancelLargeGroup},
	{"direct", 3, false, (*load).runDirect},
	{"direct on full slots", 0, false, (*load).runDirectOnFullSlots},
	{"abandon direct", 3, false, (*load).abandonDirect},
	{"cancel job", 6, false, (*load).enqueueAndCancel},
	{"edit job", 3, false, (*load).enqueueAndEdit},
	{"move job", 3, false, (*load).enqueueAndMove},
	{"retry dead", 2, false, (*load).retryDead},
	{"trigger", 2, false, (*load).triggerSchedule},
	{"backfill", 1, false, (*load).backfillSchedule},
	{"one-time schedule", 2, false, (*load).declareOneTime},
	{"delete schedule", 1, false, (*load).deleteSchedule},
	{"pause schedule", 1, false, (*load).pauseSchedule},
	{"pause type", 1, false, (*load).pauseType},
	{"use template", 1, false, (*load).useTemplate},
	{"put type", 1, false, (*load).putType},
	{"set limit", 1, false, (*load).setLimit},
	{"SQL", 2, false, (*load).runStatements},
	{"run with heartbeats", 2, true, (*load).enqueueLongEnoughForHeartbeat},
	{"enqueue delayed", 2, true, (*load).enqueueBriefDelay},
	{"check queue length", 4, false, (*load).checkQueueLength},
}

func actionNamed(name string) *action {
	for i := range actions {
		if actions[i].name == name {
			return &actions[i]
		}
	}
	panic("unknown action " + name)
}

// queueMax is the length of the queue above which clients enqueue nothing.
const queueMax = 100

// startLoad starts the clients. They continue across incarnations of the server.
func startLoad(c *caller, answers *answerLog, choice []action, callers int) *load {
	l := &load{caller: c, answers: answers, actions: choice, ctx: context.Background()}
	for i := range callers {
		l.wg.Go(func() {
			for !l.stopping.Load() {
				l.step(i)
			}
		})
	}
	return l
}

// stop stops the clients and waits until every request is answered.
func (l *load) stop() {
	l.stopping.Store(true)
	l.wg.Wait()
}

func (l *load) step(caller int) {
	a := l.randomAction()
	if focus := l.focus.Load(); focus != nil && (caller == 0 || rand.IntN(4) == 0) {
		a = focus
	}
	if !a.enqueues || !l.queueFull.Load() {
		a.run(l)
	} else {
		l.checkQueueLength()
	}
	time.Sleep(time.Duration(2+rand.IntN(12)) * time.Millisecond)
}

// randomAction picks an action by its weight.
func (l *load) randomAction() *action {
	all := 0
	for i := range l.actions {
		all += l.actions[i].weight
	}
	at := rand.IntN(all)
	for i := range l.actions {
		if at -= l.actions[i].weight; at < 0 {
			return &l.actions[i]
		}
	}
	panic("unreachable")
}

// request sends a request for an action until it is answered, and decodes the answer
// unless into is nil. It fails the test if the server refuses the request with a status
// that is not allowed. It reports whether the server accepted the request.
func (l *load) request(action, method, path string, body, into any, allowed ...int) bool {
	a, err := l.write(l.ctx, method, path, body)
	if err != nil {
		l.serverDir.Errorf("%s: %s %s: %v", action, method, path, err)
		return false
	}

	if a.hasStatus(allowed...) {
		return false
	}
	if into == nil && a.status < 300 {
		return true
	}
	if err := a.decode(into); err != nil {
		l.serverDir.Errorf("%s: %s %s with %v: %v", action, method, path, body, err)
		return false
	}
	return true
}

// checkQueueLength reads the stats and records whether the queue is full.
func (l *load) checkQueueLength() {
	var s api.Stats
	if l.request("check queue length", "GET", "/stats", nil, &s) {
		l.queueFull.Store(s.Queued > queueMax)
	}
}

// randomWork returns the params of a job and the policy that lets it end soon.
func (l *load) randomWork(mark string) (params, policy object) {
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
		params["behave"], params["for"] = "ignore_cancel", "400ms"
		policy["timeout"], policy["max_retries"] = "50ms", 0
	}
	return params, policy
}

// randomJob returns a request for a job.
func (l *load) randomJob(mark string) object {
	params, job := l.randomWork(mark)
	job["params"], job["priority"] = params, rand.IntN(3)
	job["type"] = []string{"ledger", "ledger", "ledger", pausableType}[rand.IntN(4)]
	switch rand.IntN(12) {
	case 0:
		job["delay"] = millis(50 + rand.IntN(600))
	case 1:
		job["unique_key"] = fmt.Sprint("key-", rand.IntN(40))
	}
	return job
}

func millis(n int) string { return fmt.Sprint(n, "ms") }
