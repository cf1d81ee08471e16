package verify

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// keyOf checks that an execution holds its unique key for as long as promised.
// The last attempt of a chain stands for the execution.
func (v *Verifier) keyOf(j *rota.Job, held *rules.UniqueKeyRecord) {
	if j.UniqueKey == "" || j.Sequel == rota.SequelRetry {
		return
	}
	holds := held != nil && held.ExecutionID == j.ExecutionID
	rows := []string{rules.JobRef(j.ID), keyRef(rules.UniqueKey{Type: j.Type, Key: j.UniqueKey})}
	switch {
	case endedIncomplete(j):
		if holds {
			v.violation(rota.CheckUniqueKeyFreed, rows, "its execution died, was cancelled or was skipped, but still holds the key")
		}
	case !j.Ended() && !holds:
		v.violation(rota.CheckUniqueKeyLive, rows, "its execution has not ended, but does not hold the key")
	case !j.Ended() && held.Ended:
		v.violation(rota.CheckUniqueKeyLive, rows, "its execution has not ended, but the key is marked as if it had")
	case j.Run != nil && j.Run.Outcome == rota.OutcomeSkipped && !holds: // its redrive holds the key
	case completed(j) && !holds && j.UniqueFor == 0:
		v.violation(rota.CheckUniqueKeyLive, rows, "its execution completed and keeps the key until it is pruned, but does not hold it")
	case completed(j) && holds && held.FreeAt != 0 && !held.Ended:
		v.violation(rota.CheckUniqueKeyLive, rows, "its execution has completed, but the key is not marked so and would never be free")
	}
}

// endedIncomplete reports whether an execution ended without completing.
func endedIncomplete(tail *rota.Job) bool {
	return tail.Status == rota.StatusCancelled || tail.Sequel == rota.SequelDead ||
		tail.Sequel == rota.SequelNone && tail.Run != nil && !rules.KeepsKey(tail)
}

func completed(tail *rota.Job) bool {
	return tail.Ended() && tail.Run != nil && (tail.Run.Outcome == rota.OutcomeCompleted || tail.Run.Outcome == rota.OutcomeSkipped)
}

// Key checks a unique key and the first job of the execution that holds it, nil
// if that does not exist: such a key is free.
func (v *Verifier) Key(k rules.UniqueKeyRecord, first *rota.Job) {
	if first == nil {
		return
	}
	rows := []string{keyRef(k.Key), rules.JobRef(first.ID)}
	switch {
	case !first.RetryOf.IsZero():
		v.violation(rota.CheckUniqueKeyOwner, rows, "the key names a retry instead of the first job of its execution")
	case first.Type != k.Key.Type || first.UniqueKey != k.Key.Key:
		v.violation(rota.CheckUniqueKeyOwner, rows, "the execution that holds the key was not enqueued with it")
	case k.FreeAt != freeAt(first):
		v.violation(rota.CheckUniqueKeyOwner, rows, "the key is not held for as long as its job was enqueued to hold it")
	}
}

func freeAt(first *rota.Job) int64 {
	if first.UniqueFor <= 0 {
		return 0
	}
	return first.CreatedAt.Add(first.UniqueFor).UnixMicro()
}

func keyRef(k rules.UniqueKey) string { return fmt.Sprintf("key %s of type %s", k.Key, k.Type) }
