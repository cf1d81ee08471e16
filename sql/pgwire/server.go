package pgwire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/rotajobs/rota/access"
)

// Server serves the PostgreSQL protocol. It is safe for concurrent use.
type Server struct {
	config     Config
	mocks      *access.Mocks // verifiers of users for which Config.Verifier has none
	delays     chan struct{} // one element for each refusal that is being delayed
	cancelKeys cancelKeys

	pending  *pendingConns // connections that have not logged in yet
	refusals refusals      // connections that are being refused
	sessions *openSessions // authenticated connections
	encoding sync.Mutex    // of one long row at a time, because encoding a document takes many times its size
}

// New creates a server.
func New(config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	return &Server{
		config: config, mocks: access.NewMocks(""), delays: make(chan struct{}, delaysMax), cancelKeys: cancelKeys{conns: map[uint32]*conn{}},
		pending: newPendingConns(config.PendingMax, config.PendingPerAddressMax), refusals: refusals{max: refusalsMax, time: refusalTime},
		sessions: newOpenSessions(&config),
	}, nil
}

// Serve serves connections until the context ends. It then closes the listener, waits up to
// Config.Grace for running statements, and sends every client the error that the server shuts
// down.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stopWatching := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stopWatching()
	h := newConnGroup(ctx)
	err := s.accept(ctx, l, h)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, h.shutdown(s.config.Grace))
}

// accept accepts connections. After a temporary error, such as too many open files, it waits
// briefly and continues.
func (s *Server) accept(ctx context.Context, l net.Listener, h *connGroup) error {
	for {
		wire, err := l.Accept()
		var temporary interface{ Temporary() bool }
		switch {
		case err == nil:
			s.admit(wire, h)
		case ctx.Err() == nil && errors.As(err, &temporary) && temporary.Temporary():
			s.config.Logger.Warn("cannot accept a connection, retrying", "error", err)
			time.Sleep(10 * time.Millisecond)
		default:
			h.drain()
			return err
		}
	}
}

// admit serves a connection, unless too many connections have not logged in yet.
func (s *Server) admit(wire net.Conn, h *connGroup) {
	address := access.NetworkOf(wire.RemoteAddr().String())
	if err := s.pending.add(address); err != nil {
		s.refuse(wire, h, err)
		return
	}
	c := newConn(s, wire, h)
	c.leavePending = sync.OnceFunc(func() { s.pending.remove(address) })
	h.conns.Go(c.serve)
}

// connGroup is the set of connections of one listener, with the contexts of each step of the
// shutdown.
type connGroup struct {
	conns            sync.WaitGroup
	draining         context.Context // ends when no further message is answered
	drain            context.CancelFunc
	statements       context.Context // ends when running statements are cancelled
	cancelStatements context.CancelCauseFunc
	open             context.Context // ends when sockets are closed
	closeConns       context.CancelFunc
}

func newConnGroup(ctx context.Context) *connGroup {
	h := &connGroup{}
	h.draining, h.drain = context.WithCancel(ctx)
	h.statements, h.cancelStatements = context.WithCancelCause(context.WithoutCancel(ctx))
	h.open, h.closeConns = context.WithCancel(context.WithoutCancel(ctx))
	return h
}

// closeTimeout limits how long a client may take to read the shutdown error, and how long a
// cancelled statement may take to end.
const closeTimeout = 2 * time.Second

// shutdown ends all connections in steps: no further messages, cancelled statements, closed
// sockets.
func (h *connGroup) shutdown(grace time.Duration) error {
	h.drain()
	out := make(chan struct{})
	go func() {
		h.conns.Wait()
		close(out)
	}()
	defer h.closeConns()
	for _, step := range []struct {
		after time.Duration
		do    func()
	}{
		{grace, func() { h.cancelStatements(errShutdown) }},
		{closeTimeout, h.closeConns},
		{closeTimeout, func() {}},
	} {
		select {
		case <-out:
			h.cancelStatements(errShutdown)
			return nil
		case <-time.After(step.after):
			step.do()
		}
	}
	return fmt.Errorf("statements still run %v after they were cancelled", 2*closeTimeout)
}
