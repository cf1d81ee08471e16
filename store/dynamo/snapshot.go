package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// snapshot is a compressed copy of a replica in the table, cut into parts. rota#meta names the last one, and the log
// begins at the slot after it.
type snapshot struct {
	name   string
	log    string
	index  uint64 // of the last slot that the copy has applied
	parts  int64
	bytes  int64  // of the copy, not compressed
	digest []byte // SHA-256 of the copy
}

// The attributes of the first item of a snapshot. It has attrLog and attrDigest too.
const (
	attrSlot  = "slot"
	attrParts = "parts"
	attrBytes = "bytes"
)

// keptFor is for how long slots and snapshots are kept after a snapshot has replaced them. A process that reads
// them meanwhile has time to finish.
const keptFor = 7 * 24 * time.Hour

func snapshotKey(name string) item { return key("rota#snapshot#"+name, "-") }

// snapshotPartitions is over how many partitions the parts are spread, because DynamoDB limits each of them to
// about three parts a second.
const snapshotPartitions = 16

func partitionOfSnapshot(name string, n int64) string {
	return fmt.Sprintf("rota#snapshot#%s#%d", name, n%snapshotPartitions)
}

func partKey(name string, n int64) item {
	return key(partitionOfSnapshot(name, n), fmt.Sprintf("%06d", n))
}

func (s *snapshot) item() item {
	i := snapshotKey(s.name)
	i[attrLog], i[attrSlot], i[attrDigest] = stringValue(s.log), numberValue(int64(s.index)), bytesValue(s.digest)
	i[attrParts], i[attrBytes] = numberValue(s.parts), numberValue(s.bytes)
	return i
}

// readSnapshot reads the first item of the snapshot that meta names.
func (l *commandLog) readSnapshot(ctx context.Context, m meta) (*snapshot, error) {
	i, err := l.table.get(ctx, "read snapshot", snapshotKey(m.snapshot))
	if err != nil {
		return nil, err
	}
	s := &snapshot{
		name: m.snapshot, log: i.text(attrLog), index: uint64(i.number(attrSlot)), parts: i.number(attrParts),
		bytes: i.number(attrBytes), digest: i.bytes(attrDigest),
	}
	switch {
	case i == nil:
		return nil, s.fault("the first item of the snapshot %s is missing", s.name)
	case s.log != l.id || s.index+1 != m.begin:
		return nil, s.fault("the snapshot %s is at slot %d of the log %s, and rota#meta needs slot %d of the log %s", s.name, s.index, s.log, m.begin-1, l.id)
	}
	return s, nil
}

// fault is the error of a snapshot that cannot be used.
func (s *snapshot) fault(format string, values ...any) error {
	return &rota.Error{
		Code: rota.Internal, Act: "dynamodb: fill replica", Reason: fmt.Sprintf(format, values...),
		Hint: "restore the items rota#snapshot#" + s.name + " of the table, or wait until a process with an intact replica has written the next snapshot; then restart this process",
	}
}
