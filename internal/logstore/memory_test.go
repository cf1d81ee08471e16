package logstore_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

// memoryLog is a log in memory that some processes share.
type memoryLog struct {
	mu      sync.Mutex
	entries []memoryEntry
	nodes   []*node
}

type memoryEntry struct {
	now  time.Time
	body []byte
	by   *node
}

// node is a process: a store over the log with a replica of its own.
type node struct {
	*logstore.Store
	log     *memoryLog
	replica *sqlite.Replica
	path    string

	rival func() // appends an entry before the next one of this process; nil: none

	mu sync.Mutex // held while entries are applied
}

func openNode(t testing.TB, log *memoryLog, path string, config sqlite.Config) *node {
	t.Helper()
	n := &node{log: log, path: path}
	config.CatchUp = logstore.CatchUp(n.CatchUp)
	replica, err := sqlite.OpenReplica(path, config)
	if err != nil {
		t.Fatal(err)
	}
	n.replica, n.Store = replica, logstore.New(replica, n)
	log.mu.Lock()
	log.nodes = append(log.nodes, n)
	log.mu.Unlock()
	t.Cleanup(func() { _ = n.Store.Close() })
	return n
}

func openNodes(t testing.TB, count int) []*node {
	t.Helper()
	log := &memoryLog{}
	var nodes []*node
	for range count {
		nodes = append(nodes, openNode(t, log, filepath.Join(sqlitetest.MemoryDir(t), "replica.db"), sqlite.Config{}))
	}
	return nodes
}

func (n *node) CheckLease(time.Duration) error { return nil }

func (n *node) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (n *node) Commit(ctx context.Context, e logstore.Entry) ([]rota.Result, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.rival != nil && e.Unchanged != nil {
		n.rival()
		n.rival = nil
		if _, err := n.applyUpTo(ctx, uint64(n.length())); err != nil {
			return nil, err
		}
		if results, unchanged, err := e.Unchanged(ctx); err != nil || unchanged {
			return results, err
		}
	}
	body, err := logstore.AppendEntry(nil, &e)
	if err != nil {
		return nil, err
	}
	n.log.mu.Lock()
	n.log.entries = append(n.log.entries, memoryEntry{time.Now().UTC().Truncate(time.Microsecond), body, n})
	index := uint64(len(n.log.entries))
	n.log.mu.Unlock()
	return n.applyUpTo(ctx, index)
}

func (n *node) CatchUp(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log.mu.Lock()
	index := uint64(len(n.log.entries))
	n.log.mu.Unlock()
	_, err := n.applyUpTo(ctx, index)
	return err
}

// applyUpTo applies the next entries, and returns the results of the last one.
func (n *node) applyUpTo(ctx context.Context, index uint64) (results []rota.Result, err error) {
	for n.replica.Applied().Index < index {
		next := n.replica.Applied().Index + 1
		n.log.mu.Lock()
		e := n.log.entries[next-1]
		n.log.mu.Unlock()
		decoded, err := logstore.DecodeEntry(e.body)
		if err != nil {
			return nil, err
		}
		if results, err = n.ApplyEntry(ctx, rota.LogEntry{Log: "memory", Index: next}, e.now, &decoded, e.by == n); err != nil {
			return nil, err
		}
	}
	return results, nil
}
