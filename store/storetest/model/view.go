package model

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// snapshot is a copy of a model at one time.
type snapshot struct {
	*Model
	at     time.Time
	closed bool
}

// View copies the whole state.
func (m *Model) View(ctx context.Context) (rota.View, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	v := &snapshot{at: micros(m.clock())}
	v.Model = &Model{clock: v.Now, state: m.state.clone()}
	v.Model.ended = func() bool { return v.closed || ctx.Err() != nil || m.isClosed() }
	return v, nil
}

func (m *Model) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// Now is the time at which the copy was made.
func (v *snapshot) Now() time.Time { return v.at }

// Close ends the view.
func (v *snapshot) Close() error {
	v.closed = true
	return nil
}
