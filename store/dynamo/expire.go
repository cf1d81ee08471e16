package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"
)

// What a snapshot has replaced gets a TTL. DynamoDB bills that like the write of the item, as it would bill its deletion,
// but a process that is reading it can go on. All of it can be repeated, by several processes too.

const (
	expireSlots   = 100 // of one step; one request reads them
	expireSteps   = 50  // of one call, so that the leader can write the next snapshot
	expireWait    = 100 * time.Millisecond
	expiresAtOnce = 8 // requests
)

// expiredKey is the key of the item that has the first slot without a TTL.
func expiredKey() item { return key("rota#meta", "expired") }

// expire gives a TTL to former snapshots, and to slots before the log begins. It reports whether all have one.
func (y *snapshotter) expire(ctx context.Context) (all bool, err error) {
	l := y.log
	for _, name := range y.known.former {
		if err := l.expireSnapshot(ctx, name); err != nil {
			return false, err
		}
	}
	i, err := l.table.get(ctx, "read mark", expiredKey())
	if err != nil {
		return false, err
	}
	next := max(1, uint64(i.number(attrSlot)))
	for range expireSteps {
		if next >= y.known.begin {
			return true, nil
		}
		if !l.lead.leads() {
			return false, errOtherLeader
		}
		if next, err = l.expireLog(ctx, next, min(next+expireSlots, y.known.begin)); err == nil {
			err = l.markExpired(ctx, next)
		}
		if err == nil {
			err = sleep(ctx, expireWait)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

func (l *commandLog) markExpired(ctx context.Context, next uint64) error {
	_, err := l.table.update(ctx, "write mark", expiredKey(), "SET #slot = :slot", "attribute_not_exists(#slot) OR #slot < :slot",
		map[string]string{"#slot": attrSlot}, item{":slot": numberValue(int64(next))})
	return err
}

// expireLog gives a TTL to slots from one on up to another, and returns the first that it has not handled.
func (l *commandLog) expireLog(ctx context.Context, from, to uint64) (next uint64, err error) {
	keys := make([]item, 0, to-from)
	for index := from; index < to; index++ {
		keys = append(keys, slotKey(index))
	}
	found, err := l.table.getMany(ctx, "read log", keys)
	if err != nil {
		return from, err
	}
	if len(found) == 0 { // the slot was removed, or the request has returned fewer
		i, err := l.table.get(ctx, "read log", keys[0])
		if err != nil || i == nil {
			return from + 1, err
		}
		found = append(found, i)
	}
	at, err := l.expiry(ctx)
	if err != nil {
		return from, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(expiresAtOnce)
	for _, i := range found {
		group.Go(func() error { return l.expireSlot(ctx, i, at) })
	}
	return from + uint64(len(found)), group.Wait()
}

// expireSlot gives a TTL to the chunks of a slot first: without the slot nothing names them.
func (l *commandLog) expireSlot(ctx context.Context, i item, at time.Time) error {
	for n := range i.number(attrChunks) {
		if err := l.expireItem(ctx, chunkKey(i.text(attrProposal), int(n)), at); err != nil {
			return err
		}
	}
	return l.expireItem(ctx, i.key(), at)
}

// expireSnapshot gives a TTL to all items of a snapshot that is not in use.
func (l *commandLog) expireSnapshot(ctx context.Context, name string) error {
	at, err := l.expiry(ctx)
	if err != nil {
		return err
	}
	for n := range int64(snapshotPartitions) {
		if err := l.expirePartition(ctx, partitionOfSnapshot(name, n), at); err != nil {
			return err
		}
	}
	if err := l.expireItem(ctx, snapshotKey(name), at); err != nil {
		return err
	}
	return l.forgetSnapshot(ctx, name)
}

func (l *commandLog) expirePartition(ctx context.Context, pk string, at time.Time) error {
	input := &dynamodb.QueryInput{
		KeyConditionExpression: aws.String(attrPK + " = :pk"), ExpressionAttributeValues: item{":pk": stringValue(pk)},
		ProjectionExpression: aws.String(attrPK + ", " + attrSK),
	}
	for {
		page, next, err := l.table.query(ctx, "read snapshot", input)
		if err != nil {
			return err
		}
		for _, i := range page {
			if err := l.expireItem(ctx, i.key(), at); err != nil {
				return err
			}
		}
		if input.ExclusiveStartKey = next; next == nil {
			return nil
		}
	}
}

// expiry is when what was replaced now may be removed.
func (l *commandLog) expiry(ctx context.Context) (time.Time, error) {
	now, err := l.Now(ctx)
	return now.Add(keptFor), err
}

// expireItem sets the TTL of an item. One that was removed stays so: the update alone would create it again.
func (l *commandLog) expireItem(ctx context.Context, k item, at time.Time) error {
	_, err := l.table.update(ctx, "write TTL", k, "SET #ttl = :ttl", "attribute_exists("+attrPK+")",
		map[string]string{"#ttl": attrTTL}, item{":ttl": numberValue(at.Unix())})
	return err
}
