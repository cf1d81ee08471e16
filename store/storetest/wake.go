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
