package dynamo

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/sqlite"
)

// layout writes the items of executions after the log. The replica notes which executions have changed; the
// leader writes the newest state of each, oldest change first, and settles the notes. Others settle what the
// leader has written.
type layout struct {
	log       *commandLog
	retention rota.Retention

	applied  []appliedAt     // when the replica had which entries, from the oldest that is not written on
	lagSince atomic.Int64    // since when the oldest change that is not written is in the replica, in microseconds; 0: all is written
	written  map[rota.ID]int // the attempts that the items of executions show, as far as this process has written them
	marked   uint64          // entry of the stored mark
	markedAt time.Time
}

// appliedAt says when a replica had applied an entry.
type appliedAt struct {
	index uint64
	at    time.Time
}

const (
	layoutEvery   = 250 * time.Millisecond // how often the leader looks for changes
	layoutPage    = 1_000                  // executions that it writes between two settlements
	layoutAtOnce  = 8                      // requests
	writesAtOnce  = 25                     // items of one request
	writtenMax    = 100_000                // executions with retries
	markEvery     = 5 * time.Second        // how often the leader stores its mark
	settleEvery   = 10 * time.Second       // how often others read it
	layoutRequest = 5 * time.Second        // an older request is not sent: another process may lead
)

func markKey() item { return key("rota#layout", "mark") }

// run writes items until the context ends.
func (y *layout) run(ctx context.Context) {
	failures := outage{logger: y.log.logger}
	settled := false // a replica that was filled has notes of items that earlier leaders have written
	for wait := layoutEvery; sleep(ctx, wait) == nil; {
		wait = layoutEvery
		var err error
		if leads := y.log.lead.leads(); leads && settled {
			err = y.write(ctx)
		} else {
			if err = y.settle(ctx); !leads {
				wait = settleEvery
			}
			settled = err == nil
		}
		if ctx.Err() != nil {
			return
		}
		failures.note(err, "the items of jobs cannot be written; they follow later", "the items of jobs are written again")
		if err != nil {
			wait = time.Second
		}
	}
}

// write writes the items of all changes that the replica has noted.
func (y *layout) write(ctx context.Context) error {
	for ctx.Err() == nil && y.log.lead.leads() {
		changed, err := y.log.replica.Changed(ctx, layoutPage)
		if err != nil {
			return err
		}
		y.noteLag(changed)
		if len(changed) == 0 {
			return y.storeMark(ctx)
		}
		if err := y.writeItems(ctx, changed); errors.Is(err, errOtherWriter) {
			return nil
		} else if err != nil {
			return err
		}
		if err := y.log.replica.Settle(ctx, changed); err != nil {
			return err
		}
	}
	return nil
}

// errOtherWriter is the error of a process that does not lead any more. Its notes stay for the mark of the next leader.
var errOtherWriter = errors.New("another process writes the items")

// itemChange is what brings the item of an execution up to date.
type itemChange struct {
	writes []types.WriteRequest
	record *recordChange // nil: its deduplication record stays as it is

	execution rota.ID
	attempt   int // that the item shows afterwards; 0: none can follow
}

