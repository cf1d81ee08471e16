package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The work of a caller's transaction takes effect when the caller commits, and the store is not
// notified of that. So it asks PostgreSQL for the state of the transaction that has written a row
// of the work. That is the one of the savepoint: a rollback to an earlier savepoint of the caller
// ends it, even if the caller commits the rest. After a commit the store wakes claims, publishes
// the events and notifies the other processes once. If the process dies before, the polling of the
// others finds the jobs.
//
// The questions go over a connection of their own, because all connections of the pool may wait for
// rows that these transactions have locked. It is opened for the first question and kept.

// pendingTxs are the transactions of callers whose end is not known.
type pendingTxs struct {
	store  *Store
	config *pgx.ConnConfig
	conn   *pgx.Conn // used by the loop alone

	mu      sync.Mutex
	list    []*pendingWork // in the order of their writes
	lastAdd time.Time
	gap     time.Duration // average time between two transactions
	looping bool
	closed  bool
	loops   sync.WaitGroup
}

// pendingWork is what one ApplyTx has written.
type pendingWork struct {
	result  *rota.PendingTx
	writer  *writer        // events and wake-ups for after the commit
	turn    *orderedCommit // has later transactions with the same jobs publish afterwards
	xid     int64          // id of the transaction, with its epoch; 0: nothing was written
	began   time.Time
	checkAt time.Time
}

const (
	pendingCheckMin   = 200 * time.Microsecond  // shortest time between two questions
	pendingCheckBusy  = 2 * time.Millisecond    // the same while transactions follow each other closely
	pendingBusyGap    = 1200 * time.Microsecond // average time between two transactions that is close
	pendingGapShare   = 8                       // part of the average that the last one has
	pendingCheckMax   = 25 * time.Millisecond   // longest time between two questions
	pendingCheckShare = 8                       // part of its age after which a transaction is asked about again
	pendingAskMax     = 5 * time.Second         // time limit of a question
	pendingRetryAfter = 100 * time.Millisecond  // after a question without an answer
)

func (p *pendingTxs) open(s *Store, config *pgx.ConnConfig) { p.store, p.config = s, config.Copy() }

// add adds the work of an ApplyTx. If nothing was written it has ended already.
func (p *pendingTxs) add(w *pendingWork) *rota.PendingTx {
	if w.xid == 0 {
		w.result.End(true)
		return w.result
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.result.End(false)
		return w.result
	}
	w.turn = p.store.commitOrder.enter(touchedRows{jobs: w.writer.touched.jobs})
	w.began = time.Now()
	w.checkAt = w.began.Add(pendingCheckMin)
	p.list = append(p.list, w)
	p.gap += (min(w.began.Sub(p.lastAdd), pendingCheckMax) - p.gap) / pendingGapShare
	p.lastAdd = w.began
	if !p.looping {
		p.looping = true
		p.loops.Go(p.loop)
	}
	return w.result
}

// loop asks about the transactions until none is left.
func (p *pendingTxs) loop() {
	for {
		wait, any := p.untilNext()
		if !any {
			return
		}
		select {
		case <-time.After(wait):
		case <-p.store.closed:
			p.ask()
			p.giveUp()
			return
		}
		if err := p.ask(); err != nil {
			p.disconnect()
			p.passTurns()
			sleepOr(p.store.closed, pendingRetryAfter)
		}
	}
}

// untilNext returns the time until the next question. Without transactions it ends the loop.
func (p *pendingTxs) untilNext() (wait time.Duration, any bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == 0 {
		p.looping = false
		return 0, false
	}
	first := p.list[0].checkAt
	for _, w := range p.list {
		if w.checkAt.Before(first) {
			first = w.checkAt
		}
	}
	least := pendingCheckMin
	if p.gap < pendingBusyGap {
		least = pendingCheckBusy
	}
	return max(time.Until(first), least), true
}

// sqlPending returns the state of each transaction, in their order.
const sqlPending = `
SELECT pg_xact_status(v.id::text::xid8)
FROM unnest($1) WITH ORDINALITY AS v (id, n)
ORDER BY v.n`

// ask asks for the states of all transactions, and ends the work of those that have ended.
func (p *pendingTxs) ask() error {
	list := p.pending()
	ctx, done := context.WithTimeout(context.Background(), pendingAskMax)
	defer done()
	states, err := p.states(ctx, list)
	if stateOf(err) != "" { // an id that the server does not know, as after a restore
		states, err = p.statesOneByOne(ctx, list)
	}
	if err != nil {
		return err
	}
	now := time.Now()
	for i, w := range list {
		switch states[i] {
		case xactInProgress:
			w.checkAt = now.Add(min(max(now.Sub(w.began)/pendingCheckShare, pendingCheckMin), pendingCheckMax))
		default:
			p.end(w, states[i] == xactCommitted)
		}
	}
	return nil
}

// The states of transactions that pg_xact_status returns, besides aborted.
const (
	xactInProgress = "in progress"
	xactCommitted  = "committed"
)

func (p *pendingTxs) pending() []*pendingWork {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*pendingWork(nil), p.list...)
}

