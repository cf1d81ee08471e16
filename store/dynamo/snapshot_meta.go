package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
)

// Parts of a snapshot have no TTL from the beginning: a table that no process opens for a year must keep its last
// snapshot. Instead rota#meta names, in the same item as the last snapshot, the one that is being written and those whose
// parts are to get a TTL. One conditional update moves a name from one state to the next:
//
//	                 startSnapshot           finishSnapshot
//	new name --------------------> writing ---------------> snapshot
//	                                  |  abandonSnapshot,      |  finishSnapshot of the next one
//	                                  |  discardSnapshot       |
//	                                  +-------> former <-------+
//
// A leader whose lease has ended can finish its snapshot as long as no other one has abandoned it: all parts are there.

// snapshotWork is the part of meta for leaders.
type snapshotWork struct {
	writing string   // name of the snapshot that a leader writes; empty: none
	former  []string // names of snapshots whose parts are to get a TTL
}

const (
	attrWriting = "writing"
	attrFormer  = "former"
)

// texts returns an attribute of type SS, or nil.
func (i item) texts(name string) []string {
	if set, is := i[name].(*types.AttributeValueMemberSS); is {
		return set.Value
	}
	return nil
}

func textsValue(texts ...string) types.AttributeValue {
	return &types.AttributeValueMemberSS{Value: texts}
}

// errOtherLeader is the error of a leader that has lost its work to another one.
var errOtherLeader = &rota.Error{Code: rota.Conflict, Act: "dynamodb: write snapshot", Reason: "another process writes one"}

// startSnapshot notes that a snapshot is being written, unless meta has changed or has another one.
func (l *commandLog) startSnapshot(ctx context.Context, m meta, name string) error {
	return l.updateMeta(ctx, "SET #writing = :name", "#log = :log AND attribute_not_exists(#writing) AND #begin = :begin",
		map[string]string{"#writing": attrWriting, "#begin": attrBegin},
		item{":name": stringValue(name), ":begin": numberValue(int64(m.begin))},
		func(now meta) bool { return now.writing == name })
}

// finishSnapshot has the log begin after a snapshot whose parts are complete. size is that of the log up to it.
func (l *commandLog) finishSnapshot(ctx context.Context, m meta, s *snapshot, size int64) error {
	expression := "SET #snapshot = :name, #begin = :begin, #size = :size REMOVE #writing"
	names := map[string]string{"#writing": attrWriting, "#snapshot": attrSnapshot, "#begin": attrBegin, "#size": attrSize}
	values := item{":name": stringValue(s.name), ":begin": numberValue(int64(s.index + 1)), ":size": numberValue(size)}
	if m.snapshot != "" {
		expression += " ADD #former :former"
		names["#former"], values[":former"] = attrFormer, textsValue(m.snapshot)
	}
	return l.updateMeta(ctx, expression, "#log = :log AND #writing = :name AND #begin < :begin", names, values,
		func(now meta) bool { return now.snapshot == s.name })
}

// abandonSnapshot notes that a snapshot will not be finished.
func (l *commandLog) abandonSnapshot(ctx context.Context, name string) error {
	return l.updateMeta(ctx, "REMOVE #writing ADD #former :former", "#log = :log AND #writing = :name",
		map[string]string{"#writing": attrWriting, "#former": attrFormer},
		item{":name": stringValue(name), ":former": textsValue(name)},
		func(now meta) bool { return now.writing != name })
}

// discardSnapshot notes that this process will not finish a snapshot. It may have written parts after another leader
// had given a TTL to the first ones.
func (l *commandLog) discardSnapshot(ctx context.Context, name string) error {
	if err := l.abandonSnapshot(ctx, name); err != nil {
		return err
	}
	return l.updateMeta(ctx, "ADD #former :former",
		"#log = :log AND (attribute_not_exists(#writing) OR #writing <> :name) AND (attribute_not_exists(#snapshot) OR #snapshot <> :name)",
		map[string]string{"#writing": attrWriting, "#snapshot": attrSnapshot, "#former": attrFormer},
		item{":name": stringValue(name), ":former": textsValue(name)},
		func(now meta) bool { return now.snapshot == name })
}

// forgetSnapshot notes that all parts of a former snapshot have a TTL.
func (l *commandLog) forgetSnapshot(ctx context.Context, name string) error {
	return l.updateMeta(ctx, "DELETE #former :former", "#log = :log",
		map[string]string{"#former": attrFormer}, item{":former": textsValue(name)},
		func(now meta) bool { return !slices.Contains(now.former, name) })
}

// updateMeta changes meta. If the condition does not hold, an earlier attempt may have succeeded, whose answer was lost:
// isDone tells by the meta that is there.
func (l *commandLog) updateMeta(ctx context.Context, expression, condition string, names map[string]string, values item, isDone func(meta) bool) error {
	names["#log"], values[":log"] = attrLog, stringValue(l.id)
	changed, err := l.table.update(ctx, "write meta", metaKey(), expression, condition, names, values)
	if err != nil || changed {
		return err
	}
	now, err := l.readMeta(ctx)
	if err == nil && (now.log != l.id || !isDone(now)) {
		err = errOtherLeader
	}
	return err
}
