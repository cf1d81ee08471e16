package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
)

const (
	selfTestMax       = 2 * time.Second        // time limit of the notification of the self-test
	notifyGap         = 5 * time.Millisecond   // between two notifications
	pollEvery         = 200 * time.Millisecond // poll interval without notifications
	fallbackPollEvery = 5 * time.Second        // poll interval with notifications, which may get lost
	reconnectAfter    = time.Second            // pause after a lost connection
	notifyLastMax     = time.Second            // time limit of the last notification when the store closes
)

// listener sends and receives the notifications between processes that jobs became ready, and
// receives the messages of the bus. NOTIFY
// takes a lock that all transactions with a NOTIFY share. The store therefore sends it after the
// commit, in a transaction of its own, and not for every batch. Only the first notification after a
// pause goes in the same round trip as the COMMIT.
type listener struct {
	store   *Store
	config  *pgx.ConnConfig
	channel string
	name    string // payload of this process, so that it ignores its own notifications

	pending   chan struct{} // a notification is to be sent
	firstConn *pgx.Conn     // connection that the self-test left listening
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu           sync.Mutex
	listening    bool
	lastNotified time.Time // time of the last notification sent
}

func newListener(s *Store, config *pgx.ConnConfig) *listener {
	return &listener{store: s, config: config.Copy(), channel: s.config.Schema + "_ready", name: rota.NewID().String(), pending: make(chan struct{}, 1)}
}

// selfTest reports whether a notification from one connection reaches another.
func (l *listener) selfTest(ctx context.Context) bool {
	ctx, done := context.WithTimeout(ctx, selfTestMax)
	defer done()
	conn, err := l.listen(ctx)
	if err != nil {
		return false
	}
	if err = l.notify(ctx); err == nil {
		_, err = conn.WaitForNotification(ctx)
	}
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return false
	}
	l.firstConn = conn
	return true
}

func (l *listener) listen(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return nil, err
	}
	listen := "LISTEN " + pgx.Identifier{l.channel}.Sanitize() + "; LISTEN " + pgx.Identifier{l.store.bus.channel}.Sanitize()
	if _, err := conn.Exec(ctx, listen); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// A notification need not survive a crash, so its transaction does not wait for the disk.
const sqlNotify = `
SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`

func (l *listener) notify(ctx context.Context) error {
	return l.store.query(ctx, "notify", l.notifyStatement())
}

func (l *listener) notifyStatement() statement {
	return statement{sql: sqlNotify, params: []param{textNotNull(l.channel), textNotNull(l.name)}}
}

// beginNotify reports whether the pause since the last notification is over, and if so starts the
// next pause.
func (l *listener) beginNotify() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.lastNotified) < notifyGap {
		return false
	}
	l.lastNotified = time.Now()
	return true
}

// undoNotify ends the pause that beginNotify started, because the notification was rolled back.
func (l *listener) undoNotify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastNotified = time.Time{}
}

// untilNextNotify returns the rest of the pause after the last notification.
func (l *listener) untilNextNotify() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return notifyGap - time.Since(l.lastNotified)
}

// start runs the loops of the listener until close. The poll loop and the loop that sends messages
// always run, the others only if notifications work.
func (l *listener) start(listens bool) {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	every := pollEvery
	l.store.bus.forwarder.deaf = !listens
	l.running.Go(func() { l.store.bus.sendLoop(ctx) })
	if listens {
		l.store.bus.forwarder.asked() // the loop says hello at once
		every = fallbackPollEvery
		l.running.Go(func() { l.listenLoop(ctx) })
		l.running.Go(func() { l.notifyLoop(ctx) })
	}
	l.running.Go(func() { l.poll(ctx, every) })
}

// poll wakes the waiting claims of this process at intervals.
func (l *listener) poll(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		sleep(ctx, every)
		l.store.wake.WakeAll()
	}
}

// notifySoon asks the notify loop to send a notification.
func (l *listener) notifySoon() {
	select {
	case l.pending <- struct{}{}:
	default:
	}
}

// notifyLoop sends the requested notifications until ctx ends, and then the last pending one.
func (l *listener) notifyLoop(ctx context.Context) {
	for {
		select {
		case <-l.pending:
		case <-ctx.Done():
			select {
			case <-l.pending:
				l.notifyLast()
			default:
			}
			return
		}
		for !l.beginNotify() && ctx.Err() == nil {
			sleep(ctx, max(l.untilNextNotify(), time.Millisecond))
		}
		_ = l.notify(ctx) // the other processes poll as well
		if ctx.Err() != nil {
			l.notifyLast()
			return
		}
	}
}

// notifyLast sends a pending notification while the store closes.
func (l *listener) notifyLast() {
	ctx, done := context.WithTimeout(context.Background(), notifyLastMax)
	defer done()
	conn, err := l.store.pool.Acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	_ = l.store.session(conn).send(ctx, l.notifyStatement())
}

// listenLoop wakes the waiting claims whenever a notification of another process arrives. It also
// wakes them after each connect, because notifications during an outage are lost.
func (l *listener) listenLoop(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := l.firstConn, error(nil)
		if l.firstConn = nil; conn == nil {
			conn, err = l.listen(ctx)
		}
		if err == nil {
			err = l.hello(ctx, conn)
		}
		if err != nil {
			sleep(ctx, reconnectAfter)
			continue
		}
		l.setListening(true)
		l.store.wake.WakeAll()
		for {
			notification, err := conn.WaitForNotification(ctx)
			if err != nil {
				break
			}
			switch {
			case notification.Channel == l.store.bus.channel:
				l.store.bus.receive(notification.Payload)
			case notification.Payload != l.name:
				l.store.wake.WakeAll()
			}
		}
		l.setListening(false)
		_ = conn.Close(context.Background())
	}
}

// hello tells the other processes that this one listens from now on.
func (l *listener) hello(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, sqlNotify, l.store.bus.channel, l.store.bus.helloPayload())
	if err != nil {
		_ = conn.Close(context.Background())
		return err
	}
	l.store.bus.connected()
	return nil
}

func (l *listener) setListening(listening bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listening = listening
}

func (l *listener) isListening() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listening
}

func (l *listener) close() {
	if l.stop != nil {
		l.stop()
	}
	l.running.Wait()
	if l.firstConn != nil { // start was not called, or without listening
		_ = l.firstConn.Close(context.Background())
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
