package action

import (
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// effectTable is the table of effects in each target. A row means that an execution
// committed its work, because the same transaction wrote it.
const effectTable = "rota_effects"

const (
	effectRetention     = 90 * 24 * time.Hour // how long a row is kept
	effectCleanInterval = time.Hour           // pause between removals of old rows
	effectCleanRows     = 10_000              // rows removed at once
	effectCleanTimeout  = 10 * time.Second    // longest time of a removal
)

// minExecutionID is the smallest id of an execution that began at a time. Ids ascend
// with time, so older rows are a range of the primary key and need no other index.
func minExecutionID(at time.Time) rota.ID {
	var id rota.ID
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70, 0x80
	return id
}

// effectCleaner records when old effects were last removed.
type effectCleaner struct {
	mu      sync.Mutex
	lastRun map[string]time.Time // by login
}

// due reports whether the caller has to remove old effects now.
func (b *effectCleaner) due(login string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, known := b.lastRun[login]; known && now.Sub(last) < effectCleanInterval {
		return false
	}
	if b.lastRun == nil {
		b.lastRun = map[string]time.Time{}
	}
	b.lastRun[login] = now
	return true
}
