package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// stuckAfter is how long a batch may take before the store counts as not writable.
// SQLite itself waits up to 10 s for other connections.
const stuckAfter = 20 * time.Second

// Limits of the writes that probe a store after a failed batch.
const (
	probeEvery   = 200 * time.Millisecond
	probeTimeout = time.Second
)

// storeMonitor is a store that measures the size and duration of batches, and
// remembers whether the store can be written.
type storeMonitor struct {
	rota.Store
	metrics *metricSet

	mu       sync.Mutex
	inFlight map[*time.Time]struct{} // start times of the batches in flight
	fault    error                   // error of the last batch that could not be written
	probedAt time.Time               // time of the last probe
}

func newStoreMonitor(store rota.Store, metrics *metricSet) *storeMonitor {
	return &storeMonitor{Store: store, metrics: metrics, inFlight: map[*time.Time]struct{}{}}
}

// Unwrap returns the store that is measured.
func (m *storeMonitor) Unwrap() rota.Store { return m.Store }

// Apply applies a batch and records its size, duration and error.
func (m *storeMonitor) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	began := time.Now()
	m.begin(&began)
	results, err := m.Store.Apply(ctx, b)
	m.end(&began, ctx, err)
	m.observe(b, began, err)
	return results, err
}

// ApplyTx applies a batch in a transaction of the caller and records the same. It does not
// show whether the store can be written: its errors may be those of the transaction.
func (m *storeMonitor) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	began := time.Now()
	results, pending, err := rota.ApplyTx(ctx, m.Store, tx, b)
	m.observe(b, began, err)
	return results, pending, err
}

func (m *storeMonitor) observe(b rota.Batch, began time.Time, err error) {
	m.metrics.batchCommands.Observe(float64(len(b.Commands)))
	m.metrics.applySeconds.Observe(time.Since(began).Seconds())
	if err != nil {
		m.metrics.storeErrors.WithLabelValues(string(rota.CodeOf(err))).Inc()
	}
}

func (m *storeMonitor) begin(began *time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight[began] = struct{}{}
}

// end keeps the error, unless only the caller caused it. A batch that succeeds does
// not clear the error: maintenance that finds nothing to write succeeds on a full
// disk, too.
func (m *storeMonitor) end(began *time.Time, ctx context.Context, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.inFlight, began)
	if code := rota.CodeOf(err); ctx.Err() == nil && (code == rota.Unavailable || code == rota.Internal) {
		m.fault = err
	}
}

// writable returns why the store cannot be written, or nil. After a failed batch it
// probes whether the store can be written again.
func (m *storeMonitor) writable() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for began := range m.inFlight {
		if d := time.Since(*began); d > stuckAfter {
			return fmt.Errorf("the store has not answered for %s", d.Round(time.Second))
		}
	}
	if m.fault != nil && time.Since(m.probedAt) > probeEvery {
		m.probedAt = time.Now()
		m.mu.Unlock()
		err := m.probe()
		m.mu.Lock()
		m.fault = err
	}
	return m.fault
}

// probe writes a row that no request reads and that pruning removes within a day.
func (m *storeMonitor) probe() error {
	ctx, done := context.WithTimeout(context.Background(), probeTimeout)
	defer done()
	id := rota.NewID()
	_, err := rota.Do[*rota.Remembered](ctx, m.Store, &rota.Remember{
		Meta: rota.NewMeta(rota.SystemActor), Key: "readyz " + id.String(), Hash: strings.Repeat("0", 64), Command: id,
	})
	return err
}
