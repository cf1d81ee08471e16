package dynamo

import (
	"context"
	"crypto/rand"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
)

// meta says which log the table has and where it begins.
type meta struct {
	log      string // identity of the log
	begin    uint64 // first slot that is kept
	snapshot string // name of the last snapshot; empty: none. It is at the slot before begin
	size     int64  // bytes of the bodies of the log, up to the slot before begin
	snapshotWork
	moved  string // mark of a store that was moved to another one; empty: it was not
	login  string // random secret for challenges of unknown users
	layout int64  // version of the layout of the items; a later one is refused
}

// The attributes of the item that holds meta.
const (
	attrLog      = "log"
	attrBegin    = "begin"
	attrSnapshot = "snapshot"
	attrLogin    = "login"
	attrVersion  = "version"
)

// layoutVersion is the version of the items of the table.
const layoutVersion = 1

func metaKey() item { return key("rota#meta", "-") }

func (l *commandLog) readMeta(ctx context.Context) (meta, error) {
	i, err := l.table.get(ctx, "read meta", metaKey())
	if err != nil || i == nil {
		return meta{}, err
	}
	m := meta{
		log: i.text(attrLog), begin: uint64(i.number(attrBegin)), snapshot: i.text(attrSnapshot),
		login: i.text(attrLogin), layout: i.number(attrVersion), size: i.number(attrSize), moved: i.text(attrMoved),
		snapshotWork: snapshotWork{writing: i.text(attrWriting), former: i.texts(attrFormer)},
	}
	switch {
	case m.layout > layoutVersion:
		return m, &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: open", Reason: "the table has the layout " + strconv.FormatInt(m.layout, 10) + ", and this program knows " + strconv.Itoa(layoutVersion),
			Hint: "upgrade this program",
		}
	case m.log == "" || m.begin == 0:
		return m, &rota.Error{
			Code: rota.Internal, Act: "dynamodb: open", Reason: "the item rota#meta cannot be read",
			Hint: "restore the table as it was before someone changed it",
		}
	}
	return m, nil
}

// openMeta reads meta, and writes it into a new table.
func (l *commandLog) openMeta(ctx context.Context) (meta, error) {
	m, err := l.readMeta(ctx)
	if err != nil || m.log != "" {
		return m, err
	}
	if l.readOnly {
		return m, noStore(l.table.name)
	}
	i := metaKey()
	i[attrLog], i[attrBegin] = stringValue(rota.NewID().String()), numberValue(1)
	i[attrLogin], i[attrVersion] = stringValue(rand.Text()), numberValue(layoutVersion)
	err = l.table.call(ctx, "write meta", func(ctx context.Context) error {
		_, err := l.table.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &l.table.name, Item: i, ConditionExpression: aws.String(isNew)})
		if isConditionFailed(err) {
			return nil // another process was first
		}
		return err
	})
	if err != nil {
		return m, err
	}
	return l.readMeta(ctx)
}

// beginCheck is the condition that the log does not begin after a slot.
func (l *commandLog) beginCheck(index uint64) *types.ConditionCheck {
	k := metaKey()
	return &types.ConditionCheck{
		TableName: &l.table.name, Key: k, ConditionExpression: aws.String("#begin <= :slot AND #log = :log"),
		ExpressionAttributeNames:  map[string]string{"#begin": attrBegin, "#log": attrLog},
		ExpressionAttributeValues: item{":slot": numberValue(int64(index)), ":log": stringValue(l.id)},
	}
}

// LoginSecret returns a random secret that all processes share.
func (s *Store) LoginSecret(ctx context.Context) (string, error) {
	m, err := s.log.readMeta(ctx)
	return m.login, err
}
