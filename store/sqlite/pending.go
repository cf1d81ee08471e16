package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// pendingWork is what one ApplyTx has written in a transaction of its caller, until the store knows
// whether the transaction was committed.
//
// Each ApplyTx writes a mark into one row of the file and remembers the mark that it has replaced. So
// the mark that readers see tells what was committed: its work, the work whose mark it has replaced, and
// so on. Work that was rolled back, with its transaction or to an earlier savepoint, is not in this
// chain.
type pendingWork struct {
	tx             *sql.Tx
	mark, previous string
	wake           bool // wake workers after the commit
	events         [][]rota.Event
	result         *rota.PendingTx
}

// pendingTxs finds out what became of the work of ApplyTx, because database/sql reports no commits. A
// goroutine looks while there is such work.
type pendingTxs struct {
	store *Store
	count atomic.Int32 // length of the list

	// order is held from a commit until its events are published, so that the events of all commits
	// are published in their order.
	order sync.Mutex

	mu       sync.Mutex
	list     []*pendingWork // in the order of ApplyTx
	looking  bool           // the goroutine runs
	closed   bool
	finished sync.WaitGroup // the goroutine

	conn *sqlite.Conn // of the goroutine; opened by its first look
}

// add adds the work of a call. It returns work that has ended if nothing was written.
func (p *pendingTxs) add(w *callerWriter) *rota.PendingTx {
	result := rota.NewPendingTx()
	if w.mark == "" {
		result.End(true)
		return result
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		result.End(false)
		return result
	}
	p.list = append(p.list, &pendingWork{
		tx: w.caller.tx, mark: w.mark, previous: w.previous, wake: w.wakeup.Needed(), events: w.events, result: result,
	})
	p.count.Store(int32(len(p.list)))
	if !p.looking {
		p.looking = true
		p.finished.Add(1)
		go p.look()
	}
	return result
}

// any reports whether there may be work whose transaction is not settled.
func (p *pendingTxs) any() bool { return p.count.Load() > 0 }

// over returns how many works, from the first on, belong to transactions that are over. SQLite has one
// writer, so only the last transaction can be open.
func (p *pendingTxs) over() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.list)
	for n > 0 && p.list[n-1].tx == p.list[len(p.list)-1].tx {
		n--
	}
	return n
}

// settle ends the work whose fate is known, and publishes what was committed. mark is the committed mark,
// read after the first works were over. The caller holds order.
func (p *pendingTxs) settle(mark string, over int) {
	p.mu.Lock()
	committed := make([]bool, len(p.list))
	for i := len(p.list) - 1; i >= 0; i-- {
		if p.list[i].mark == mark {
			committed[i], mark, over = true, p.list[i].previous, max(over, i+1)
		}
	}
	settled := p.list[:over:over]
	p.list = p.list[over:]
	p.count.Store(int32(len(p.list)))
	p.mu.Unlock()
	for i, work := range settled {
		if committed[i] {
			p.publish(work)
		}
		work.result.End(committed[i])
	}
}

func (p *pendingTxs) publish(work *pendingWork) {
	for _, events := range work.events {
		p.store.watch.Publish(events)
	}
	if work.wake {
		p.store.wake.WakeAll()
	}
}

// settleBefore settles all work before the writer commits a transaction that it has begun: it holds the
// write lock, so every transaction of a caller is over.
func (p *pendingTxs) settleBefore(w *writer) error {
	if !p.any() {
		return nil
	}
	p.order.Lock()
	defer p.order.Unlock()
	return p.settleAll(w)
}

func (p *pendingTxs) settleAll(w *writer) error {
	p.mu.Lock()
	over := len(p.list)
	p.mu.Unlock()
	mark, err := committedMark(w.conn)
	if err == nil {
		p.settle(mark, over)
	}
	return err
}

