package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// recordChange is how the deduplication record of an execution follows its item.
type recordChange struct {
	record item
	remove bool
	places []string // the record is changed only if it refers to one of them; nil: in any case
}

// changeOfRecord returns what becomes of the record of an execution, given its first and its last attempt, its item and
// where that has stood before; nil: nothing.
func changeOfRecord(first, last *rota.Job, now item, old []string) *recordChange {
	sk := now.text(attrSK)
	c := &recordChange{record: newRecord(first.Type, first.UniqueKey, sk)}
	switch {
	case !last.Ended() && (len(old) > 0 || last.Run == nil):
		return c // it holds the key, and waits or has moved
	case !last.Ended():
		return nil
	}
	c.places = append([]string{sk}, old[:min(len(old), recordPlacesMax)]...)
	if c.remove = !holdsKey(last); c.remove {
		return c
	}
	ttl := now.number(attrTTL)
	if ttl == 0 {
		return nil
	}
	if first.UniqueFor > 0 {
		ttl = max(ttl, first.CreatedAt.Add(first.UniqueFor).Unix())
	}
	c.record[attrTTL] = numberValue(ttl)
	return c
}

// planRecord returns the record of a planned time. It expires with the item of its execution.
func planRecord(first *rota.Job, now item) item {
	record := newRecord(first.Type, first.Schedule+"#"+itemTime(first.PlanTime), now.text(attrSK))
	if ttl := now[attrTTL]; ttl != nil {
		record[attrTTL] = ttl
	}
	return record
}

// recordPlacesMax is how many values a condition has at most.
const recordPlacesMax = 90

// write changes the record unless another execution or program has taken it.
func (c *recordChange) write(ctx context.Context, t *table) error {
	ctx = bornWithin(ctx, layoutRequest)
	names, values, list := map[string]string{"#sk": attrJobSK}, item{}, make([]string, len(c.places))
	for n, sk := range c.places {
		list[n] = ":p" + strconv.Itoa(n)
		values[list[n]] = stringValue(sk)
	}
	condition := fmt.Sprintf("#sk IN (%s)", strings.Join(list, ", "))
	if c.remove {
		_, err := t.remove(ctx, "release key", c.record.key(), condition, names, values)
		return err
	}
	names["#ttl"] = attrTTL
	values[":sk"], values[":ttl"] = c.record[attrJobSK], c.record[attrTTL]
	_, err := t.update(ctx, "keep key", c.record.key(), "SET #sk = :sk, #ttl = :ttl", condition, names, values)
	return err
}

// holdsKey reports whether an execution holds its unique key, given its last attempt. A job that its worker has skipped
// did what its key stands for.
func holdsKey(last *rota.Job) bool { return !last.Ended() || isDone(last) }

// isDone reports whether a job has completed, or its worker found that there was nothing to do.
func isDone(j *rota.Job) bool {
	return j.Run != nil && (j.Run.Outcome == rota.OutcomeCompleted || j.Run.Outcome == rota.OutcomeSkipped && j.Run.Runner != "")
}
