package drivertest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// clientCount is the number of concurrent clients.
const clientCount = 200

// Many clients are connected at the same time, and each of them reads and writes. The
// server releases all their resources.
func TestManyConcurrentClients(t *testing.T) {
	s := startWithHistory(t)
	s.exec(t, "SELECT 1")
	before := runtime.NumGoroutine()
	conns := make([]*pgx.Conn, clientCount)
	forEachClient(t, func(i int) (err error) {
		conns[i], err = pgx.Connect(t.Context(), s.url())
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	forEachClient(t, func(i int) error { return runClient(t.Context(), conns[i], fmt.Sprintf("client_%d", i)) })
	forEachClient(t, func(i int) error { return conns[i].Close(context.Background()) })
	if n := countOf(t, s.connect(t), "client%"); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	for end := time.Now().Add(clientTimeout); runtime.NumGoroutine() > before+20; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("there were %d goroutines, and are %d", before, runtime.NumGoroutine())
		}
	}
}

// forEachClient calls a function for each client concurrently.
func forEachClient(t *testing.T, do func(i int) error) {
	t.Helper()
	var all sync.WaitGroup
	for i := range clientCount {
		all.Go(func() {
			if err := do(i); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func runClient(ctx context.Context, conn *pgx.Conn, name string) error {
	if _, err := conn.Exec(ctx, "CREATE JOB "+name+everyHour); err != nil {
		return err
	}
	var found string
	if err := conn.QueryRow(ctx, "SELECT job_name FROM sys.jobs WHERE job_name = $1", name).Scan(&found); err != nil || found != name {
		return fmt.Errorf("it found %q, %w", found, err)
	}
	_, err := conn.Exec(ctx, "DROP JOB "+name)
	return err
}
