package pgwire

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server speaks PostgreSQL's protocol. It is safe for concurrent use.
type Server struct {
	config Config
	secret []byte // of which the salts of unknown users are made
	guard  *guard
	keys   keys

	open     atomic.Int64 // connections of any kind
	sessions atomic.Int64 // those who have proved who they are
	kept     atomic.Int64 // bytes of rows that are yet to be fetched
}

// New makes a server.
func New(config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return &Server{config: config, secret: secret, guard: newGuard(config.GuessDelay), keys: keys{conns: map[uint32]*conn{}}}, nil
}

// Serve answers those who connect until the context ends. Then the listener is
// closed, statements that run have the grace to end by themselves, and every
// client is told that the server ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	unhear := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer unhear()
	h := newHall(ctx)
	err := s.accept(ctx, l, h)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, h.empty(s.config.Grace))
}

// accept takes connections. It waits a little when the machine has no more of
// what they need, since that passes.
func (s *Server) accept(ctx context.Context, l net.Listener, h *hall) error {
	for {
		wire, err := l.Accept()
		var passing interface{ Temporary() bool }
		switch {
		case err == nil:
			s.admit(wire, h)
		case ctx.Err() == nil && errors.As(err, &passing) && passing.Temporary():
			s.config.Logger.Warn("a connection was not accepted", "err", err)
			time.Sleep(10 * time.Millisecond)
		default:
			h.close()
			return err
		}
	}
}

// admit serves a connection, unless too many are at the door. Then it is
// told so at once, without a goroutine of its own and before a word of it is read.
func (s *Server) admit(wire net.Conn, h *hall) {
	if s.open.Add(1)-s.sessions.Load() > int64(s.config.PendingMax) {
		s.open.Add(-1)
		m, _ := response(tooMany())
		text, _ := m.Encode(nil)
		_ = wire.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = wire.Write(text)
		_ = wire.Close()
		return
	}
	h.guests.Go(func() {
		defer s.open.Add(-1)
		newConn(s, wire, h).serve()
	})
}

func tooMany() error {
	return fatally(stateTooMany, "try again later", "sorry, too many clients already")
}

// enter counts a connection that has proved who it is.
func (s *Server) enter() error {
	if s.sessions.Add(1) > int64(s.config.ConnectionsMax) {
		s.sessions.Add(-1)
		return tooMany()
	}
	return nil
}

// full says before any proof is asked for that there is no room.
func (s *Server) full() bool { return s.sessions.Load() >= int64(s.config.ConnectionsMax) }

func (s *Server) leave() { s.sessions.Add(-1) }

// hall is where the connections of one listener stay.
type hall struct {
	guests  sync.WaitGroup
	closing context.Context // the next message is the last
	close   context.CancelFunc
	cut     context.Context // statements are ended
	cutting context.CancelCauseFunc
	gone    context.Context // wires are closed
	leaving context.CancelFunc
}

func newHall(ctx context.Context) *hall {
	h := &hall{}
	h.closing, h.close = context.WithCancel(ctx)
	h.cut, h.cutting = context.WithCancelCause(context.WithoutCancel(ctx))
	h.gone, h.leaving = context.WithCancel(context.WithoutCancel(ctx))
	return h
}

// farewell is how long a client has to read that the server ends, and a statement
// to end that was cancelled.
const farewell = 2 * time.Second

// empty sees everybody out.
func (h *hall) empty(grace time.Duration) error {
	h.close()
	out := make(chan struct{})
	go func() {
		h.guests.Wait()
		close(out)
	}()
	defer h.leaving()
	for _, step := range []struct {
		after time.Duration
		do    func()
	}{
		{grace, func() { h.cutting(errShutdown) }},
		{farewell, h.leaving},
		{farewell, func() {}},
	} {
		select {
		case <-out:
			h.cutting(errShutdown)
			return nil
		case <-time.After(step.after):
			step.do()
		}
	}
	return fmt.Errorf("statements did not end when they were told to")
}
