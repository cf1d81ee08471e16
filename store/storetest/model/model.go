// Package model is the reference implementation of a store. It holds its rows in memory and
// implements the rules of each verb in the simplest way: slices, linear scans, and a copy of
// the whole state for each command. Random histories are compared with it, so it is written to
// be easy to check rather than fast. Start reading at Model.Apply and step.decide.
package model

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// Model is a rota.Store in memory.
type Model struct {
	clock func() time.Time

	mu       sync.Mutex
	state    *state
	wakes    []chan struct{}
	watchers []*watcher
	events   []rota.Event // events of the current batch
	closed   bool
	ended    func() bool // whether the view has ended; nil if this is not a view
}

// New returns an empty model. The clock gives the time of batches without one.
func New(clock func() time.Time) *Model {
	return &Model{clock: clock, state: newState()}
}

// Apply applies each command to a copy of the state and keeps the copy unless
// the command was refused.
func (m *Model) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, readAt := b.Now, time.Time{}
	if now.IsZero() {
		now, readAt = m.clock(), time.Now()
	}
	results := make([]rota.Result, len(b.Commands))
	for i, c := range b.Commands {
		results[i] = m.applyOne(micros(now), readAt, c)
	}
	m.publish(m.events)
	m.events = nil
	m.wakeAll()
	return results, nil
}

func (m *Model) applyOne(now, readAt time.Time, c rota.Command) rota.Result {
	trial := &step{state: m.state.clone(), now: now, readAt: readAt}
	reply, err := trial.apply(c)
	if err != nil {
		return rota.Result{Err: err}
	}
	if all, is := c.(*rota.All); is && all.Dry {
		return rota.Result{Reply: reply} // a dry run keeps nothing
	}
	createDeliveries(m.state, trial.state, now)
	if len(m.watchers) > 0 {
		m.events = append(m.events, eventsBetween(m.state, trial.state, now)...)
	}
	m.state = trial.state
	m.state.recordNames()
	return rota.Result{Reply: reply}
}

// micros truncates a time to the stored precision.
func micros(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// Wake returns a channel that receives after every batch.
func (m *Model) Wake() (<-chan struct{}, func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ch := make(chan struct{}, 1)
	m.wakes = append(m.wakes, ch)
	return ch, func() { m.removeWake(ch) }
}

func (m *Model) removeWake(ch chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wakes = slices.DeleteFunc(m.wakes, func(c chan struct{}) bool { return c == ch })
}

func (m *Model) wakeAll() {
	for _, ch := range m.wakes {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Verify yields nothing: the model is correct by definition.
func (m *Model) Verify(context.Context) iter.Seq2[rota.Violation, error] {
	return func(func(rota.Violation, error) bool) {}
}

// Limits returns the limits of the commands themselves.
func (m *Model) Limits() rota.Limits {
	return rota.Limits{Jobs: rota.JobsMax, Claim: rota.ClaimMax, Items: rota.ItemsMax}
}

// Close ends the views of the model.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// Damage changes a job without the rules, so that tests of recovery have something to recover.
// A change that returns nil removes the job.
func (m *Model) Damage(id rota.ID, change func(*rota.Job) *rota.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	job := m.state.find(id)
	if job == nil {
		return
	}
	if change(job) == nil {
		m.state.jobs = slices.DeleteFunc(m.state.jobs, func(j *rota.Job) bool { return j.ID == id })
	}
}
