package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// Replica is a rota.Replica in one SQLite file. The log is durable, so its commits are not synced.
type Replica struct {
	*Store
	applied atomic.Pointer[rota.LogPosition]
}

var _ rota.Replica = (*Replica)(nil)

// OpenReplica opens a replica, and creates the file if it does not exist. It refuses a store that is no
// replica, because its rows do not come from the log.
func OpenReplica(path string, config Config) (*Replica, error) {
	config.replica = true
	catchUp := config.CatchUp
	config.CatchUp = nil // the log cannot apply its entries before the replica is open
	s, err := OpenWith(path, config)
	if err != nil {
		return nil, err
	}
	s.config.CatchUp = catchUp
	r := &Replica{Store: s}
	w := <-s.writer
	position := w.replica.LogPosition // a copy: Applied reads it while entries are applied
	r.applied.Store(&position)
	if !config.ReadOnly {
		w.track = config.Track
		err = w.openTracking()
	}
	s.writer <- w
	if err != nil {
		_ = s.Close()
		return nil, fault("open replica", err)
	}
	return r, nil
}

// replicaState is the position of a replica, as stored in its file.
type replicaState struct {
	rota.LogPosition
	done   int      // commands of the next entry that were applied; it was applied in several transactions
	digest [32]byte // of all results, those of the done commands included
}

// metaReplica is the key of the stored state. Only replicas have it.
const metaReplica = "replica"

func (m *replicaState) encode() string {
	return fmt.Sprintf("%d %d %d %x %x %s", m.Index, m.done, m.Now.UnixMicro(), m.Digest, m.digest, m.Log)
}

// decodeReplicaState accepts nothing but what encode returns: a position that someone has changed must not
// be taken for another one.
func decodeReplicaState(text string) (m replicaState, err error) {
	parts := strings.SplitN(text, " ", 6)
	if len(parts) != 6 {
		return m, errReplicaState(text)
	}
	m.Index, _ = strconv.ParseUint(parts[0], 10, 64)
	m.done, _ = strconv.Atoi(parts[1])
	now, _ := strconv.ParseInt(parts[2], 10, 64)
	digest, _ := hex.DecodeString(parts[3])
	running, _ := hex.DecodeString(parts[4])
	copy(m.Digest[:], digest)
	copy(m.digest[:], running)
	m.Now, m.Log = time.UnixMicro(now).UTC(), parts[5]
	if m.encode() != text || m.done < 0 || m.Log == "" && (m.Index > 0 || m.done > 0) {
		return m, errReplicaState(text)
	}
	return m, nil
}

func errReplicaState(text string) error {
	return &rota.Error{
		Code: rota.Internal, Act: "sqlite: open replica", Reason: fmt.Sprintf("the position in the log cannot be read: %q", text),
		Hint: "stop this process and delete the file; the next start fills it from the log",
	}
}

// hasRowsSQL returns the query whether a store has rows. One whose audit was pruned may have few of them.
func hasRowsSQL() string {
	parts := []string{"EXISTS (SELECT 1 FROM rota_audit_anchor WHERE seq > 0)"}
	for _, table := range storekit.RowTables {
		if !table.Preset {
			parts = append(parts, "EXISTS (SELECT 1 FROM "+table.Name+")")
		}
	}
	return "SELECT " + strings.Join(parts, "\nOR ")
}

// openReplica reads the state of a replica, or creates it in an empty store.
func (w *writer) openReplica() error {
	text, err := w.meta(metaReplica)
	if err != nil {
		return err
	}
	if text != "" {
		state, err := decodeReplicaState(text)
		w.replica = &state
		return err
	}
	hasRows := false
	err = query(w.conn, hasRowsSQL(), func(r storekit.Row) error {
		hasRows = r.Bool(0)
		return nil
	})
	if err == nil && hasRows {
		err = &rota.Error{
			Code: rota.Conflict, Act: "sqlite: open replica", Reason: "the file holds a store that is no replica of a log",
			Hint: "give the replica a directory of its own, or copy the jobs with rota copy",
		}
	}
	if err != nil {
		return err
	}
	w.replica = &replicaState{LogPosition: rota.LogPosition{Now: time.UnixMicro(0).UTC()}}
	return w.setMeta(metaReplica, w.replica.encode())
}

