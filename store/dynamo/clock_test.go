package dynamo

import (
	"net/http"
	"testing"
	"time"
)

// TestClockIsUnknownAfterSleep covers a machine whose monotonic clock stands still while it sleeps.
func TestClockIsUnknownAfterSleep(t *testing.T) {
	c := newServiceClock()
	now := time.Now()
	c.answered(now, now, now.UTC().Format(http.TimeFormat))
	if _, _, known := c.read(); !known {
		t.Fatal("the clock is unknown after an answer")
	}
	c.wall = c.wall.Add(-20 * time.Second)
	if _, _, known := c.read(); known {
		t.Error("the clock is known after a sleep")
	}
	now = time.Now()
	c.answered(now, now, now.Add(time.Minute).UTC().Format(http.TimeFormat))
	if at, _, known := c.read(); !known || at.Before(now.Add(58*time.Second)) {
		t.Errorf("after the next answer it is %s", at)
	}
}

// TestOneAnswerDoesNotSetTheClock covers an error page of a proxy, which has the date of the proxy.
func TestOneAnswerDoesNotSetTheClock(t *testing.T) {
	c := newServiceClock()
	now := time.Now()
	answer := func(offset time.Duration) {
		c.answered(now, now, now.Add(offset).UTC().Format(http.TimeFormat))
	}
	answer(0)
	answer(time.Hour)
	if at, _, known := c.read(); known {
		t.Errorf("after two answers that differ it is %s", at)
	}
	answer(0)
	if at, _, known := c.read(); !known || at.After(now.Add(2*time.Second)) {
		t.Errorf("after the third answer it is %s, %v", at, known)
	}
	answer(time.Hour)
	answer(time.Hour)
	if at, _, known := c.read(); !known || at.Before(now.Add(58*time.Minute)) {
		t.Errorf("after two answers of a clock that was set it is %s, %v", at, known)
	}
}
