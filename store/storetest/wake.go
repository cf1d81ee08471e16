package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// patience is how long a hint may take on a very busy machine.
const patience = 10 * time.Second

func testWake(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a new ready job is announced", func(y *story) {
			y.announced(func() { y.enqueue(rota.NewJob{}) })
		}},
		{"a job that became due is announced", func(y *story) {
			y.enqueue(rota.NewJob{Delay: time.Second})
			y.pass(time.Minute)
			y.announced(func() { y.makeReady() })
		}},
		{"a retry for at once is announced", func(y *story) {
			j := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
			y.announced(func() { y.fail(j) })
		}},
		{"a job due earlier than the others is announced", func(y *story) {
			y.enqueue(rota.NewJob{Delay: time.Hour})
			y.announced(func() { y.enqueue(rota.NewJob{Delay: time.Minute}) })
		}},
		{"every listener hears it, and one that left does not hinder", wakeAll},
	})
	tellAll(t, h, wakeCompany())
}

// wakeCompany are the other ways in which a job can become claimable, and upkeep
// due.
func wakeCompany() []tale {
	wakes := func(name string, prepare func(y *story) func()) tale {
		return tale{name + " is announced", func(y *story) { y.announced(prepare(y)) }}
	}
	return []tale{
		wakes("a fire", func(y *story) func() {
			y.wait(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
			return func() { y.fire("nightly") }
		}),
		wakes("a trigger", func(y *story) func() {
			y.declare("nightly", rota.ScheduleSpec{})
			return func() { y.trigger("nightly") }
		}),
		wakes("a backfill", func(y *story) func() {
			y.wait(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
			return func() { y.backfill("nightly", dawn, y.now) }
		}),
		wakes("a schedule that fires earlier than the others", func(y *story) func() {
			y.declare("later", rota.ScheduleSpec{Every: 2 * time.Hour})
			return func() { y.declare("sooner", rota.ScheduleSpec{}) }
		}),
		wakes("a schedule that is enabled", func(y *story) func() {
			y.declare("nightly", rota.ScheduleSpec{})
			y.switchTo("nightly", rota.ScheduleDisabled)
			return func() { y.switchTo("nightly", rota.ScheduleEnabled) }
		}),
		wakes("a group", func(y *story) func() { return func() { y.three(rota.GroupSequential, "") } }),
		wakes("the turn of a member", func(y *story) func() {
			y.three(rota.GroupSequential, "")
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakes("a dependency that completes", func(y *story) func() {
			y.chain()
			y.both()
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakes("a dependency that is deleted", func(y *story) func() {
			y.chain()
			y.both()
			return func() { y.deleteSchedule("extract") }
		}),
		wakes("the end of what overlapped", func(y *story) func() {
			y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
			y.fireNext("nightly")
			j := y.claimOne()
			y.fireNext("nightly")
			return func() { y.fail(j) }
		}),
		wakes("a place of a key", func(y *story) func() {
			y.keyedRow(1, 2)
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakes("a place of the global limit", func(y *story) func() {
			y.throttle(rota.ThrottleSpec{Global: 1})
			y.enqueueMany(2)
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakes("a place that a crash gives back", func(y *story) func() {
			y.throttle(typeLimit(1, rota.Rate{}))
			y.enqueueMany(2)
			y.claimOne()
			y.pass(time.Hour)
			return func() { y.reap() }
		}),
		wakes("a raised limit", func(y *story) func() {
			y.throttle(rota.ThrottleSpec{Global: 1})
			y.enqueueMany(2)
			y.claimOne()
			return func() { y.throttle(rota.ThrottleSpec{Global: 2}) }
		}),
		wakes("a sweep that is due", func(y *story) func() {
			y.keyedRow(1, 2)
			return func() { y.throttle(keyLimit("db", 2)) }
		}),
		wakes("what a sweep lets go", func(y *story) func() {
			y.keyedRow(1, 2)
			y.throttle(keyLimit("db", 2))
			return func() { y.sweep(0) }
		}),
		wakes("a type that goes on", func(y *story) func() {
			y.declareType("mail", rota.TypeSpec{})
			y.pause("mail", true)
			y.enqueue(rota.NewJob{})
			return func() { y.pause("mail", false) }
		}),
		wakes("a node that is released", func(y *story) func() {
			y.enqueue(rota.NewJob{})
			r := y.reserve()
			return func() { y.release(r) }
		}),
		wakes("the end of a direct run", func(y *story) func() {
			y.enqueue(rota.NewJob{})
			j := y.direct(y.reserve(), rota.NewJob{})
			return func() { y.complete(j) }
		}),
		wakes("a reservation that expired", func(y *story) func() {
			y.enqueue(rota.NewJob{})
			y.reserve()
			y.pass(time.Hour)
			return func() { y.expire() }
		}),
		wakes("a delivery", func(y *story) func() {
			j := y.running(rota.NewJob{})
			y.putWebhooks(hook("a", rota.EventJobCompleted))
			return func() { y.complete(j) }
		}),
		wakes("a redrive", func(y *story) func() {
			j := y.running(rota.NewJob{})
			y.die(j)
			return func() { y.redrive(j.ID) }
		}),
	}
}

// announced wants a hint to come for what is done while it is listened for.
func (y *story) announced(act func()) {
	y.Helper()
	wake, stop := y.s.Wake()
	defer stop()
	drain(wake)
	act()
	y.hears(wake)
}

func (y *story) hears(wake <-chan struct{}) {
	y.Helper()
	select {
	case <-wake:
	case <-time.After(patience):
		y.Error("no hint came")
	}
}

// drain takes a hint that was there before.
func drain(wake <-chan struct{}) {
	select {
	case <-wake:
	default:
	}
}

func wakeAll(y *story) {
	one, stopOne := y.s.Wake()
	two, stopTwo := y.s.Wake()
	defer stopTwo()
	y.enqueue(rota.NewJob{})
	y.hears(one)
	y.hears(two)
	stopOne()
	drain(two)
	y.enqueue(rota.NewJob{})
	y.hears(two)
}
