//go:build unix

package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server that freezes, or is cut off, in the middle of a transaction keeps its
// locks until it continues, or until PostgreSQL ends its session. Other servers wait for
// them meanwhile, and may lose leases as short as those of a test. The test records these
// waits to explain such losses.
const (
	waitsEvery = 100 * time.Millisecond
	waitsMin   = "300 milliseconds" // shorter waits are normal
)

const sqlWaits = `
SELECT count(*), string_agg(DISTINCT l.locktype || CASE l.locktype WHEN 'advisory' THEN ' ' || (l.objid::bigint >> 16) ELSE '' END, ', ')
FROM pg_stat_activity a
JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
WHERE a.datname = $1 AND a.wait_event_type = 'Lock' AND a.query_start < clock_timestamp() - $2::interval`

// watchWaits notes when servers wait for locks, until the test ends. It connects
// directly, not through the proxy of a server.
func (f *testCluster) watchWaits() {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	f.Cleanup(func() {
		stop()
		<-over
	})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			f.watchOn(ctx)
			time.Sleep(waitsEvery) // the database is away
		}
	}()
}

// watchOn looks over one connection, until that breaks.
func (f *testCluster) watchOn(ctx context.Context) {
	conn, err := pgconn.Connect(ctx, f.cluster.SocketURL("postgres"))
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var wait *fault
	defer func() {
		if wait != nil {
			f.faults.end(wait)
		}
	}()
	for tick := time.NewTicker(waitsEvery); ; {
		result := conn.ExecParams(ctx, sqlWaits, [][]byte{[]byte(f.database), []byte(waitsMin)}, nil, nil, nil).Read()
		if result.Err != nil || len(result.Rows) != 1 {
			return
		}
		waiting := string(result.Rows[0][0]) != "0"
		switch {
		case waiting && wait == nil:
			wait = f.faults.begin(heldLocks, nil)
			wait.more = string(result.Rows[0][1])
		case !waiting && wait != nil:
			f.faults.end(wait)
			wait = nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// heldLocks is no fault of its own: it is what one of another server does to all.
const heldLocks = "locks held"
