//go:build unix

package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server that is frozen or partitioned in the middle of a transaction keeps its locks
// until it continues, or until PostgreSQL ends its session. Other servers wait for the
// locks meanwhile, and may lose leases as short as those of a test. The test records
// these waits to explain such losses.
const (
	lockWaitInterval = 100 * time.Millisecond
	lockWaitMin      = "300 milliseconds" // shorter waits are normal
)

const sqlLockWaits = `
SELECT count(*), string_agg(DISTINCT l.locktype || CASE l.locktype WHEN 'advisory' THEN ' ' || (l.objid::bigint >> 16) ELSE '' END, ', ')
FROM pg_stat_activity a
JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
WHERE a.datname = $1 AND a.wait_event_type = 'Lock' AND a.query_start < clock_timestamp() - $2::interval`

// recordLockWaits records when servers wait for locks, until the test ends. It connects
// directly, not through the proxy of a server.
func (f *testCluster) recordLockWaits() {
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	f.Cleanup(func() {
		stop()
		<-stopped
	})
	go func() {
		defer close(stopped)
		for ctx.Err() == nil {
			f.recordLockWaitsOn(ctx)
			time.Sleep(lockWaitInterval) // the database is down
		}
	}()
}

// recordLockWaitsOn queries lock waits on one connection until the connection breaks.
func (f *testCluster) recordLockWaitsOn(ctx context.Context) {
	conn, err := pgconn.Connect(ctx, f.postgres().cluster.SocketURL("postgres"))
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var record *faultRecord
	defer func() {
		if record != nil {
			f.faults.end(record)
		}
	}()
	for tick := time.NewTicker(lockWaitInterval); ; {
		result := conn.ExecParams(ctx, sqlLockWaits, [][]byte{[]byte(f.postgres().database), []byte(lockWaitMin)}, nil, nil, nil).Read()
		if result.Err != nil || len(result.Rows) != 1 {
			return
		}
		waiting := string(result.Rows[0][0]) != "0"
		switch {
		case waiting && record == nil:
			record = f.faults.begin(faultLockWait, nil)
			record.detail = string(result.Rows[0][1])
		case !waiting && record != nil:
			f.faults.end(record)
			record = nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// faultLockWait is the effect of a fault of one server on the others.
const faultLockWait = "lock wait"