// ApplyAt applies the next entry of the log. A batch that a constraint refuses is split as in Apply; the
// transaction of each part stores how far the entry is applied.
func (r *Replica) ApplyAt(ctx context.Context, e rota.LogEntry) ([]rota.Result, error) {
	w, err := r.acquireToWrite(ctx, "apply")
	if err != nil {
		return nil, err
	}
	defer r.release(w)
	if err := w.replica.accepts(&e); err != nil {
		return nil, err
	}
	step := &entryStep{entry: &e, next: *w.replica}
	step.next.Log = e.Log
	skipped := step.next.done
	w.entry, w.clock = step, rules.Reading{}
	defer func() { w.entry = nil }()
	rest := rota.Batch{Now: e.Batch.Now, Commands: e.Batch.Commands[skipped:]}
	results, err := storekit.ApplyHalves(rest, isConstraint, func(part rota.Batch) ([]rota.Result, error) {
		return w.applyPart(ctx, step, part)
	})
	if err == nil {
		err = w.finishEntry(ctx)
	}
	if w.wakeup.Needed() {
		r.wake.WakeAll()
	}
	w.wakeup = rules.Wakeup{}
	position := w.replica.LogPosition
	r.applied.Store(&position)
	if err != nil {
		return nil, err
	}
	return append(lostResults(skipped), results...), nil
}

// acquireToWrite refuses a replica that is open for reading.
func (r *Replica) acquireToWrite(ctx context.Context, act string) (*writer, error) {
	if r.config.ReadOnly {
		return nil, &rota.Error{
			Code: rota.Conflict, Act: "sqlite: " + act, Reason: "the replica is open read-only",
			Hint: "open it without ReadOnly to change it",
		}
	}
	return r.acquire(ctx)
}

// lostResults are the results of commands that an earlier call applied.
func lostResults(n int) []rota.Result {
	lost := make([]rota.Result, n)
	for i := range lost {
		lost[i].Err = rota.Errorf(rota.Unavailable, "apply", "the command was applied before a restart, and its answer was lost; send it again")
	}
	return lost
}

// accepts refuses an entry that is not the next one.
func (m *replicaState) accepts(e *rota.LogEntry) error {
	switch {
	case e.Log == "":
		return rota.Errorf(rota.Internal, "apply", "entry %d names no log", e.Index)
	case m.Log != "" && m.Log != e.Log:
		return rota.Errorf(rota.Conflict, "apply", "the replica holds the log %s, and the entry is of %s", m.Log, e.Log)
	case e.Index != m.Index+1:
		return rota.Errorf(rota.Conflict, "apply", "the replica has applied entry %d, and got entry %d", m.Index, e.Index)
	case e.Batch.Now.IsZero():
		return rota.Errorf(rota.Internal, "apply", "entry %d has no time", e.Index)
	case m.done > len(e.Batch.Commands):
		return rota.Errorf(rota.Conflict, "apply", "entry %d has fewer commands than were applied of it", e.Index)
	}
	return nil
}

// entryStep is the work on one entry.
type entryStep struct {
	entry *rota.LogEntry
	next  replicaState // after the current transaction
}

// applyPart applies some of the commands of an entry in one transaction. A single command that a
// constraint refuses counts as applied by the next transaction.
func (w *writer) applyPart(ctx context.Context, step *entryStep, part rota.Batch) ([]rota.Result, error) {
	before := step.next
	results, err := w.apply(ctx, part)
	if err == nil {
		return results, nil
	}
	step.next = before
	if isConstraint(err) && len(part.Commands) == 1 {
		return nil, firstOf(err, step.add([]rota.Result{{Err: err.(*rota.Error)}}))
	}
	return nil, err
}

// firstOf returns the second error, or else the first.
func firstOf(err, severe error) error {
	if severe != nil {
		return severe
	}
	return err
}

// add adds results to the digest.
func (s *entryStep) add(results []rota.Result) error {
	for i := range results {
		encoded, err := codec.AppendResult(nil, digested(results[i]))
		if err != nil {
			return fmt.Errorf("digest of entry %d: %w", s.entry.Index, err)
		}
		hash := sha256.New()
		hash.Write(s.next.digest[:])
		hash.Write(encoded)
		hash.Sum(s.next.digest[:0])
	}
	s.next.done += len(results)
	return nil
}

// digested is the part of a result that is equal in all replicas. The texts of errors may differ between
// two versions of the program.
func digested(r rota.Result) rota.Result {
	if r.Err != nil {
		r.Err = &rota.Error{Code: r.Err.Code, Field: r.Err.Field}
	}
	return r
}

// storePosition stores the position within the transaction of some results.
func (w *writer) storePosition(results []rota.Result) error {
	step := w.entry
	if step == nil {
		return nil
	}
	if err := step.add(results); err != nil {
		return err
	}
	if step.next.done == len(step.entry.Batch.Commands) && step.entry.Prune == nil {
		step.complete()
	}
	return w.setPosition(&step.next)
}

