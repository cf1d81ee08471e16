package dynamo

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"
)

// A transaction has space for so many keys, and servers of tests have none. Then the records and items are written
// before the slot. If the process ends in between, other programs see keys of jobs that do not exist, until another
// process of Rota takes them over or their items expire.

const (
	claimsMax      = 48      // in a transaction of 100 writes, beside the slot and the check of meta
	claimsBytesMax = 3 << 20 // of 4 MB
	claimTTL       = 24 * time.Hour
)

// fitsTransaction reports whether one transaction can take the keys.
func (l *commandLog) fitsTransaction(claims map[itemKey]keyClaim) bool {
	bytes := 0
	for _, c := range claims {
		bytes += len(c.item.text(attrPayload)) + 2<<10
	}
	return !l.noTransactions && len(claims) <= claimsMax && bytes <= claimsBytesMax
}

// claimAge is how long the items of keys that were claimed first are left alone: their slot follows.
const claimAge = 5 * time.Second

// isYoungClaim reports whether an item of no execution was written a moment ago for a slot that follows. The item of an
// execution that was pruned may have a later TTL.
func isYoungClaim(i item, now time.Time) bool {
	written := time.Unix(i.number(attrTTL), 0).Add(-claimTTL)
	return i[attrEntry] != nil && now.Sub(written).Abs() < claimAge
}

// claimFirst writes the records and items of keys. It begins with one, so that of two processes that want the same keys
// one goes on and the other gives up at once.
func (l *commandLog) claimFirst(ctx context.Context, p *proposal) error {
	claims := slices.SortedFunc(maps.Values(p.claims), func(a, b keyClaim) int {
		x, y := keyOf(a.record), keyOf(b.record)
		return cmp.Or(cmp.Compare(x.pk, y.pk), cmp.Compare(x.sk, y.sk))
	})
	for _, c := range claims {
		p.claimed[c.item.text(attrSK)] = c
	}
	if err := l.claimOneFirst(ctx, &claims[0]); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	for _, c := range claims[1:] {
		group.Go(func() error { return l.claimOneFirst(ctx, &c) })
	}
	return group.Wait()
}

func (l *commandLog) claimOneFirst(ctx context.Context, c *keyClaim) error {
	expiring := item{}
	for name, value := range c.item {
		expiring[name] = value
	}
	expiring.expires(l.readClock().Add(claimTTL)) // the layout writes it without, once it is in the log
	if err := l.table.put(ctx, "claim key", expiring); err != nil {
		return err
	}
	changed := false
	err := l.table.call(ctx, "claim key", func(ctx context.Context) error {
		input := &dynamodb.PutItemInput{TableName: &l.table.name, Item: c.record}
		input.ConditionExpression, input.ExpressionAttributeNames, input.ExpressionAttributeValues = c.condition()
		_, err := l.table.client.PutItem(ctx, input)
		if isConditionFailed(err) {
			there, err := l.table.get(ctx, "claim key", c.record.key())
			changed = there.text(attrJobSK) != c.record.text(attrJobSK) // it may be of an attempt without an answer
			return err
		}
		return err
	})
	if err == nil && changed {
		err = errKeysChanged
	}
	return err
}

// unclaimTimeout bounds how long an append that has failed keeps the lock of the log.
const unclaimTimeout = time.Second

// unclaimSoon unclaims even if the caller has given up.
func (l *commandLog) unclaimSoon(ctx context.Context, p *proposal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unclaimTimeout)
	defer cancel()
	l.unclaim(ctx, p)
}

// unclaim removes what was written for a slot that this process has not taken.
func (l *commandLog) unclaim(ctx context.Context, p *proposal) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	for sk, c := range p.claimed {
		group.Go(func() error {
			_, err := l.table.remove(ctx, "release key", c.record.key(), "#sk = :sk", map[string]string{"#sk": attrJobSK}, item{":sk": stringValue(sk)})
			if err == nil {
				_, err = l.table.remove(ctx, "release key", c.item.key(), "", nil, nil)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		l.logger.Debug("the keys of jobs that were not enqueued cannot be released; they expire", "error", err)
	}
	clear(p.claimed)
}
