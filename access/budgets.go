package access

import (
	"container/list"
	"time"
)

// budgets counts the uses of many keys. A key may be used burst times at once; each interval gives one use back.
// It remembers a limited number of keys, and forgets the one that was used least recently.
type budgets struct {
	interval time.Duration
	burst    int
	debtMax  time.Duration // longest wait of a key that was used more often
	max      int           // keys

	keys  map[uint64]*list.Element
	order list.List // of *budget, the least recently used first
}

// budget is the state of one key: the time at which all of its uses are given back.
type budget struct {
	key   uint64
	until time.Time
}

func newBudgets(interval time.Duration, burst int, debtMax time.Duration, most int) *budgets {
	return &budgets{interval: interval, burst: burst, debtMax: debtMax, max: most, keys: map[uint64]*list.Element{}}
}

// wait returns how long a key has to wait for its next use; 0: it may be used now.
func (b *budgets) wait(key uint64, now time.Time) time.Duration {
	e, known := b.keys[key]
	if !known {
		return 0
	}
	return max(0, b.bounded(e.Value.(*budget).until, now).Add(b.interval).Sub(now)-b.full())
}

// use counts a use, also of a key that has to wait, and returns how many uses are not given back yet.
func (b *budgets) use(key uint64, now time.Time) (uses int) {
	e, known := b.keys[key]
	if known {
		b.order.MoveToBack(e)
	} else {
		if len(b.keys) >= b.max {
			delete(b.keys, b.order.Remove(b.order.Front()).(*budget).key)
		}
		e = b.order.PushBack(&budget{key: key})
		b.keys[key] = e
	}
	one := e.Value.(*budget)
	one.until = b.bounded(b.bounded(one.until, now).Add(b.interval), now)
	return int((one.until.Sub(now) + b.interval - 1) / b.interval)
}

// giveBack takes back a use.
func (b *budgets) giveBack(key uint64, now time.Time) {
	if e, known := b.keys[key]; known {
		one := e.Value.(*budget)
		one.until = b.bounded(one.until, now).Add(-b.interval)
	}
}

// bounded moves a time into the range that it can have now. The clock may have been set back.
func (b *budgets) bounded(until, now time.Time) time.Time {
	if until.Before(now) {
		return now
	}
	if last := now.Add(b.full() + b.debtMax); until.After(last) {
		return last
	}
	return until
}

// full is how long it takes to give back a whole burst.
func (b *budgets) full() time.Duration { return time.Duration(b.burst) * b.interval }
