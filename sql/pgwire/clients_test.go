package pgwire

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// 200 concurrent clients send queries with both protocols.
func TestManyConcurrentClients(t *testing.T) {
	s := newTestServer(t, func(c *Config) { c.LoginTime = time.Minute }) // 200 clients compute their proofs at once
	ctx := context.Background()
	var all sync.WaitGroup
	failed := make(chan error, 200)
	for n := range 200 {
		all.Go(func() {
			if err := runClient(ctx, s, n); err != nil {
				failed <- fmt.Errorf("client %d: %w", n, err)
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if got := strings.Count(s.store.String(), "!"); got != 200*5 {
		t.Errorf("%d of 1,000 were written", got)
	}
}

func runClient(ctx context.Context, s *testServer, n int) error {
	conn, err := pgx.Connect(ctx, s.url(""))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for i := range 5 {
		if _, err := conn.Exec(ctx, fmt.Sprintf("write %d/%d", n, i)); err != nil {
			return err
		}
		var text string
		if err := conn.QueryRow(ctx, "echo $1", fmt.Sprint(n)).Scan(&text); err != nil || text != fmt.Sprint("string ", n) {
			return fmt.Errorf("echo answered %q, %w", text, err)
		}
	}
	rows, err := conn.Query(ctx, "rows 100")
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil || len(list) != 100 {
		return fmt.Errorf("%d rows, %w", len(list), err)
	}
	return nil
}
