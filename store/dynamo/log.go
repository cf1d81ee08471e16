package dynamo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/sqlite"
)

// commandLog is the log in the table, as this process knows it.
type commandLog struct {
	table   *table
	options Options
	logger  *slog.Logger
	self    rota.ID // this process
	id      string  // identity of the log

	readOnly bool // nothing is appended

	lock    chan struct{} // has a value while no goroutine reads, takes or applies slots
	path    string        // of the file of the replica
	replica *sqlite.Replica
	store   *logstore.Store
	lead    leadership
	poller  *poller       // nil: the table has no items for other programs
	behind  chan struct{} // has a value while a caller has asked the background work to catch up

	// These fields are protected by lock.
	currentAt      time.Time // when the last request was sent after whose answer the replica had all slots
	keptAt         time.Time // when the slot after the replica's was last known not to be removed
	stopped        error     // why no more slots can be applied; nil: they can
	noTransactions bool      // the server has none
	size           int64     // bytes of the bodies of the log, up to the replica's slot
}

func (l *commandLog) acquire(ctx context.Context) error {
	select {
	case <-l.lock:
	default:
		select {
		case <-l.lock:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if l.stopped != nil {
		defer l.release()
		return l.stopped
	}
	return nil
}

func (l *commandLog) release() { l.lock <- struct{}{} }

// Now returns the time of the service, but never one before the last slot.
func (l *commandLog) Now(ctx context.Context) (time.Time, error) {
	now, err := l.serviceTime(ctx)
	if l.replica == nil { // of a table that rows are copied into
		return now, err
	}
	if last := l.replica.Applied().Now; err == nil && now.Before(last) {
		now = last
	}
	return now, err
}

func (l *commandLog) serviceTime(ctx context.Context) (time.Time, error) {
	return l.table.clock.within(ctx, l.options.Skew, func(ctx context.Context) error {
		_, err := l.table.get(ctx, "read clock", metaKey())
		return err
	})
}

// readClock is the clock of reads. It does not ask the service.
func (l *commandLog) readClock() time.Time {
	now, _, known := l.table.clock.read()
	if !known {
		now = time.Now().UTC()
	}
	if l.replica != nil {
		if last := l.replica.Applied().Now; now.Before(last) {
			now = last
		}
	}
	return now
}

// Commit takes the next slot for an entry. If another process takes it first, it applies that slot and tries
// the one after it.
func (l *commandLog) Commit(ctx context.Context, e logstore.Entry) (results []rota.Result, err error) {
	if l.readOnly {
		return nil, errReadOnly("append")
	}
	if err := l.acquire(ctx); err != nil {
		return nil, err
	}
	defer l.release()
	if passed(l.keptAt) > silenceMax {
		if err := l.catchUpLocked(ctx); err != nil {
			return nil, err
		}
	}
	p := newProposal(e)
	for {
		results, err = l.append(ctx, p)
		if !errors.Is(err, errRecordAlone) {
			return results, err
		}
		if err := l.waitUnlocked(ctx, keyWait); err != nil {
			return nil, err
		}
	}
}

// waitUnlocked waits while others may use the log.
func (l *commandLog) waitUnlocked(ctx context.Context, d time.Duration) error {
	l.release()
	err := sleep(ctx, d)
	<-l.lock
	return firstError(err, l.stopped)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// appendAdopted appends an entry that enqueues items of other programs. The caller holds the lock.
func (l *commandLog) appendAdopted(ctx context.Context, e logstore.Entry) ([]rota.Result, error) {
	p := newProposal(e)
	p.adopts = true
	return l.append(ctx, p)
}

// append appends an entry. The caller holds the lock.
func (l *commandLog) append(ctx context.Context, p *proposal) (results []rota.Result, err error) {
	for lost := 0; ; lost++ {
		s, err := l.propose(ctx, p)
		if err != nil {
			return nil, err
		}
		if p.isEmpty() {
			l.removeBody(ctx, p)
			return p.answers(nil), nil
		}
		there, err := l.take(ctx, s, p)
		if errors.Is(err, errKeysChanged) {
			l.unclaim(ctx, p)
			if err = firstError(sleep(ctx, lossWait(lost)), l.readSlots(ctx)); err == nil {
				continue
			}
		}
		if errors.Is(err, errBehind) {
			if err = l.fill(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		own := there.proposal == s.proposal
		if own {
			there.body = p.body
		} else {
			l.unclaim(ctx, p)
		}
		if results, err = l.applySlot(ctx, &there, own); err != nil {
			return nil, err
		}
		if own {
			return p.answers(results), nil
		}
		if results, settled, err := l.afterLoss(ctx, p.entry, lost); err != nil || settled {
			l.removeBody(ctx, p)
			return results, err
		}
	}
}

// afterLoss applies what others have appended in the meantime. If the entry changes nothing any more, it need not be appended.
func (l *commandLog) afterLoss(ctx context.Context, e *logstore.Entry, lost int) (results []rota.Result, settled bool, err error) {
	if lost > 0 { // a random wait, so that several processes do not collide again and again
		if err := sleep(ctx, lossWait(lost)); err != nil {
			return nil, false, err
		}
		if err := l.readSlots(ctx); err != nil {
			return nil, false, err
		}
	}
	if e.Unchanged == nil {
		return nil, false, nil
	}
	return e.Unchanged(ctx)
}

// CatchUp applies all slots that were taken before the call. Of several callers at the same time one reads.
func (l *commandLog) CatchUp(ctx context.Context) error {
	called := time.Now()
	if err := l.acquire(ctx); err != nil {
		return err
	}
	defer l.release()
	if !l.currentAt.Before(called) {
		return nil
	}
	return l.catchUpLocked(ctx)
}

// catchUpLocked reads the slots. After a silence it first checks that the next one was not removed.
func (l *commandLog) catchUpLocked(ctx context.Context) error {
	if _, err := l.fillIfRemoved(ctx); err != nil {
		return err
	}
	return l.readSlots(ctx)
}

// fillIfRemoved fills the replica if the slot after it was removed, or may be removed soon. A process that has
// had news of the log within silenceMax need not ask, because a slot is kept for days after the log begins behind it.
func (l *commandLog) fillIfRemoved(ctx context.Context) (filled bool, err error) {
	if passed(l.keptAt) <= silenceMax {
		return false, nil
	}
	asked := time.Now()
	m, err := l.readMeta(ctx)
	if err == nil {
		err = l.checkLog(m)
	}
	if err != nil {
		return false, err
	}
	if m.begin > l.replica.Applied().Index+1 {
		return true, l.fill(ctx)
	}
	l.keptAt = asked
	return false, nil
}

// setCurrent notes that the replica had all slots, and that the one after it was not removed.
func (l *commandLog) setCurrent(at time.Time) {
	l.currentAt = at
	if l.keptAt.Before(at) {
		l.keptAt = at
	}
}

// checkLog stops the replica if the table has another log now.
func (l *commandLog) checkLog(m meta) error {
	if m.log == l.id {
		return nil
	}
	return l.stop(&rota.Error{
		Code: rota.Conflict, Act: "dynamodb: read log", Reason: fmt.Sprintf("the table %s was replaced while this process ran", l.table.name),
		Hint: "restart this process",
	})
}

// slotsAtOnce is how many slots one request reads.
const slotsAtOnce = 16

// readSlots applies the next slots until there is none.
func (l *commandLog) readSlots(ctx context.Context) error {
	for {
		current, err := l.readNext(ctx)
		if errors.Is(err, errNoChunk) { // it may have been removed before its slot
			l.keptAt = time.Time{}
			if filled, fillErr := l.fillIfRemoved(ctx); filled || fillErr != nil {
				err = fillErr
			}
		}
		if err != nil || current {
			return err
		}
	}
}

// readNext applies some of the next slots. It reports whether there is none. A slot that is missing may have been
// removed while this process slept, so it believes that only if it knows where the log begins.
func (l *commandLog) readNext(ctx context.Context) (current bool, err error) {
	next := l.replica.Applied().Index + 1
	asked := time.Now()
	first, err := l.table.get(ctx, "read log", slotKey(next))
	if err != nil {
		return false, err
	}
	if first == nil {
		filled, err := l.fillIfRemoved(ctx)
		if err != nil || filled {
			return false, err
		}
		l.setCurrent(asked)
		return true, nil
	}
	if err := l.applyItem(ctx, next, first); err != nil {
		return false, err
	}
	return false, l.readPages(ctx, next+1)
}

// readPages applies slots from one on until a request returns fewer than it has asked for.
func (l *commandLog) readPages(ctx context.Context, next uint64) error {
	for {
		keys := make([]item, slotsAtOnce)
		for n := range keys {
			keys[n] = slotKey(next + uint64(n))
		}
		found, err := l.table.getMany(ctx, "read log", keys)
		if err != nil {
			return err
		}
		for _, i := range found {
			if err := l.applyItem(ctx, next, i); err != nil {
				return err
			}
			next++
		}
		if len(found) < slotsAtOnce {
			return nil
		}
	}
}

func (l *commandLog) applyItem(ctx context.Context, index uint64, i item) error {
	s, err := readSlot(index, i)
	if err != nil {
		return l.stop(err)
	}
	_, err = l.applySlot(ctx, &s, s.process == l.self)
	return err
}

// applySlot has the replica apply a slot. It decodes the entry even if this process has appended it, so that
// all replicas apply the same: the encoding truncates times.
func (l *commandLog) applySlot(ctx context.Context, s *slot, own bool) ([]rota.Result, error) {
	if err := l.checkSlot(s); err != nil {
		return nil, l.stop(err)
	}
	if s.body == nil {
		body, err := l.table.getChunks(ctx, s.proposal.String(), s.chunks)
		if err != nil {
			return nil, err
		}
		s.body = body
	}
	e, err := logstore.DecodeEntry(s.body)
	if err != nil {
		return nil, l.stop(&rota.Error{
			Code: rota.Conflict, Act: "dynamodb: read log", Reason: fmt.Sprintf("the slot %d has an entry that this program does not know", s.index), Err: err,
			Hint: "upgrade this program",
		})
	}
	// The end of the context of one caller must not end the work for all of them.
	results, err := l.store.ApplyEntry(context.WithoutCancel(ctx), rota.LogEntry{Log: l.id, Index: s.index}, s.now, &e, own)
	if code := rota.CodeOf(err); err != nil && code != rota.Unavailable && code != rota.Busy {
		err = l.stop(err)
	}
	if err == nil {
		l.size = s.size
	}
	return results, err
}

// checkSlot refuses a slot that this replica must not apply.
func (l *commandLog) checkSlot(s *slot) error {
	if s.rules > rota.RulesVersion {
		return &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: read log", Reason: fmt.Sprintf("the slot %d needs version %d of the rules, and this program has %d", s.index, s.rules, rota.RulesVersion),
			Hint: "upgrade this program",
		}
	}
	if position := l.replica.Applied(); !bytes.Equal(s.digest, position.Digest[:]) {
		return &rota.Error{
			Code: rota.Internal, Act: "dynamodb: read log", Reason: fmt.Sprintf("the replica of this process differs from that of process %s before slot %d", s.process, s.index),
			Hint: "stop this process and delete its replica, which the next start fills again; please report it",
		}
	}
	return nil
}

// stop keeps an error: no more slots are applied until the next start.
func (l *commandLog) stop(err error) error {
	if l.stopped == nil && rota.CodeOf(err) != rota.Unavailable {
		l.stopped = err
		l.logger.Error("the replica has stopped", "error", err)
	}
	return err
}
