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