// complete moves the position behind the entry.
func (s *entryStep) complete() {
	s.next.Index, s.next.done, s.next.Digest = s.entry.Index, 0, s.next.digest
	if s.entry.Stamped && s.entry.Batch.Now.After(s.next.Now) {
		s.next.Now = s.entry.Batch.Now.UTC().Truncate(time.Microsecond)
	}
}

const sqlSetReplica = `
UPDATE rota_meta
SET value = $1
WHERE key = '` + metaReplica + `'`

// setPosition fails without the row of the position: the entry would be applied again after a restart.
func (w *writer) setPosition(m *replicaState) error {
	err := w.change(sqlSetReplica, m.encode())
	if err == nil && w.changed() != 1 {
		err = errReplicaState("")
	}
	return err
}

// positionStored notes that the transaction with the position was committed.
func (w *writer) positionStored() {
	if w.entry != nil {
		*w.replica = w.entry.next
	}
}

// finishEntry prunes the audit, and stores the position behind an entry whose last commands were refused, or
// which has none.
func (w *writer) finishEntry(ctx context.Context) error {
	if w.replica.Index == w.entry.entry.Index {
		return nil
	}
	w.entry.complete()
	err := w.storeFinished(ctx, w.entry.entry.Prune)
	if isTampering(err) {
		err = w.storeFinished(ctx, nil)
	}
	if err == nil {
		w.positionStored()
	}
	return err
}

func (w *writer) storeFinished(ctx context.Context, prune *rota.AuditPrune) error {
	return fault("apply", w.inTransaction(ctx, func() error {
		return firstError(
			func() error { return w.pruneTo(prune) },
			func() error { return w.setPosition(&w.entry.next) },
		)
	}))
}

// errChanges is the error of Write in a batch that is not to be written.
var errChanges = errors.New("the batch changes rows")

// Try decides a batch up to its first change.
func (r *Replica) Try(ctx context.Context, b rota.Batch) (results []rota.Result, changes bool, err error) {
	if b.Now.IsZero() {
		return nil, false, rota.Errorf(rota.Internal, "try", "the batch has no time")
	}
	w, err := r.acquireToWrite(ctx, "try")
	if err != nil {
		return nil, false, err
	}
	defer r.release(w)
	w.trying, w.clock = true, rules.Reading{}
	defer func() { w.trying = false }()
	results, err = w.apply(ctx, b)
	w.wakeup = rules.Wakeup{}
	if errors.Is(err, errChanges) {
		return nil, true, nil
	}
	return results, false, err
}

// Preview returns the results that a batch would have as the next entry, and the jobs that it would create. It
// applies nothing.
func (r *Replica) Preview(ctx context.Context, b rota.Batch) (results []rota.Result, created []*rota.Job, err error) {
	w, err := r.acquireToWrite(ctx, "preview")
	if err != nil {
		return nil, nil, err
	}
	defer r.release(w)
	w.preview, w.clock = true, rules.Reading{}
	defer func() { w.preview, w.created = false, nil }()
	results, err = w.apply(ctx, b)
	w.wakeup = rules.Wakeup{}
	return results, w.created, err
}

// Applied returns the position of the last entry that was applied.
func (r *Replica) Applied() rota.LogPosition { return *r.applied.Load() }

// Apply refuses a batch: the log orders all commands.
func (r *Replica) Apply(context.Context, rota.Batch) ([]rota.Result, error) {
	return nil, errReplicaWrite("apply")
}

// ApplyTx refuses a batch, as Apply does.
func (r *Replica) ApplyTx(context.Context, any, rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	return nil, nil, errReplicaWrite("apply in a transaction")
}

// SealAudit does nothing, because every entry is sealed when it is written.
func (r *Replica) SealAudit(ctx context.Context, _ int) (int, error) { return 0, ctx.Err() }

// PruneAudit refuses to remove entries: an entry of the log does it in all replicas.
func (r *Replica) PruneAudit(context.Context, time.Time, int, rota.AnchorSigner) (int, error) {
	return 0, errReplicaWrite("prune audit")
}

func errReplicaWrite(act string) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Act: "sqlite: " + act, Reason: "the file is a replica, which only the entries of its log change",
		Hint: "send the command to the store that has the log",
	}
}

// checkNoReplica refuses to open a replica as a store of its own.
func checkNoReplica(conn *sqlite.Conn) error {
	exists := false
	err := query(conn, sqlHasMeta, func(r storekit.Row) error {
		exists = r.Int(0) > 0
		return nil
	})
	if err != nil || !exists {
		return err
	}
	text, err := getMeta(conn, metaReplica)
	if err != nil || text == "" {
		return err
	}
	return &rota.Error{
		Code: rota.Conflict, Act: "sqlite: open", Reason: "the file is the replica of a store with a log, and a change of it would be lost",
		Hint: "open that store, or this file with ReadOnly to look at it",
	}
}
