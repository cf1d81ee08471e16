package node

import (
	"context"
	"errors"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo"
)

func isDynamo(url string) bool { return strings.HasPrefix(url, dynamo.Scheme+":") }

// checkDynamo checks the table and the parameters of a URL.
func checkDynamo(url string) error {
	_, err := dynamo.ParseURL(url)
	var known *rota.Error
	if errors.As(err, &known) && known.Field != "" {
		return errors.New(strings.TrimPrefix(known.Field+" "+known.Reason, "store "))
	}
	return err
}

// openDynamo opens a store in a DynamoDB table, with its replica in the data directory. Its clock is that of the
// service, even if a test has set the clock of this process.
func (n *Node) openDynamo(ctx context.Context) (backend, error) {
	options, err := dynamo.ParseURL(n.config.Store)
	if err == nil {
		err = options.CheckLease(n.config.Lease)
	}
	if err != nil {
		return backend{}, err
	}
	n.renameWorker()
	store, err := dynamo.OpenWith(ctx, options, dynamo.Config{
		Dir: n.config.Data, Retention: *n.config.Retention, LogKeep: n.config.LogKeep, Logger: n.logger,
		AllowMoved: n.config.AllowMoved,
	})
	if err != nil {
		return backend{}, err
	}
	return backend{
		Store: store, backup: store.Backup, size: fileSize(n.path(dynamo.ReplicaName)), membership: store, skew: options.Skew, logs: store,
		layoutLag: store.LayoutLag,
	}, nil
}
