package action

import (
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// The table of effects, in each target: a row of it says that an execution has
// done its work, since it was written in the same transaction.
const effectTable = "rota_effects"

const (
	effectRetention     = 90 * 24 * time.Hour // how long a row stays
	effectCleanInterval = time.Hour           // how often old ones are looked for
	effectCleanRows     = 10_000              // rows that go at once
	effectCleanTimeout  = 10 * time.Second    // how long that may take
)

// minExecutionID is the least id that an execution begun at a time may have. Ids ascend
// with time, so what is older is a range of the key, and no index more is needed.
func minExecutionID(at time.Time) rota.ID {
	var id rota.ID
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70, 0x80
	return id
}

// effectCleaner knows when old effects were last removed.
type effectCleaner struct {
	mu      sync.Mutex
	lastRun map[string]time.Time // by login
}

// due reports whether the caller is the one to remove what is old now.
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
