package session

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func stateOf(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Message != "" && e.Hint != "" {
		return e.State
	}
	return ""
}

func TestMemoryOfOneSessionAndOfAllIsBounded(t *testing.T) {
	var all atomic.Int64
	session := func() *Memory { return &Memory{all: &all} }
	one := session()
	if err := one.Charge(sessionMemoryMax); err != nil {
		t.Fatal(err)
	}
	if state := stateOf(one.Charge(1)); state != StateLimit {
		t.Errorf("a session above its limit is refused with %q", state)
	}
	others := []*Memory{session(), session(), session()}
	for _, o := range others {
		if err := o.Charge(sessionMemoryMax); err != nil {
			t.Fatal(err)
		}
	}
	last := session()
	if err := last.Charge(sessionFree); err != nil { // always possible
		t.Error(err)
	}
	if state := stateOf(last.Charge(1 << 20)); state != StateOutOfMemory {
		t.Errorf("a session above the limit of all is refused with %q", state)
	}
	one.Release(1 << 20)
	if err := last.Charge(1 << 19); err != nil {
		t.Error(err)
	}
	for _, m := range append(others, one, last) {
		m.Close()
		m.Release(1) // of an answer that the garbage collector finds later
	}
	if all.Load() != 0 {
		t.Errorf("%d bytes are counted for closed sessions", all.Load())
	}
}

func TestRowsOfAnswersAreCountedUntilTheyAreDropped(t *testing.T) {
	var all atomic.Int64
	m := &Memory{all: &all}
	row := []any{strings.Repeat("x", 1<<20)}
	fill := func() (*Answer, int, error) {
		a := &Answer{}
		m.count(a)
		for n := 0; ; n++ {
			if err := a.add(row); err != nil || n == 2000 {
				return a, n, err
			}
		}
	}
	a, n, err := fill()
	if stateOf(err) != StateLimit || n != sessionMemoryMax>>20-1 {
		t.Fatalf("%d rows of 1 MiB are kept: %v", n, err)
	}
	a.Drop(0)
	if err := a.add(row); err != nil {
		t.Errorf("a row does not fit after another was dropped: %v", err)
	}
	a.Release()
	a.Release()
	if all.Load() != 0 || m.bytes != 0 {
		t.Errorf("%d bytes are counted for a released answer", m.bytes)
	}
	if _, _, err := fill(); err == nil { // dropped without Release
		t.Error("the memory has no limit any more")
	}
	for deadline := time.Now().Add(20 * time.Second); all.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are counted for a dropped answer", all.Load())
		}
		runtime.GC()
	}
}
