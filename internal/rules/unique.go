package rules

import "github.com/rotajobs/rota"

// keyHolder returns the first job of the execution that holds a unique key, nil
// if the key is free. A key is free when its execution does not exist, or has
// completed and its time has passed.
func keyHolder(u *UnitOfWork, typ, key string) *rota.Job {
	if key == "" {
		return nil
	}
	held := UniqueKeys.get(u, UniqueKey{typ, key})
	if held == nil || held.Ended && passed(u, held) {
		return nil
	}
	return u.job(held.ExecutionID)
}

// holdKey takes the job's unique key for its execution.
func holdKey(u *UnitOfWork, j *rota.Job) {
	if j.UniqueKey == "" {
		return
	}
	record := &UniqueKeyRecord{Key: UniqueKey{j.Type, j.UniqueKey}, ExecutionID: j.ExecutionID}
	if j.UniqueFor > 0 {
		record.FreeAt = j.CreatedAt.Add(j.UniqueFor).UnixMicro()
	}
	UniqueKeys.set(u, record.Key, record)
}

// endKey updates the unique key of an execution that has ended: completion
// keeps it until its time has passed, death and cancellation free it.
func endKey(u *UnitOfWork, j *rota.Job, completed bool) {
	if j.UniqueKey == "" {
		return
	}
	held := UniqueKeys.get(u, UniqueKey{j.Type, j.UniqueKey})
	switch {
	case held == nil || held.ExecutionID != j.ExecutionID:
	case !completed || passed(u, held):
		UniqueKeys.set(u, held.Key, nil)
	case held.FreeAt != 0:
		ended := *held
		ended.Ended = true
		UniqueKeys.set(u, held.Key, &ended)
	}
}

func passed(u *UnitOfWork, k *UniqueKeyRecord) bool {
	return k.FreeAt != 0 && k.FreeAt <= u.Now.UnixMicro()
}