// writeItems writes the items of some executions.
func (y *layout) writeItems(ctx context.Context, changed []sqlite.ChangedExecution) error {
	var writes []types.WriteRequest
	var records []*recordChange
	changes := make([]itemChange, len(changed))
	for i := range changed {
		change, err := y.change(ctx, &changed[i])
		if err != nil {
			return err
		}
		changes[i].execution, changes[i].attempt = change.execution, change.attempt
		writes = append(writes, change.writes...)
		if change.record != nil {
			records = append(records, change.record)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(layoutAtOnce)
	for _, chunk := range requestChunks(lastOfEachKey(writes)) {
		group.Go(func() error {
			if !y.log.lead.leads() { // the next leader may have written a later state
				return errOtherWriter
			}
			return y.log.table.writeMany(ctx, "write items", chunk)
		})
	}
	for _, r := range records {
		group.Go(func() error {
			if !y.log.lead.leads() {
				return errOtherWriter
			}
			return r.write(ctx, y.log.table)
		})
	}
	err := group.Wait()
	if err == nil {
		y.noteWritten(changes)
	}
	return err
}

// noteWritten notes which attempts the items show, so that the next change need not delete the items of earlier ones
// again.
func (y *layout) noteWritten(changes []itemChange) {
	if y.written == nil || len(y.written) > writtenMax {
		y.written = map[rota.ID]int{}
	}
	for i := range changes {
		if c := &changes[i]; c.attempt > 1 {
			y.written[c.execution] = c.attempt
		} else {
			delete(y.written, c.execution)
		}
	}
}

// lastOfEachKey drops requests whose item a later one writes, too: DynamoDB accepts one for each key.
func lastOfEachKey(requests []types.WriteRequest) (kept []types.WriteRequest) {
	places := map[[2]string]int{}
	for _, r := range requests {
		i := item{}
		if r.PutRequest != nil {
			i = r.PutRequest.Item
		} else {
			i = r.DeleteRequest.Key
		}
		k := [2]string{i.text(attrPK), i.text(attrSK)}
		if n, is := places[k]; is {
			kept[n] = r
			continue
		}
		places[k] = len(kept)
		kept = append(kept, r)
	}
	return kept
}

// requestChunks splits requests by number and size.
func requestChunks(requests []types.WriteRequest) (chunks [][]types.WriteRequest) {
	const bytesMax = 8 << 20 // of 16 MB that DynamoDB accepts, for the overhead of JSON
	bytes := 0
	var chunk []types.WriteRequest
	for _, r := range requests {
		size := 1 << 10
		if r.PutRequest != nil {
			size += item(r.PutRequest.Item).size()
		}
		if len(chunk) == writesAtOnce || bytes+size > bytesMax && len(chunk) > 0 {
			chunks, chunk, bytes = append(chunks, chunk), nil, 0
		}
		chunk, bytes = append(chunk, r), bytes+size
	}
	if len(chunk) > 0 {
		chunks = append(chunks, chunk)
	}
	return chunks
}

// change returns what brings the item of an execution up to date.
func (y *layout) change(ctx context.Context, changed *sqlite.ChangedExecution) (c itemChange, err error) {
	attempts, err := y.log.replica.Execution(logstore.Local(ctx), changed.ID)
	if rota.CodeOf(err) == rota.NotFound { // it was pruned; its item may not show that it has ended
		for _, at := range changed.Moved {
			c.writes = append(c.writes, deleteRequest(placeAt(at, changed.ID)))
		}
		return c, nil
	}
	if err != nil {
		return c, err
	}
	first, last := attempts[0], attempts[len(attempts)-1]
	now := layoutItem(attempts, changed.Entry, &y.retention)
	c.execution = changed.ID
	if !last.Ended() || last.Sequel == rota.SequelRetry {
		c.attempt = last.Attempt
	}
	old := formerPlaces(attempts[max(0, y.written[changed.ID]-1):], changed.Moved, now.text(attrSK))
	if first.ScopeKind == rota.ItemScopeKind {
		if now, err = y.overForeign(ctx, now, append([]string{now.text(attrSK)}, old...)); err != nil {
			return c, err
		}
	}
	c.writes = append(c.writes, putRequest(now))
	if first.UniqueKey != "" {
		c.record = changeOfRecord(first, last, now, old)
	}
	if c.record != nil && c.record.places == nil {
		c.writes, c.record = append(c.writes, putRequest(c.record.record)), nil
	}
	if !first.PlanTime.IsZero() && first.Schedule != "" {
		c.writes = append(c.writes, putRequest(planRecord(first, now)))
	}
	for _, sk := range old {
		c.writes = append(c.writes, deleteRequest(sk))
	}
	return c, nil
}

func putRequest(i item) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: i}}
}

func deleteRequest(sk string) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key(jobPK, sk)}}
}

// formerPlaces returns where the item of an execution may stand besides its present place.
func formerPlaces(attempts []*rota.Job, moved []time.Time, present string) (old []string) {
	seen := map[string]bool{present: true}
	add := func(sk string) {
		if !seen[sk] {
			seen[sk] = true
			old = append(old, sk)
		}
	}
	for _, j := range attempts {
		add(place(j))
	}
	last := attempts[len(attempts)-1]
	for _, at := range moved {
		before := *last
		before.RunAt = at
		add(place(&before))
	}
	return old
}

