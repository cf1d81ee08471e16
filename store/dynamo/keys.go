package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
)

// Other programs know that a unique key is held by its deduplication record. An entry that enqueues jobs with unique
// keys takes their records in the transaction that takes its slot. Under the lock of the log the replica tells which
// jobs the entry will create, because nothing else can take that slot unless the transaction fails.

// keyClaim is a unique key that the next slot takes.
type keyClaim struct {
	record item
	seen   item // the record that is taken over; nil: there was none
	item   item // of the job
}

// keyWait is how long a record without its item is left alone: other programs write the record first.
const keyWait = time.Second

var (
	errKeysChanged = errors.New("a deduplication record has changed")
	errAdopted     = errors.New("an item of another program was enqueued")
	errRecordAlone = errors.New("a deduplication record has no item yet")
)

// takesKeys reports whether commands may create jobs with unique keys.
func takesKeys(commands []rota.Command) bool {
	for _, c := range commands {
		takes := false
		switch c := c.(type) {
		case *rota.Enqueue:
			takes = hasKeys(c.Jobs)
		case *rota.EnqueueGroup:
			takes = hasKeys(c.Jobs)
		case *rota.Redrive:
			takes = true
		case *rota.All:
			takes = !c.Dry && takesKeys(c.Members)
		}
		if takes {
			return true
		}
	}
	return false
}

func hasKeys(jobs []rota.NewJob) bool {
	for i := range jobs {
		if jobs[i].UniqueKey != "" {
			return true
		}
	}
	return false
}

// creates reports whether a command may create a job.
func creates(c rota.Command, job rota.ID) bool {
	switch c := c.(type) {
	case *rota.Enqueue:
		for i := range c.Jobs {
			if c.JobID(i) == job {
				return true
			}
		}
	case *rota.EnqueueGroup:
		for i := range c.Jobs {
			if c.JobID(i) == job {
				return true
			}
		}
	case *rota.Redrive:
		return c.NewJobID() == job
	case *rota.All:
		for _, member := range c.Members {
			if !c.Dry && creates(member, job) {
				return true
			}
		}
	}
	return false
}

// claimKeys finds the unique keys that the entry takes in the next slot. It leaves out jobs whose keys other programs
// hold.
func (l *commandLog) claimKeys(ctx context.Context, p *proposal, now time.Time) error {
	p.restore()
	for takesKeys(p.entry.Batch.Commands) {
		created, err := l.createdWithKeys(ctx, rota.Batch{Now: now, Commands: p.entry.Batch.Commands})
		if err != nil || len(created) == 0 {
			return err
		}
		records, targets, err := l.readRecords(ctx, created)
		if err != nil {
			return err
		}
		before := len(p.held)
		claims := map[itemKey]keyClaim{}
		for _, j := range created {
			k := keyOf(recordKey(j.Type, j.UniqueKey))
			record := records[k]
			holder, err := l.keyHolder(ctx, p, j, record, targets[targetKey(record)], now)
			if err != nil {
				return err
			}
			if holder != nil {
				p.held[j.ID] = *holder
				continue
			}
			shown := layoutItem([]*rota.Job{j}, l.replica.Applied().Index+1, &rota.Retention{})
			claims[k] = keyClaim{record: newRecord(j.Type, j.UniqueKey, shown.text(attrSK)), seen: record, item: shown}
		}
		if len(p.held) == before {
			p.claims = claims
			return nil
		}
		p.leaveOut()
	}
	return nil
}

// createdWithKeys returns the jobs with unique keys that a batch would create.
func (l *commandLog) createdWithKeys(ctx context.Context, b rota.Batch) (keyed []*rota.Job, err error) {
	_, created, err := l.replica.Preview(ctx, b)
	for _, j := range created {
		if j.UniqueKey == "" || !j.RetryOf.IsZero() {
			continue
		}
		for _, c := range b.Commands {
			if creates(c, j.ID) {
				keyed = append(keyed, j)
				break
			}
		}
	}
	return keyed, err
}

