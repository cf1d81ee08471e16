package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
)

const (
	selfTestMax       = 2 * time.Second        // how long a notification may take that is to be relied on
	notifyGap         = 5 * time.Millisecond   // between two that are sent
	pollEvery         = 200 * time.Millisecond // how often is looked for what others have done, where nobody tells
	fallbackPollEvery = 5 * time.Second        // the same where they do: a hint may get lost
	reconnectAfter    = time.Second            // after a connection was lost
	notifyLastMax     = time.Second            // for a hint when the store is closed
)

// listener tells other processes that something has become ready, and hears it
// from them. It is a hint: NOTIFY takes a lock that all who notify share, so it
// comes after the commit, in a transaction of its own, and not for each. The first
// after a pause goes with the commit that it tells of.
type listener struct {
	store   *Store
	config  *pgx.ConnConfig
	channel string
	name    string // of this process, so that it does not hear itself

	pending   chan struct{} // something is to be told
	firstConn *pgx.Conn     // that the self-test left listening
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu           sync.Mutex
	listening    bool
	lastNotified time.Time // when the others were told
}

func newListener(s *Store, config *pgx.ConnConfig) *listener {
	return &listener{store: s, config: config.Copy(), channel: s.config.Schema + "_ready", name: rota.NewID().String(), pending: make(chan struct{}, 1)}
}

// selfTest says whether what one connection tells reaches another.
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
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.channel}.Sanitize()); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// A hint need not outlast a crash, so it waits for no disk.
const sqlNotify = `
SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`

func (l *listener) notify(ctx context.Context) error {
	return l.store.query(ctx, "notify", l.notifyStatement())
}

func (l *listener) notifyStatement() statement {
	return statement{sql: sqlNotify, params: []param{textNotNull(l.channel), textNotNull(l.name)}}
}

// beginNotify says whether nobody was told for a while, and that now they are.
func (l *listener) beginNotify() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.lastNotified) < notifyGap {
		return false
	}
	l.lastNotified = time.Now()
	return true
}

// undoNotify says that the others were not told after all.
func (l *listener) undoNotify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastNotified = time.Time{}
}

// untilNextNotify is how long to wait until the others may be told again.
func (l *listener) untilNextNotify() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return notifyGap - time.Since(l.lastNotified)
}

// start listens and tells until it is closed, where that is of use, and looks for
// itself in any case.
func (l *listener) start(listens bool) {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	every := pollEvery
	if listens {
		every = fallbackPollEvery
		l.running.Go(func() { l.listenLoop(ctx) })
		l.running.Go(func() { l.notifyLoop(ctx) })
	}
	l.running.Go(func() { l.poll(ctx, every) })
}

// poll has those who wait look for themselves.
func (l *listener) poll(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		sleep(ctx, every)
		l.store.wake.WakeAll()
	}
}

// notifySoon has the others told, soon.
func (l *listener) notifySoon() {
	select {
	case l.pending <- struct{}{}:
	default:
	}
}

// notifyLoop tells others until it is closed, and then what is left to tell.
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
		_ = l.notify(ctx) // who hears nothing looks for itself
		if ctx.Err() != nil {
			l.notifyLast()
			return
		}
	}
}

// notifyLast tells others when the store takes on nothing more.
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

// listenLoop wakes those who wait whenever somebody tells. After a connection was
// lost something may have been told that nobody heard.
func (l *listener) listenLoop(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := l.firstConn, error(nil)
		if l.firstConn = nil; conn == nil {
			conn, err = l.listen(ctx)
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
			if notification.Payload != l.name {
				l.store.wake.WakeAll()
			}
		}
		l.setListening(false)
		_ = conn.Close(context.Background())
	}
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
	if l.firstConn != nil { // nobody was to listen
		_ = l.firstConn.Close(context.Background())
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
