package session

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/sql/system"
)

func TestResultsOfAllSessionsAreBounded(t *testing.T) {
	b := &resultBudget{}
	row := []any{strings.Repeat("x", 1<<20)}
	answer := func() *Answer {
		a := &Answer{}
		b.hold(a)
		return a
	}
	fill := func(a *Answer) (n int, err error) {
		for ; err == nil && n < 2000; n++ {
			err = a.add(row)
		}
		return n, err
	}
	large := answer()
	n, err := fill(large)
	var refusal *system.Error
	if !errors.As(err, &refusal) || refusal.State != StateOutOfMemory || n < 200 || n > 256 {
		t.Fatalf("%d rows of 1 MiB are kept: %v", n, err)
	}
	small := answer()
	for range 100 { // small results are always possible
		if err := small.add([]any{int64(1), "text"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fill(answer()); err == nil {
		t.Error("a second large result is kept")
	}
	large.Release()
	large.Release()
	small.Release()
	if got := b.bytes.Load(); got != 0 {
		t.Errorf("%d bytes are counted for released results", got)
	}
	if _, err := fill(answer()); err == nil { // dropped without Release
		t.Error("the budget has no limit any more")
	}
	for deadline := time.Now().Add(20 * time.Second); b.bytes.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are counted for a dropped result", b.bytes.Load())
		}
		runtime.GC()
	}
}
