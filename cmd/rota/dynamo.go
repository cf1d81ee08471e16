package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/rotajobs/rota/store/dynamo"
)

func isDynamo(url string) bool { return strings.HasPrefix(url, dynamo.Scheme+":") }

// dynamoReader is a store with a replica in a temporary directory: the data directories belong to running servers.
type dynamoReader struct {
	*dynamo.Store
	dir string
}

// openDynamo opens the store of a table for reading.
func openDynamo(ctx context.Context, url string) (*dynamoReader, error) {
	dir, err := os.MkdirTemp("", "rota-replica-*")
	if err != nil {
		return nil, err
	}
	store, err := dynamo.Open(ctx, url, dynamo.Config{Dir: dir, ReadOnly: true, Logger: discardLogger()})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &dynamoReader{store, dir}, nil
}

// Close closes the store and removes the replica.
func (r *dynamoReader) Close() error { return errors.Join(r.Store.Close(), os.RemoveAll(r.dir)) }
