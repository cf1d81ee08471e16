package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/transfer"
)

// TransferTarget is a table that rows are copied into. They are written into a file in a temporary directory. Prepare
// writes that as a snapshot, and Finish has the log of the table begin after it.
type TransferTarget struct {
	*sqlite.TransferTarget
	log      *commandLog
	dir      string
	path     string
	snapshot *snapshot // nil: it is not written
	stopLead func()
}

var _ transfer.Target = (*TransferTarget)(nil)

// OpenTransferTarget opens a table to copy rows into it, and creates a table that does not exist. It refuses a table
// that holds a store.
func OpenTransferTarget(ctx context.Context, url string, config Config) (t *TransferTarget, err error) {
	t = &TransferTarget{stopLead: func() {}}
	if t.dir, err = os.MkdirTemp("", "rota-copy-*"); err != nil {
		return nil, errScratch("copy", err)
	}
	if err = t.open(ctx, url, config); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

func (t *TransferTarget) open(ctx context.Context, url string, config Config) error {
	options, err := ParseURL(url)
	if err != nil {
		return err
	}
	l := &commandLog{options: options, logger: config.Logger, self: rota.NewID(), id: rota.NewID().String()}
	l.lead.log = l
	t.log = l
	if l.table, err = connect(ctx, options); err != nil {
		return err
	}
	if err := l.table.open(ctx, true); err != nil {
		return err
	}
	m, err := l.readMeta(ctx)
	if err == nil && m.log != "" {
		err = l.errNotEmpty()
	}
	if err != nil {
		return err
	}
	t.path = filepath.Join(t.dir, ReplicaName)
	t.TransferTarget, err = sqlite.OpenTransferTarget(t.path, sqlite.TransferConfig{})
	return err
}

func (l *commandLog) errNotEmpty() error {
	return &rota.Error{
		Code: rota.Conflict, Act: "dynamodb: copy", Reason: fmt.Sprintf("the table %s holds a store already", l.table.name),
		Hint: "name a table without a store; one that does not exist is created",
	}
}

// Name returns the URL of the table.
func (t *TransferTarget) Name() string { return t.log.table.url(t.log.options) }

// firstSlot is the slot that the snapshot of a copy has applied. No item is at it.
const firstSlot = 1

// Prepare writes the rows into the table. No process uses them until Finish.
func (t *TransferTarget) Prepare(ctx context.Context) error {
	if err := t.TransferTarget.Finish(ctx); err != nil {
		return err
	}
	err := t.TransferTarget.Close()
	t.TransferTarget = nil
	if err != nil {
		return err
	}
	now, err := t.log.serviceTime(ctx)
	if err != nil {
		return err
	}
	if err := sqlite.MakeReplica(ctx, t.path, rota.LogPosition{Log: t.log.id, Index: firstSlot, Now: now}); err != nil {
		return err
	}
	if err := t.lead(ctx); err != nil {
		return err
	}
	s := &snapshot{name: rota.NewID().String(), log: t.log.id, index: firstSlot}
	if err := t.log.upload(ctx, s, t.path); err != nil {
		return err
	}
	t.snapshot = s
	return nil
}

// lead takes the lease that the parts of a snapshot need.
func (t *TransferTarget) lead(ctx context.Context) error {
	work, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { t.log.lead.run(work) })
	t.stopLead = func() { stop(); running.Wait() }
	for deadline := time.Now().Add(leadLease + 2*leadEvery); !t.log.lead.leads(); {
		if time.Now().After(deadline) {
			return rota.Errorf(rota.Busy, "dynamodb: copy", "another process uses the table %s", t.log.table.name)
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// Finish has the log begin after the snapshot. From then on processes can open the store.
func (t *TransferTarget) Finish(ctx context.Context) error {
	if t.snapshot == nil {
		return rota.Errorf(rota.Internal, "dynamodb: copy", "the rows were not written into the table")
	}
	l := t.log
	i := metaKey()
	i[attrLog], i[attrBegin], i[attrSnapshot] = stringValue(l.id), numberValue(firstSlot+1), stringValue(t.snapshot.name)
	i[attrLogin], i[attrVersion] = stringValue(rand.Text()), numberValue(layoutVersion)
	taken := false
	err := l.table.call(ctx, "write meta", func(ctx context.Context) error {
		_, err := l.table.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &l.table.name, Item: i, ConditionExpression: aws.String(isNew)})
		if taken = isConditionFailed(err); taken {
			return nil
		}
		return err
	})
	if err != nil || !taken {
		return err
	}
	if m, err := l.readMeta(ctx); err != nil || m.log == l.id { // the answer to an earlier attempt was lost
		return err
	}
	return l.errNotEmpty()
}

// Close removes the file.
func (t *TransferTarget) Close() (err error) {
	t.stopLead()
	if t.TransferTarget != nil {
		err = t.TransferTarget.Close()
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}
