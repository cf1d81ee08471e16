package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
)

// slot is a place in the log and the entry that was put into it.
type slot struct {
	index    uint64
	now      time.Time
	proposal rota.ID // of the attempt to append the entry
	process  rota.ID // which appended it
	digest   []byte  // of its replica before the slot
	rules    int64   // version of the rules that the entry needs
	body     []byte  // the entry, if it is short
	chunks   int64   // of a long body; they are named by the proposal
	size     int64   // bytes of the bodies of the log, up to and with this slot
}

// The attributes of a slot.
const (
	attrNow      = "now"
	attrProposal = "proposal"
	attrProcess  = "process"
	attrDigest   = "digest"
	attrRules    = "rules"
	attrBody     = "batch"
	attrChunks   = "chunks"
	attrSize     = "size" // of a slot: a few bytes in it tell any process how large the log is between two slots
)

// logPartitions is over how many partitions the slots are spread.
const logPartitions = 16

func slotKey(index uint64) item {
	return key(fmt.Sprintf("rota#log#%d", index%logPartitions), fmt.Sprintf("%020d", index))
}

func (s *slot) item() item {
	i := slotKey(s.index)
	i[attrNow] = numberValue(s.now.UnixMicro())
	i[attrProposal], i[attrProcess] = stringValue(s.proposal.String()), stringValue(s.process.String())
	i[attrDigest], i[attrRules], i[attrSize] = bytesValue(s.digest), numberValue(s.rules), numberValue(s.size)
	if s.chunks > 0 {
		i[attrChunks] = numberValue(s.chunks)
	} else {
		i[attrBody] = bytesValue(s.body)
	}
	return i
}

func readSlot(index uint64, i item) (s slot, err error) {
	s = slot{
		index: index, now: time.UnixMicro(i.number(attrNow)).UTC(), digest: i.bytes(attrDigest),
		rules: i.number(attrRules), body: i.bytes(attrBody), chunks: i.number(attrChunks), size: i.number(attrSize),
	}
	if s.proposal, err = rota.ParseID(i.text(attrProposal)); err == nil {
		s.process, err = rota.ParseID(i.text(attrProcess))
	}
	if err != nil || s.body == nil && s.chunks == 0 {
		return s, &rota.Error{
			Code: rota.Internal, Act: "dynamodb: read log", Reason: fmt.Sprintf("the slot %d has an item that Rota did not write", index),
			Hint: "restore the table as it was before someone changed it",
		}
	}
	return s, nil
}

// take puts a slot into the log unless it is taken. It returns the slot that is there afterwards, which may be
// that of another process.
func (l *commandLog) take(ctx context.Context, s *slot, p *proposal) (taken slot, err error) {
	claims := p.claims
	if len(claims) > 0 && !l.fitsTransaction(claims) {
		if err := l.claimFirst(ctx, p); err != nil {
			if !errors.Is(err, errKeysChanged) { // then append does it
				l.unclaimSoon(ctx, p) // the slot was not tried
			}
			return slot{}, err
		}
		claims = nil
	}
	deadline := time.Now().Add(requestTimeout)
	for attempt := 0; ; attempt++ {
		asked := time.Now()
		there, err := l.tryTake(ctx, s, claims)
		switch kind := outcomeOf(err); {
		case kind == done && there == nil:
			l.setCurrent(asked)
			return *s, nil
		case kind == done:
			return readSlot(s.index, there)
		case errors.Is(err, errBehind), errors.Is(err, errKeysChanged):
			return slot{}, err
		case errors.Is(err, errOldRequest) && ctx.Err() == nil:
			continue // the process slept; the silence is checked again
		case kind == refused:
			return slot{}, l.table.fault("append", err)
		case kind == unknown && ctx.Err() == nil:
			// The answer may be lost: the slot tells.
			if there, err := l.table.get(ctx, "append", slotKey(s.index)); err != nil || there != nil {
				if err != nil {
					return slot{}, err
				}
				return readSlot(s.index, there)
			}
		}
		if err := l.table.backOff(ctx, deadline, attempt, "append", err); err != nil {
			return slot{}, err
		}
	}
}

// tryTake sends the put once. It returns the item that is there if the slot was taken before.
func (l *commandLog) tryTake(ctx context.Context, s *slot, claims map[itemKey]keyClaim) (there item, err error) {
	ctx, cancel := context.WithTimeout(bornWithin(ctx, requestAgeMax), attemptTimeout)
	defer cancel()
	silent := passed(l.keptAt) > silenceMax
	switch {
	case !silent && len(claims) == 0:
		return l.takeAlone(ctx, s)
	case l.noTransactions: // without claims
		return l.takeWithoutTransactions(ctx, s)
	}
	there, err = l.takeInTransaction(ctx, s, silent, claims)
	if isUnsupported(err) {
		l.noTransactions = true
		err = errKeysChanged // begin again
	}
	return there, err
}

// takeAlone takes a slot with a put.
func (l *commandLog) takeAlone(ctx context.Context, s *slot) (there item, err error) {
	_, err = l.table.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &l.table.name, Item: s.item(), ConditionExpression: aws.String(isNew),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, err
	}
	if len(failed.Item) > 0 {
		return failed.Item, nil
	}
	return l.table.get(ctx, "append", slotKey(s.index)) // the server does not return the item
}

// silenceMax is after how long without news of the log a process checks where the log begins before it writes.
// Its next slot may have been removed, and would seem to be free.
const silenceMax = time.Minute

// takeInTransaction takes a slot together with unique keys. After a silence it does so only if the log does not begin
// after the slot.
func (l *commandLog) takeInTransaction(ctx context.Context, s *slot, silent bool, claims map[itemKey]keyClaim) (there item, err error) {
	writes := []types.TransactWriteItem{{Put: &types.Put{
		TableName: &l.table.name, Item: s.item(), ConditionExpression: aws.String(isNew),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}
	if silent {
		writes = append(writes, types.TransactWriteItem{ConditionCheck: l.beginCheck(s.index)})
	}
	checks := len(writes)
	for _, c := range claims {
		writes = append(writes, c.writes(l.table)...)
	}
	_, err = l.table.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != len(writes) {
		return nil, err
	}
	failed := func(n int) bool { return text(cancelled.CancellationReasons[n].Code) == reasonCondition }
	if silent && failed(1) {
		return nil, errBehind
	}
	if failed(0) {
		if there := cancelled.CancellationReasons[0].Item; len(there) > 0 {
			return there, nil
		}
		return l.table.get(ctx, "append", slotKey(s.index))
	}
	for n := checks; n < len(writes); n++ {
		if failed(n) {
			return nil, errKeysChanged
		}
	}
	return nil, err
}

const reasonCondition = "ConditionalCheckFailed"

// takeWithoutTransactions reads where the log begins first. Between both requests the process must not sleep
// for longer than a slot is kept, so it is for servers of tests only.
func (l *commandLog) takeWithoutTransactions(ctx context.Context, s *slot) (item, error) {
	m, err := l.readMeta(ctx)
	if err != nil {
		return nil, err
	}
	if m.begin > s.index {
		return nil, errBehind
	}
	return l.takeAlone(ctx, s)
}

// errBehind is the error of a process whose next slot was removed. It starts from a snapshot.
var errBehind = &rota.Error{
	Code: rota.Unavailable, Act: "dynamodb: append", Reason: "this process has slept for longer than the log is kept, and fills its replica from a snapshot",
	Hint: "try again",
}
