package dynamo

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// The layout has an item for each execution, for programs that read the table. All attempts of an execution
// share it.

const (
	jobPK       = "job"
	placePrefix = "scheduled#"
)

// The attributes of an item of the layout.
const (
	attrJobType      = "job_type"
	attrPayload      = "payload"
	attrPayloadBytes = "payload_bytes" // of a payload that is left out
	attrScheduledFor = "scheduled_for"
	attrStatus       = "status"
	attrLockedBy     = "locked_by"
	attrLockExpires  = "lock_expires_at"
	attrAttempts     = "attempts"
	attrLastError    = "last_error"
	attrCreatedAt    = "created_at"
	attrCompletedAt  = "completed_at"
	attrEntry        = "rota" // entry of the log that the item shows; only items of Rota have it
)

// The values of status.
const (
	statusPending    = "pending"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusFailed     = "failed"
	statusDead       = "dead_letter"
	statusCancelled  = "cancelled"
)

const (
	payloadMax   = 256 << 10 // bytes of a payload in an item
	lastErrorMax = 4 << 10
)

// scheduledFor returns when an attempt is to run.
func scheduledFor(j *rota.Job) time.Time {
	if !j.RunAt.IsZero() {
		return j.RunAt
	}
	return j.CreatedAt
}

// itemTime writes a time so that texts sort as times.
func itemTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// placeAt returns the sort key of the item of an execution that is scheduled for a time.
func placeAt(t time.Time, execution rota.ID) string {
	return placePrefix + itemTime(t) + "#" + execution.String()
}

// place returns the sort key of the item that shows an attempt. The first attempt of a foreign item stays where the
// other program has put it. A redrive is another execution, with an item of its own.
func place(j *rota.Job) string {
	if j.ScopeKind == rota.ItemScopeKind && j.Attempt == 1 && j.RedriveOf.IsZero() && !edited(j) {
		return j.ScopeID
	}
	return placeAt(scheduledFor(j), j.ExecutionID)
}

// edited reports whether the time of a foreign item was changed in Rota.
func edited(j *rota.Job) bool {
	at, err := placeTime(j.ScopeID)
	return err == nil && !j.RunAt.IsZero() && !j.RunAt.Equal(at)
}

// placeTime reads the time in a sort key.
func placeTime(sk string) (time.Time, error) {
	parts := strings.Split(sk, "#")
	if len(parts) != 3 || parts[0]+"#" != placePrefix {
		return time.Time{}, rota.Invalidf(attrSK, "is %q; it looks like scheduled#2026-01-02T15:04:05Z#UUID", sk)
	}
	return parseItemTime(parts[1])
}

// placeID reads the id of the execution in a sort key. Other programs may use a UUID of any version.
func placeID(sk string) (rota.ID, error) {
	id, err := rota.ParseID(sk[strings.LastIndexByte(sk, '#')+1:])
	if err != nil {
		return id, rota.Invalidf(attrSK, "is %q; it ends in a UUID", sk)
	}
	return id, nil
}

// parseItemTime reads what programs write: RFC 3339, or the form of Python, which leaves the zone of UTC out if the time has none.
func parseItemTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, rota.Invalidf(attrScheduledFor, "is %q; write a time such as 2026-01-02T15:04:05Z", text)
}

// layoutItem returns the item that shows an execution, given its attempts.
func layoutItem(attempts []*rota.Job, entry uint64, retention *rota.Retention) item {
	j := attempts[len(attempts)-1]
	i := key(jobPK, place(j))
	i[attrEntry] = numberValue(int64(entry))
	i[attrJobType] = stringValue(j.Type)
	if n := len(j.Params); n > payloadMax {
		i[attrPayloadBytes] = numberValue(int64(n))
	} else {
		i[attrPayload] = stringValue(string(j.Params))
	}
	i[attrScheduledFor] = stringValue(itemTime(scheduledFor(j)))
	i[attrCreatedAt] = stringValue(itemTime(j.CreatedAt))
	status, failures := layoutStatus(j)
	i[attrStatus], i[attrAttempts] = stringValue(status), numberValue(int64(failures))
	if text := lastError(attempts); text != "" {
		i[attrLastError] = stringValue(cut(text, lastErrorMax))
	}
	if j.Run != nil && j.Run.Open() {
		i[attrLockedBy], i[attrLockExpires] = stringValue(j.Run.Runner), stringValue(itemTime(j.Run.StaleAfter))
	}
	if !j.Ended() {
		return i
	}
	if status == statusCompleted {
		i[attrCompletedAt] = stringValue(itemTime(j.FinishedAt))
	}
	if keep := retention.For(j); keep.Age > 0 && j.Sequel != rota.SequelRetry {
		i.expires(j.FinishedAt.Add(keep.Age))
	}
	return i
}

// lastError returns the error of the last run that had one. It stays in the item of a job that has completed
// after retries.
func lastError(attempts []*rota.Job) string {
	for _, j := range slices.Backward(attempts) {
		if j.Run != nil && j.Run.Error != "" {
			return j.Run.Error
		}
	}
	return ""
}

// layoutStatus returns the status of an execution, given its last attempt, and how many of its attempts have failed.
func layoutStatus(j *rota.Job) (status string, failures int) {
	failures = j.Attempt - 1
	if isDone(j) {
		return statusCompleted, failures
	}
	switch j.State() {
	case rota.StateRunning:
		return statusInProgress, failures
	case rota.StateFailed:
		if j.Sequel == rota.SequelDead {
			return statusDead, failures + 1
		}
		return statusFailed, failures + 1
	case rota.StateCancelled, rota.StateSkipped:
		return statusCancelled, failures
	}
	if failures > 0 {
		return statusFailed, failures // it waits for its retry
	}
	return statusPending, failures
}

// cut shortens a text to some bytes, at the end of a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// recordKey returns the key of the deduplication record of a unique key: what follows its last # is the sort key.
func recordKey(typ, unique string) item {
	prefix, rest := unique, "-"
	if n := strings.LastIndexByte(unique, '#'); n >= 0 {
		prefix, rest = unique[:n], unique[n+1:]
	}
	if rest == "" {
		prefix, rest = unique, "-" // a sort key has at least one character
	}
	return key("scheduled-job#"+typ+"#"+prefix, rest)
}

const (
	attrJobPK = "job_pk"
	attrJobSK = "job_sk"
)

// newRecord returns the deduplication record of a unique key that an item holds.
func newRecord(typ, unique, sk string) item {
	i := recordKey(typ, unique)
	i[attrJobPK], i[attrJobSK] = stringValue(jobPK), stringValue(sk)
	return i
}
