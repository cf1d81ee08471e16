package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// maxWait is how long a wake-up may take on a very busy machine.
const maxWait = 10 * time.Second

func testWake(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a new ready job causes a wake-up", func(y *story) {
			y.wantWakeDuring(func() { y.enqueue(rota.NewJob{}) })
		}},
		{"a job that became due causes a wake-up", func(y *story) {
			y.enqueue(rota.NewJob{Delay: time.Second})
			y.advance(time.Minute)
			y.wantWakeDuring(func() { y.makeReady() })
		}},
		{"a retry without backoff causes a wake-up", func(y *story) {
			j := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
			y.wantWakeDuring(func() { y.fail(j) })
		}},
		{"a job due earlier than the others causes a wake-up", func(y *story) {
			y.enqueue(rota.NewJob{Delay: time.Hour})
			y.wantWakeDuring(func() { y.enqueue(rota.NewJob{Delay: time.Minute}) })
		}},
		{"every subscriber is woken, and a closed subscription does not block the others", wakeAll},
	})
	runStories(t, h, otherWakeStories())
}

// otherWakeStories are the other ways in which a job becomes claimable or maintenance becomes
// due.
func otherWakeStories() []namedStory {
	wakeStory := func(name string, prepare func(y *story) func()) namedStory {
		return namedStory{name + " causes a wake-up", func(y *story) { y.wantWakeDuring(prepare(y)) }}
	}
	return []namedStory{
		wakeStory("a run now", func(y *story) func() {
			j := y.enqueue(rota.NewJob{Delay: time.Hour})
			return func() { y.edit(j.ID, runsNow) }
		}),
		wakeStory("a job whose time is set to an earlier one", func(y *story) func() {
			j := y.enqueue(rota.NewJob{Delay: time.Hour})
			return func() { y.edit(j.ID, toDelay(time.Minute)) }
		}),
		wakeStory("a run again", func(y *story) func() {
			done := y.running(rota.NewJob{})
			y.complete(done)
			return func() { y.runAgain(done.ID) }
		}),
		wakeStory("a fire", func(y *story) func() {
			y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
			return func() { y.fire("nightly") }
		}),
		wakeStory("a trigger", func(y *story) func() {
			y.declare("nightly", rota.ScheduleSpec{})
			return func() { y.trigger("nightly") }
		}),
		wakeStory("a backfill", func(y *story) func() {
			y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
			return func() { y.backfill("nightly", startTime, y.now) }
		}),
		wakeStory("a schedule that fires earlier than the others", func(y *story) func() {
			y.declare("later", rota.ScheduleSpec{Every: 2 * time.Hour})
			return func() { y.declare("sooner", rota.ScheduleSpec{}) }
		}),
		wakeStory("a schedule that is enabled", func(y *story) func() {
			y.declare("nightly", rota.ScheduleSpec{})
			y.switchTo("nightly", rota.ScheduleDisabled)
			return func() { y.switchTo("nightly", rota.ScheduleEnabled) }
		}),
		wakeStory("a group", func(y *story) func() { return func() { y.groupOfThree(rota.GroupSequential, "") } }),
		wakeStory("the turn of a member", func(y *story) func() {
			y.groupOfThree(rota.GroupSequential, "")
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakeStory("a dependency that completes", func(y *story) func() {
			y.declareExtractLoad()
			y.fireExtractLoad()
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakeStory("a dependency that is deleted", func(y *story) func() {
			y.declareExtractLoad()
			y.fireExtractLoad()
			return func() { y.deleteSchedule("extract") }
		}),
		wakeStory("the end of an overlapping execution", func(y *story) func() {
			y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
			y.fireNext("nightly")
			j := y.claimOne()
			y.fireNext("nightly")
			return func() { y.fail(j) }
		}),
		wakeStory("a free slot of a key", func(y *story) func() {
			y.enqueueLimited(1, 2)
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakeStory("a free slot of the global limit", func(y *story) func() {
			y.throttle(rota.ThrottleSpec{Global: 1})
			y.enqueueMany(2)
			j := y.claimOne()
			return func() { y.complete(j) }
		}),
		wakeStory("a slot freed by a reap", func(y *story) func() {
			y.throttle(typeLimit(1, rota.Rate{}))
			y.enqueueMany(2)
			y.claimOne()
			y.advance(time.Hour)
			return func() { y.reap() }
		}),
		wakeStory("a raised limit", func(y *story) func() {
			y.throttle(rota.ThrottleSpec{Global: 1})
			y.enqueueMany(2)
			y.claimOne()
			return func() { y.throttle(rota.ThrottleSpec{Global: 2}) }
		}),
		wakeStory("a sweep that is due", func(y *story) func() {
			y.enqueueLimited(1, 2)
			return func() { y.throttle(keyLimit("db", 2)) }
		}),
		wakeStory("a job released by a sweep", func(y *story) func() {
			y.enqueueLimited(1, 2)
			y.throttle(keyLimit("db", 2))
			return func() { y.sweep(0) }
		}),
		wakeStory("a resumed type", func(y *story) func() {
			y.declareType("mail", rota.TypeSpec{})
			y.pause("mail", true)
			y.enqueue(rota.NewJob{})
			return func() { y.pause("mail", false) }
		}),
		wakeStory("a released node", func(y *story) func() {
			y.enqueue(rota.NewJob{})
			r := y.reserve()
			return func() { y.release(r) }
		}),
		wakeStory("the end of a direct run", func(y *story) func() {
			y.enqueue(rota.NewJob{})
			j := y.direct(y.reserve(), rota.NewJob{})
			return func() { y.complete(j) }
		}),
		wakeStory("an expired reservation", func(y *story) func() {
			y.enqueue(rota.NewJob{})
			y.reserve()
			y.advance(time.Hour)
			return func() { y.expire() }
		}),
		wakeStory("a delivery", func(y *story) func() {
			j := y.running(rota.NewJob{})
			y.putWebhooks(hook("a", rota.EventJobCompleted))
			return func() { y.complete(j) }
		}),
		wakeStory("a redrive", func(y *story) func() {
			j := y.running(rota.NewJob{})
			y.failPermanently(j)
			return func() { y.redrive(j.ID) }
		}),
	}
}

// wantWakeDuring wants a wake-up while act runs.
func (y *story) wantWakeDuring(act func()) {
	y.Helper()
	wake, stop := y.s.Wake()
	defer stop()
	drain(wake)
	act()
	y.wantWake(wake)
}

func (y *story) wantWake(wake <-chan struct{}) {
	y.Helper()
	select {
	case <-wake:
	case <-time.After(maxWait):
		y.Error("there was no wake-up")
	}
}

// drain receives a wake-up that was pending.
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
	y.wantWake(one)
	y.wantWake(two)
	stopOne()
	drain(two)
	y.enqueue(rota.NewJob{})
	y.wantWake(two)
}