// overForeign keeps the attributes that another program has given to its item.
func (y *layout) overForeign(ctx context.Context, now item, places []string) (item, error) {
	for _, sk := range places {
		there, err := y.log.table.get(ctx, "read item", key(jobPK, sk))
		if err != nil {
			return nil, err
		}
		if there == nil {
			continue
		}
		payload, unmoved := there[attrPayload], sk == now.text(attrSK)
		for _, name := range []string{attrLockedBy, attrLockExpires, attrLastError, attrCompletedAt, attrTTL} {
			delete(there, name)
		}
		for name, value := range now {
			if there[name] != nil && unmoved && (name == attrScheduledFor || name == attrCreatedAt) {
				continue // scheduled_for equals the time in the sort key, as its program has written it
			}
			there[name] = value
		}
		if payload != nil { // as it was written: a map may be one of another program
			there[attrPayload] = payload
			delete(there, attrPayloadBytes)
		}
		return fitted(there), nil
	}
	return now, nil
}

// fitted leaves attributes out of the item of another program that would be too large with those of Rota.
func fitted(i item) item {
	if i.size() > itemBytesMax {
		delete(i, attrLastError)
	}
	if i.size() > itemBytesMax {
		i[attrPayloadBytes] = numberValue(int64(sizeOf(i[attrPayload])))
		delete(i, attrPayload)
	}
	return i
}

// storeMark stores up to which entry all items are written.
func (y *layout) storeMark(ctx context.Context) error {
	if time.Since(y.markedAt) < markEvery {
		return nil
	}
	entry, err := y.log.replica.SettledUpTo(ctx)
	if err != nil || entry == y.marked {
		return err
	}
	mark := markKey()
	mark[attrEntry] = numberValue(int64(entry))
	if err := y.log.table.put(ctx, "write mark", mark); err != nil {
		return err
	}
	y.marked, y.markedAt = entry, time.Now()
	return nil
}

// settle drops the notes of what the leader has written.
func (y *layout) settle(ctx context.Context) error {
	clear(y.written) // another process writes the items
	mark, err := y.log.table.get(ctx, "read mark", markKey())
	if err != nil || mark == nil {
		return err
	}
	y.applied = y.applied[:0]
	y.lagSince.Store(0)
	return y.log.replica.SettleUpTo(ctx, uint64(mark.number(attrEntry)))
}

// noteLag notes since when the oldest change is in the replica.
func (y *layout) noteLag(changed []sqlite.ChangedExecution) {
	index := y.log.replica.Applied().Index
	if n := len(y.applied); n == 0 || y.applied[n-1].index != index {
		y.applied = append(y.applied, appliedAt{index, time.Now()})
	}
	if len(changed) == 0 {
		y.applied = y.applied[:0]
		y.lagSince.Store(0)
		return
	}
	behind := slices.IndexFunc(y.applied, func(a appliedAt) bool { return a.index >= changed[0].Entry })
	y.applied = slices.Delete(y.applied, 0, max(behind, 0))
	y.lagSince.Store(y.applied[0].at.UnixMicro())
}

// LayoutLag returns for how long the oldest change of a job is not in its item. It is zero in processes that do not
// write items.
func (s *Store) LayoutLag() time.Duration {
	since := s.layout.lagSince.Load()
	if since == 0 {
		return 0
	}
	return time.Since(time.UnixMicro(since))
}

// writeMany writes up to 25 items, and sends again what DynamoDB has left out.
func (t *table) writeMany(ctx context.Context, act string, requests []types.WriteRequest) error {
	ctx = bornWithin(ctx, layoutRequest)
	return t.call(ctx, act, func(ctx context.Context) error {
		out, err := t.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{t.name: requests}})
		if err != nil {
			return err
		}
		if requests = out.UnprocessedItems[t.name]; len(requests) > 0 {
			return &types.ProvisionedThroughputExceededException{}
		}
		return nil
	})
}
