package transfer_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/transfer"
)

// TestCopyWithHistoryKeepsEveryRow copies random stores from SQLite to PostgreSQL and back: all
// three have equal dumps.
func TestCopyWithHistoryKeepsEveryRow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first, second, third := newFile(t), newDatabase(t), newFile(t)
		fill(t, first, randomLog(rt))
		want := dump(t, first)
		o := transfer.Options{History: true}
		o.SetPage(rapid.IntRange(1, 20).Draw(rt, "page"), 4000)
		for _, pair := range [][2]place{{first, second}, {second, third}} {
			result, err := copyStore(t, pair[0], pair[1], o)
			if err != nil {
				rt.Fatalf("copy: %v", err)
			}
			if result.Written != result.Rows || !result.Moved {
				rt.Errorf("result %+v", result)
			}
			if is := dump(t, pair[1]); is != want {
				rt.Fatalf("the copy differs:\n%s\nwant:\n%s", is, want)
			}
		}
	})
}

var errKilled = errors.New("killed")

// failing is a target that fails after some writes, before or after the write itself.
type failing struct {
	transfer.Target
	writes int
	after  bool
}

func (f *failing) Write(ctx context.Context, t *storekit.RowTable, rows *storekit.Rows, state storekit.CopyState) error {
	if f.writes--; f.writes < 0 {
		if f.after {
			if err := f.Target.Write(ctx, t, rows, state); err != nil {
				return err
			}
		}
		return errKilled
	}
	return f.Target.Write(ctx, t, rows, state)
}

// TestCopyResumesAfterKill stops copies after random writes until one completes: the target has
// every row once.
func TestCopyResumesAfterKill(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first, second := newFile(t), newFile(t)
		if rapid.Bool().Draw(rt, "to PostgreSQL") {
			second = newDatabase(t)
		}
		fill(t, first, randomLog(rt))
		want := dump(t, first)
		o := transfer.Options{History: true}
		o.SetPage(rapid.IntRange(1, 20).Draw(rt, "page"), 4000)
		kills := 0
		for {
			fault := &failing{writes: rapid.IntRange(0, 8).Draw(rt, "writes"), after: rapid.Bool().Draw(rt, "after")}
			result, err := copyInto(t, first, second, o, func(to transfer.Target) transfer.Target {
				fault.Target = to
				return fault
			})
			if err == nil {
				if result.Resumed != (result.Written < result.Rows) {
					rt.Errorf("result %+v after %d kills", result, kills)
				}
				break
			}
			if !errors.Is(err, errKilled) {
				rt.Fatalf("copy: %v", err)
			}
			if kills++; kills > 1000 {
				rt.Fatal("the copy does not advance")
			}
			if s, err := second.open(t, false); err == nil {
				_ = s.Close()
				rt.Fatal("an unfinished copy was opened")
			}
			if s, err := first.open(t, false); err != nil {
				rt.Fatalf("the source of an unfinished copy: %v", err)
			} else {
				_ = s.Close()
			}
		}
		if is := dump(t, second); is != want {
			rt.Fatalf("the copy differs:\n%s\nwant:\n%s", is, want)
		}
	})
}