func (p *pendingTxs) states(ctx context.Context, list []*pendingWork) (states []string, err error) {
	if p.conn == nil {
		if p.conn, err = pgx.ConnectConfig(ctx, p.config); err != nil {
			return nil, err
		}
	}
	ids := newColumn(oidInts, len(list))
	for _, w := range list {
		ids.Int(w.xid)
	}
	c := &session{conn: p.conn.PgConn(), dialect: p.store.dialect}
	err = c.send(ctx, statement{sql: sqlPending, params: []param{ids.param()}, eachRow: func(r row) error {
		states = append(states, r.Text(0))
		return nil
	}})
	if err == nil && len(states) < len(list) {
		err = errPipeline
	}
	return states, err
}

// statesOneByOne asks for each state by itself. A transaction that the server does not know
// counts as rolled back.
func (p *pendingTxs) statesOneByOne(ctx context.Context, list []*pendingWork) (states []string, err error) {
	for _, w := range list {
		one, err := p.states(ctx, []*pendingWork{w})
		if err != nil && stateOf(err) == "" {
			return nil, err
		}
		if err != nil {
			p.store.config.Logger.Warn("PostgreSQL does not know a transaction of a caller; its jobs are found by polling if it was committed", "xid", w.xid, "error", err)
			one = []string{""}
		}
		states = append(states, one[0])
	}
	return states, nil
}

// end ends the work of a transaction that was committed or rolled back.
func (p *pendingTxs) end(w *pendingWork, committed bool) {
	p.mu.Lock()
	for i, other := range p.list {
		if other == w {
			p.list = append(p.list[:i:i], p.list[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if committed {
		p.store.afterCommit(w.writer, w.turn)
	}
	w.leaveTurn()
	w.result.End(committed)
}

// passTurns lets the transactions of the store go on that wait to publish after the pending ones:
// nobody knows when there is an answer again. It may cost the order of events.
func (p *pendingTxs) passTurns() {
	for _, w := range p.pending() {
		w.leaveTurn()
	}
}

func (w *pendingWork) leaveTurn() {
	if w.turn != nil {
		w.turn.leave()
		w.turn = nil
	}
}

// giveUp ends what is left when the store closes. Its events are lost, as those of a process that
// ends.
func (p *pendingTxs) giveUp() {
	p.mu.Lock()
	p.closed = true
	list := p.list
	p.list, p.looping = nil, false
	p.mu.Unlock()
	for _, w := range list {
		w.leaveTurn()
		w.result.End(false)
	}
}

// close ends the loop after a last question.
func (p *pendingTxs) close() {
	p.mu.Lock()
	p.closed = true // before the wait: no other loop begins
	p.mu.Unlock()
	p.loops.Wait()
	p.disconnect()
}

func (p *pendingTxs) disconnect() {
	if p.conn != nil {
		ctx, done := context.WithTimeout(context.Background(), rollbackMax)
		defer done()
		_ = p.conn.Close(ctx)
		p.conn = nil
	}
}

func sleepOr(closed <-chan struct{}, d time.Duration) {
	select {
	case <-closed:
	case <-time.After(d):
	}
}

// afterCommit does what follows the commit of a caller's transaction.
func (s *Store) afterCommit(w *writer, turn *orderedCommit) {
	if w.changesCachedRows {
		s.rowCache.clear()
	}
	if w.wakeup.Needed() {
		s.wake.WakeAll()
		s.listener.notifySoon()
	}
	if turn != nil {
		turn.wait()
	}
	s.publish(w)
}

// sqlWork returns the id of the caller's transaction, and the one of the subtransaction that has
// written a job or an audit entry.
const sqlWork = `
SELECT pg_current_xact_id()::text::bigint, coalesce(
  (SELECT xmin FROM rota_jobs WHERE id = $1),
  (SELECT xmin FROM rota_audit WHERE id = $2))`

// noteProof keeps the id of a row that the work has written.
func (c *callerState) noteProof(changes *rules.Changes) {
	c.wrote = true
	switch {
	case len(changes.NewJobs) > 0:
		c.job = changes.NewJobs[0].ID
	case len(changes.Jobs) > 0:
		c.job = changes.Jobs[0].Job.ID
	case len(changes.Audit) > 0:
		c.audit = changes.Audit[0].ID
	}
}

// readXid returns the statement that reads under which transaction id the work was written.
func (c *callerState) readXid() []statement {
	if !c.wrote {
		return nil
	}
	return []statement{{sql: sqlWork, params: []param{idParam(c.job), idParam(c.audit)}, eachRow: func(r row) error {
		c.xid = r.Int(0)
		if !r.Null(1) {
			c.xid += int64(r.xid(1) - uint32(c.xid)) // the subtransaction has begun later than the transaction
		}
		return nil
	}}}
}

// pendingWork returns the work of a transaction of the caller.
func (t *tx) pendingWork() *pendingWork {
	return &pendingWork{result: rota.NewPendingTx(), writer: &t.writer, xid: t.caller.xid}
}
