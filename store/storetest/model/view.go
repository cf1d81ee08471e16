package model

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// frozen is a copy of a model at which time has stopped.
type frozen struct {
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
	v := &frozen{at: cut(m.clock())}
	v.Model = &Model{clock: v.Now, state: m.state.clone()}
	v.Model.over = func() bool { return v.closed || ctx.Err() != nil || m.isClosed() }
	return v, nil
}

func (m *Model) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// Now is the time at which the copy was made.
func (v *frozen) Now() time.Time { return v.at }

// Close ends the view.
func (v *frozen) Close() error {
	v.closed = true
	return nil
}