// settleIfUnlocked settles all work if the write lock is free. It does not wait, neither for the lock
// nor for a batch that uses the writer, which settles the work itself.
func (p *pendingTxs) settleIfUnlocked() {
	select {
	case w := <-p.store.writer:
		defer p.store.release(w)
		if w.exec(sqlBegin) == nil {
			_ = p.settleAll(w)
			_ = w.exec(sqlRollback)
		}
	default:
	}
}

// close settles what is known and ends the rest as not committed. The caller holds the writer.
func (p *pendingTxs) close(w *writer) (err error) {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.finished.Wait()
	if p.conn != nil {
		err = p.conn.Close()
	}
	p.order.Lock()
	defer p.order.Unlock()
	if p.any() {
		_ = p.settleAll(w)
	}
	return err
}

// How often the goroutine looks. Whether a *sql.Tx has ended costs no statement; after that, the commit
// follows within the time of a sync. The longer a state lasts, the rarer are the looks.
const (
	lookMin   = 100 * time.Microsecond
	lookMax   = 25 * time.Millisecond
	lookShare = 16               // part of the time that a state has lasted
	lockMin   = time.Millisecond // before the write lock is tried, after the *sql.Tx has ended
	lockOpen  = time.Second      // before the write lock is tried while the *sql.Tx is open: SQLite may have ended its transaction
)

// look settles work until there is none, or until the store is closed.
func (p *pendingTxs) look() {
	defer p.finished.Done()
	var (
		watched *sql.Tx   // transaction of the last work
		since   time.Time // when it came or ended
		ended   bool
		tried   time.Time // last time the write lock was tried
		read    time.Time // last time the mark was read
	)
	for {
		tx, more := p.last()
		if !more {
			return
		}
		now := time.Now()
		if over := isOver(tx); tx != watched || over != ended {
			watched, ended, since, tried = tx, over, now, now
		}
		if ended || p.over() > 0 || now.Sub(read) >= lookMax {
			read = now
			p.lookOnce()
		}
		if wait := lockWait(ended, tried.Sub(since)); now.Sub(tried) >= wait && p.any() {
			tried = now
			p.order.Lock()
			p.settleIfUnlocked()
			p.order.Unlock()
		}
		select {
		case <-time.After(min(max(now.Sub(since)/lookShare, lookMin), lookMax)):
		case <-p.store.closed:
		}
	}
}

// lockWait returns how long after the last attempt the write lock is tried again.
func lockWait(ended bool, tried time.Duration) time.Duration {
	if !ended {
		return lockOpen
	}
	return min(max(tried, lockMin), lookMax)
}

// last returns the transaction of the last work. Without work the goroutine ends.
func (p *pendingTxs) last() (tx *sql.Tx, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.list) == 0 {
		p.looking = false
		return nil, false
	}
	return p.list[len(p.list)-1].tx, true
}

// isOver reports whether Commit or Rollback was called. A statement of no database is refused before any
// statement is executed, and the error of a transaction that is over comes first.
func isOver(tx *sql.Tx) bool { return errors.Is(tx.Stmt(&sql.Stmt{}).Close(), sql.ErrTxDone) }

// lookOnce settles what the committed mark tells.
func (p *pendingTxs) lookOnce() {
	p.order.Lock()
	defer p.order.Unlock()
	if p.conn == nil {
		conn, err := p.store.openReader(context.Background())
		if err != nil {
			return // the next look tries again
		}
		p.conn = conn
	}
	over := p.over()
	if mark, err := committedMark(p.conn); err == nil {
		p.settle(mark, over)
	}
}

const sqlTxMark = `
SELECT value
FROM rota_meta
WHERE key = '` + metaTxMark + `'`

// committedMark returns the mark of the last ApplyTx whose transaction was committed.
func committedMark(conn *sqlite.Conn) (mark string, err error) {
	err = query(conn, sqlTxMark, func(r storekit.Row) error {
		mark = r.Text(0)
		return nil
	})
	return mark, err
}
