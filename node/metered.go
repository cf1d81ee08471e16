package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// stuckAfter is how long a batch may take before the store counts as one that
// cannot be written. SQLite waits 10 s for other connections by itself.
const stuckAfter = 20 * time.Second

// A store that could not be written is tried so often at most, for so long.
const (
	tryEvery = 200 * time.Millisecond
	tryFor   = time.Second
)

// metered is a store that knows how it fares: how large batches are, how long
// they take, and whether the last one could be written.
type metered struct {
	rota.Store
	meters *meters

	mu    sync.Mutex
	since map[*time.Time]struct{} // when each batch under way began
	fault error                   // of the last batch that could not be written
	tried time.Time               // when it was last tried whether that is over
}

func newMetered(store rota.Store, meters *meters) *metered {
	return &metered{Store: store, meters: meters, since: map[*time.Time]struct{}{}}
}

// Apply applies a batch and notes how that went.
func (m *metered) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	began := time.Now()
	m.begin(&began)
	results, err := m.Store.Apply(ctx, b)
	m.end(&began, ctx, err)
	m.meters.batchCommands.Observe(float64(len(b.Commands)))
	m.meters.applySeconds.Observe(time.Since(began).Seconds())
	if err != nil {
		m.meters.storeErrors.WithLabelValues(string(rota.CodeOf(err))).Inc()
	}
	return results, err
}

func (m *metered) begin(began *time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since[began] = struct{}{}
}

// end keeps the error, unless it says something about the caller alone. A batch
// that succeeds takes none back: upkeep that finds nothing to do does so on a
// full disk, too.
func (m *metered) end(began *time.Time, ctx context.Context, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.since, began)
	if code := rota.CodeOf(err); ctx.Err() == nil && (code == rota.Unavailable || code == rota.Internal) {
		m.fault = err
	}
}

// writable says why the store cannot be written. After a batch that failed it
// tries by itself whether that is over.
func (m *metered) writable() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for began := range m.since {
		if d := time.Since(*began); d > stuckAfter {
			return fmt.Errorf("the store has not answered for %s", d.Round(time.Second))
		}
	}
	if m.fault != nil && time.Since(m.tried) > tryEvery {
		m.tried = time.Now()
		m.mu.Unlock()
		err := m.try()
		m.mu.Lock()
		m.fault = err
	}
	return m.fault
}

// try writes a row that nobody will ask for, and that is gone within a day.
func (m *metered) try() error {
	ctx, done := context.WithTimeout(context.Background(), tryFor)
	defer done()
	id := rota.NewID()
	_, err := rota.Do[*rota.Remembered](ctx, m.Store, &rota.Remember{
		Meta: rota.NewMeta(actor), Key: "readyz " + id.String(), Hash: strings.Repeat("0", 64), Command: id,
	})
	return err
}