// readRecords reads the records of the keys of jobs, and the items that they refer to.
func (l *commandLog) readRecords(ctx context.Context, jobs []*rota.Job) (records, targets map[itemKey]item, err error) {
	keys := make([]item, 0, len(jobs))
	for _, j := range jobs {
		keys = append(keys, recordKey(j.Type, j.UniqueKey))
	}
	if records, err = l.table.getEach(ctx, "read keys", keys); err != nil {
		return nil, nil, err
	}
	keys = keys[:0]
	for _, r := range records {
		if k := targetKey(r); k != (itemKey{}) {
			keys = append(keys, key(k.pk, k.sk))
		}
	}
	targets, err = l.table.getEach(ctx, "read keys", keys)
	return records, targets, err
}

// targetKey returns the key of the item that a record refers to.
func targetKey(record item) itemKey {
	if record.text(attrJobPK) == "" || record.text(attrJobSK) == "" {
		return itemKey{}
	}
	return itemKey{record.text(attrJobPK), record.text(attrJobSK)}
}

// keyHolder returns the job of another program that holds the key of a job; nil: none does. The replica knows
// those that hold it for Rota.
func (l *commandLog) keyHolder(ctx context.Context, p *proposal, j *rota.Job, record, target item, now time.Time) (*rota.Submitted, error) {
	sk := record.text(attrJobSK)
	switch {
	case record == nil:
		return nil, nil
	case target == nil && !p.alone[sk]:
		p.alone[sk] = true
		return nil, errRecordAlone
	case target == nil:
		return nil, nil // its job is gone
	}
	holder, known, err := l.adoptedHolder(ctx, j, sk)
	if err != nil || known {
		return holder, err
	}
	switch status := target.text(attrStatus); {
	case isYoungClaim(target, now):
		return nil, errRecordAlone // another process takes the slot now
	case target[attrEntry] != nil, status == statusDead, status == statusCancelled:
		return nil, nil
	case isForeign(target) && !isLocked(target, now) && target.text(attrPK) == jobPK:
		if err := l.poller.adopt(ctx, []item{target}, now, adoptedKey(j, target), l.appendAdopted); err != nil {
			return nil, err
		}
		return nil, errAdopted
	}
	return &rota.Submitted{Duplicate: true}, nil // another program runs it, or has done so
}

// adoptedKey returns the key that the job of a foreign item gets.
func adoptedKey(j *rota.Job, target item) string {
	if target.text(attrJobType) != j.Type {
		return ""
	}
	return j.UniqueKey
}

// adoptedHolder looks a foreign item up in the replica. A job that was enqueued without its key holds it as long as
// one with the key would.
func (l *commandLog) adoptedHolder(ctx context.Context, j *rota.Job, sk string) (holder *rota.Submitted, known bool, err error) {
	id, err := placeID(sk)
	if err != nil {
		return nil, false, nil //nolint:nilerr // not the item of a job
	}
	attempts, err := l.replica.Execution(logstore.Local(ctx), id)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	first, last := attempts[0], attempts[len(attempts)-1]
	if first.ScopeKind != rota.ItemScopeKind || first.UniqueKey == j.UniqueKey || !holdsKey(last) {
		return nil, true, nil
	}
	return &rota.Submitted{Job: first, Duplicate: true}, true, nil
}

// writes returns the writes of a claim in the transaction that takes the slot.
func (c *keyClaim) writes(t *table) []types.TransactWriteItem {
	put := &types.Put{TableName: &t.name, Item: c.record}
	put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = c.condition()
	return []types.TransactWriteItem{{Put: put}, {Put: &types.Put{TableName: &t.name, Item: c.item}}}
}

// condition is that nobody has changed the record.
func (c *keyClaim) condition() (expression *string, names map[string]string, values item) {
	if c.seen == nil {
		return aws.String(isNew), nil, nil
	}
	names = map[string]string{"#sk": attrJobSK}
	if c.seen[attrJobSK] == nil { // another program has written a record that refers to nothing
		return aws.String("attribute_not_exists(#sk)"), names, nil
	}
	return aws.String("#sk = :seen"), names, item{":seen": c.seen[attrJobSK]}
}
