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
	effectKeep   = 90 * 24 * time.Hour // how long a row stays
	effectEvery  = time.Hour           // how often old ones are looked for
	effectPage   = 10_000              // rows that go at once
	effectRemove = 10 * time.Second    // how long that may take
)

// oldest is the least id that an execution begun at a time may have. Ids ascend
// with time, so what is older is a range of the key, and no index more is needed.
func oldest(at time.Time) rota.ID {
	var id rota.ID
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70, 0x80
	return id
}

// broom knows when old effects were last removed.
type broom struct {
	mu    sync.Mutex
	swept map[string]time.Time // by login
}

// due reports whether the caller is the one to remove what is old now.
func (b *broom) due(login string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, known := b.swept[login]; known && now.Sub(last) < effectEvery {
		return false
	}
	if b.swept == nil {
		b.swept = map[string]time.Time{}
	}
	b.swept[login] = now
	return true
}
